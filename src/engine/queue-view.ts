/**
 * One loop's view of its queue: the last content it saw, the writer it writes as, the clock it stamps with. A view
 * lives as long as its incarnation; the writer id is drawn with it and never used again.
 */
import type { TransitionTime } from '../core/draft.ts';
import { type Incarnation, type WriterId, writerIdBytes, writerIdFrom } from '../core/ids.ts';
import type { QueueLimits } from '../core/limits.ts';
import type { ManifestContent, QueueState } from '../core/queue-state.ts';
import type { ETag } from '../store/object-store.ts';
import { CollectionLag } from './collection-lag.ts';
import type { EngineContext } from './context.ts';
import { Crowd } from './crowd.ts';
import type { CrowdPace } from './linger.ts';
import { ManifestRegister, type ObservedQueue } from './manifest-register.ts';
import { MedianEstimate } from './median-estimate.ts';
import type { SwapResult } from './register.ts';
import { TailPace } from './tail-pace.ts';
import type { TimeAnchor } from './time-source.ts';
import { Turn } from './turn.ts';

export type RefreshResult =
  | { readonly kind: 'same' | 'changed' }
  /** The incarnation is over: this is what its name holds now. */
  | { readonly kind: 'ended'; readonly content: ManifestContent | undefined };

export class QueueView {
  readonly name: string;
  readonly incarnation: Incarnation;
  readonly writer: WriterId;
  readonly register: ManifestRegister;
  readonly context: EngineContext;
  readonly lag: CollectionLag;
  readonly crowd: Crowd;
  readonly #turn: Turn;
  readonly #tailPace = new TailPace();
  readonly #readMillis = new MedianEstimate();
  readonly #swapMillis = new MedianEstimate();
  readonly #anchor: TimeAnchor;
  #current: ObservedQueue;
  #attempts = 0;
  #reads = 0;

  constructor(context: EngineContext, name: string, observed: ObservedQueue) {
    this.context = context;
    this.name = name;
    this.incarnation = observed.state.incarnation;
    this.writer = writerIdFrom(context.environment.random.bytes(writerIdBytes));
    this.register = new ManifestRegister(context.environment, name);
    this.crowd = new Crowd(this.writer);
    const { store, clock } = context.environment;
    this.#turn = new Turn(store, clock, { name, incarnation: this.incarnation });
    this.lag = new CollectionLag(context.settings.timing.collectLagMillis);
    this.#current = observed;
    this.#anchor = {
      manifestMillis: observed.state.timeMillis,
      // Not when the read began: what it brought may have been written later, and time would be reachable twice.
      monotonicMillis: clock.monotonicMillis(),
    };
    this.#sample();
  }

  get current(): ObservedQueue {
    return this.#current;
  }

  /** How often the manifest was read. */
  get reads(): number {
    return this.#reads;
  }

  /** How long one read takes, about. */
  get readMillis(): number {
    return this.#readMillis.value;
  }

  /** A read and a swap, about: what the manifest tells others of this writer. */
  get roundMillis(): number {
    return Math.ceil(this.#readMillis.value + this.#swapMillis.value);
  }

  crowdPace(): CrowdPace {
    const { count, roundMillis } = this.crowd.others(this.context.environment.clock.monotonicMillis());
    return { others: count, roundMillis: Math.max(roundMillis, this.roundMillis) };
  }

  /** The present batch loses one swap after another. Not waited for. */
  askForTurn(): void {
    const { version } = this.#current.state;
    void this.#turn.ask({ id: this.writer, attempt: this.#attempts, version, roundMillis: this.roundMillis });
  }

  /** A commit of ours landed: sees to those who can't say so. Not waited for. */
  leaveTurns(): void {
    void this.#turn.landed().then((asking) => {
      if (asking) this.crowd.asked(asking, this.context.environment.clock.monotonicMillis());
    });
  }

  nextAttempt(): number {
    return ++this.#attempts;
  }

  time(): TransitionTime {
    return this.context.time.transitionTime(this.#current.state.timeMillis, this.#anchor);
  }

  /** At the present pace of commits. */
  get limits(): QueueLimits {
    const { settings, environment } = this.context;
    return this.#tailPace.bounded(settings.limits, environment.clock.monotonicMillis());
  }

  /** The version that `collectedBelow` may be raised to now. */
  collectBelow(): number {
    return this.lag.below(this.context.environment.clock.monotonicMillis());
  }

  /** An older state than the known one is a late answer: versions never fall within an incarnation. */
  adopt(state: QueueState, etag: ETag, observedFrom: number): void {
    if (state.version < this.#current.state.version) return;
    this.#current = { state, etag, observedFrom };
    this.#sample();
  }

  /** Offers the successor of the current content. @throws StoreError */
  async swap(next: ManifestContent): Promise<SwapResult> {
    const began = this.context.environment.clock.monotonicMillis();
    const result = await this.register.swap(this.#current.etag, next);
    if (result.kind !== 'unknown')
      this.#swapMillis.sampled(this.context.environment.clock.monotonicMillis() - began);
    return result;
  }

  /** Reads the manifest, by its tag when it is the one known. @throws StoreError, Unavailable */
  async refresh(): Promise<RefreshResult> {
    this.context.counters.refreshes++;
    this.#reads++;
    const knownTag = this.#current.etag;
    const began = this.context.environment.clock.monotonicMillis();
    const result = await this.register.read(knownTag, this.#current.state.tail);
    this.#readMillis.sampled(this.context.environment.clock.monotonicMillis() - began);
    if (result.kind === 'unchanged') {
      // Unless a commit landed meanwhile: its own time stands.
      if (this.#current.etag === knownTag)
        this.#current = { ...this.#current, observedFrom: result.observedFrom };
      return { kind: 'same' };
    }
    const content = result.kind === 'present' ? result.content : undefined;
    if (
      result.kind !== 'present' ||
      content?.kind !== 'queue' ||
      content.state.incarnation !== this.incarnation
    )
      return { kind: 'ended', content };
    this.adopt(content.state, result.etag, result.observedFrom);
    return { kind: 'changed' };
  }

  #sample(): void {
    const now = this.context.environment.clock.monotonicMillis();
    this.lag.sample(this.#current.state.version, now);
    this.#tailPace.sample(this.#current.state.version, now);
    this.crowd.observe(this.#current.state.writers, now);
  }
}
