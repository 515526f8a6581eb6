/**
 * What one batch has loaded and uploaded so far: bodies, targets and sources of moves, prepared segments. Serves the
 * transition, and fetches what it says it needs.
 */
import { hexFromBytes, type Incarnation } from '../core/ids.ts';
import type { SegmentId } from '../core/queue-state.ts';
import { segmentIdOf } from '../core/queue-state.ts';
import { pendingNumbers } from '../core/redrive.ts';
import type {
  MoveSourceView,
  MoveTarget,
  Needs,
  PreparedSegment,
  Resources,
  SpillMessage,
} from '../core/resources.ts';
import { objectKey, objectNonceBytes } from '../format/object-keys.ts';
import type { DecodedSegment } from '../format/segment-codec.ts';
import { encodeSegment } from '../format/segment-codec.ts';
import { StoreError } from '../store/object-store.ts';
import { ManifestRegister } from './manifest-register.ts';
import type { QueueView } from './queue-view.ts';

export class BatchResources implements Resources {
  readonly prepared: PreparedSegment[] = [];
  readonly #view: QueueView;
  readonly #segments = new Map<SegmentId, DecodedSegment | 'unreadable'>();
  readonly #targets = new Map<string, MoveTarget>();
  /** Read after `#sourcesVersion` was observed; void for any later state †. */
  readonly #sources = new Map<Incarnation, MoveSourceView>();
  #sourcesVersion = 0;

  constructor(view: QueueView) {
    this.#view = view;
  }

  readonly body: Resources['body'] = (segment, ordinal) => {
    const loaded =
      this.#segments.get(segment) ?? this.#view.context.bodies.get(this.#view.incarnation, segment);
    if (!loaded) return 'needed';
    return loaded === 'unreadable' ? 'unreadable' : (loaded.message(ordinal) ?? 'unreadable');
  };

  readonly target: Resources['target'] = (queueName) => this.#targets.get(queueName);

  readonly source: Resources['source'] = (incarnation) =>
    this.#sourcesVersion === this.#view.current.state.version ? this.#sources.get(incarnation) : undefined;

  /**
   * `stale`: a segment is gone that this view's state names, so the view must be refreshed first.
   * @throws StoreError, Unavailable
   */
  async fetch(needs: Needs): Promise<'ready' | 'stale'> {
    const [segments] = await Promise.all([
      this.#loadSegments(needs.segments),
      this.#readTargets(needs.targets),
      this.#readSources(needs.sources),
      ...needs.spills.map((messages) => this.#upload(messages)),
    ]);
    return segments;
  }

  async #loadSegments(ids: ReadonlySet<SegmentId>): Promise<'ready' | 'stale'> {
    const { context, current, name, incarnation } = this.#view;
    const results = await Promise.all(
      [...ids].map(async (id) => {
        const reference = current.state.segments.get(id);
        if (!reference) throw new Error(`segment ${id} is needed but not named`);
        return { id, result: await context.bodies.load({ queueName: name, incarnation, reference }, id) };
      }),
    );
    const missing = results.filter(({ result }) => result.kind === 'missing');
    if (missing.length > 0 && (await this.#hasMovedOn(missing.map(({ id }) => id)))) return 'stale';
    for (const { id, result } of results) {
      if (result.kind === 'loaded') {
        this.#segments.set(id, result.segment);
        continue;
      }
      this.#segments.set(id, 'unreadable');
      const reason = result.kind === 'missing' ? 'the store has no such object' : result.reason;
      const level = result.kind === 'failed' ? 'warn' : 'error';
      context.counters.unreadableBodies++;
      context.environment.log[level]('a segment cannot be read; its messages are passed over, not dropped', {
        queue: name,
        incarnation,
        segment: id,
        reason,
      });
    }
    return 'ready';
  }

  /**
   * A 404 is corruption only when a manifest read after it still names the object: a stale view may name what the
   * collector has rightly deleted since.
   */
  async #hasMovedOn(missing: readonly SegmentId[]): Promise<boolean> {
    const before = this.#view.current.state;
    const result = await this.#view.refresh();
    if (result.kind === 'ended') return true;
    const now = this.#view.current.state;
    return before !== now && missing.some((id) => !now.segments.has(id));
  }

  async #readTargets(names: ReadonlySet<string>): Promise<void> {
    await Promise.all(
      [...names].map(async (name) => {
        const observed = await new ManifestRegister(this.#view.context.environment, name).readQueue();
        const target: MoveTarget = observed
          ? { kind: 'present', incarnation: observed.state.incarnation }
          : { kind: 'missing' };
        this.#targets.set(name, target);
      }),
    );
  }

  async #readSources(names: ReadonlyMap<Incarnation, string>): Promise<void> {
    if (names.size === 0) return;
    const { version } = this.#view.current.state;
    if (this.#sourcesVersion !== version) this.#sources.clear();
    this.#sourcesVersion = version;
    await Promise.all(
      [...names].map(async ([incarnation, name]) => {
        const observed = await new ManifestRegister(this.#view.context.environment, name).readQueue();
        const view: MoveSourceView =
          observed?.state.incarnation === incarnation
            ? { kind: 'present', pending: pendingNumbers(observed.state.intents, this.#view.incarnation) }
            : { kind: 'gone' };
        this.#sources.set(incarnation, view);
      }),
    );
  }

  async #upload(messages: readonly SpillMessage[]): Promise<void> {
    const { context, current, name, incarnation } = this.#view;
    const baseVersion = current.state.version;
    const nonce = hexFromBytes(context.environment.random.bytes(objectNonceBytes));
    const bytes = encodeSegment(
      incarnation,
      messages.map((entry) => entry.message),
    );
    const key = objectKey({ name, incarnation, kind: 'seg', baseVersion, nonce });
    const outcome = await context.environment.store.put(key, bytes);
    if (outcome.kind === 'unknown')
      throw new StoreError(`upload of a segment: ${outcome.reason}`, {
        retryable: true,
        throttled: outcome.throttled,
      });
    context.counters.spilledSegments++;
    const id = segmentIdOf({ baseVersion, nonce });
    this.prepared.push({ id, baseVersion, nonce, bytes: bytes.length, messages });
  }
}
