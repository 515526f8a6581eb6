/**
 * Puts the small segments of a backlog together and rewrites sparse ones: copies what is live into one object, then
 * has the loop name it in their place (core/replace-segments.ts). What it replaced goes the way of everything dropped
 * (garbage.ts); what it uploaded in vain, the sweep finds.
 *
 * - Costs nothing where consumers keep up or nothing happens: looks, without any request, while this node's commits
 *   change segments and for a while after, and works only on segments that stood still between its looks.
 * - One at a time in the process, for the sake of memory. Several nodes may do the same work: only one swap takes effect. They seldom do,
 *   since each waits a little, by chance, and then reads the manifest before it copies.
 * - A segment that cannot be read is reported and left alone.
 */
import { chooseCompaction, isSparse, type Standing } from '../core/choose-compaction.ts';
import type { CompactedSegment } from '../core/command.ts';
import { type CompactionLayout, type LiveBody, layOut, liveBodies } from '../core/compaction-layout.ts';
import type { QueueState, SegmentId } from '../core/queue-state.ts';
import { withStampShifted } from '../core/stamps.ts';
import { encodedMessage } from '../format/message-codec.ts';
import { type DecodedSegment, encodeBodies } from '../format/segment-codec.ts';
import { StoreError } from '../store/object-store.ts';
import { afterwards } from './afterwards.ts';
import type { Landed } from './batch-commit.ts';
import type { CommitLoop } from './commit-loop.ts';
import type { EngineContext } from './context.ts';
import { whyNotLoaded } from './immutable-cache.ts';
import { logFailure } from './log-failure.ts';
import type { OneAtATime } from './one-at-a-time.ts';
import { uploadObject } from './upload-object.ts';

/** Delays after which a segment is still, and looks end when nothing changes. */
const stillFactor = 10;
const looksFactor = 2 * stillFactor;
/** Segments loaded at once: a run of many must not crowd out the loads of receives. */
const loadsAtOnce = 8;
/** Bytes were guessed by counts: a copy may come out so much larger. */
const oversizeFactor = 1.25;

/** For the log. Another node was quicker, or what was to be copied has ended. */
export const supersededCompaction = 'a compaction was superseded';

type Loaded = ReadonlyMap<SegmentId, DecodedSegment>;

export class Compactor {
  readonly #context: EngineContext;
  readonly #loop: CommitLoop;
  readonly #turns: OneAtATime;
  readonly #forgotten = new AbortController();
  readonly #stop: AbortSignal;
  /** Monotonic; since when a segment has that live count, as far as this node saw. */
  #standing: ReadonlyMap<SegmentId, { readonly liveCount: number; readonly since: number }> = new Map();
  /** Unreadable, or more than they seemed. */
  readonly #leftAlone = new Set<SegmentId>();
  #looking = false;
  #looksUntil = Number.NEGATIVE_INFINITY;
  #working = false;

  /** `turns`: of the process, which has memory for one. */
  constructor(context: EngineContext, loop: CommitLoop, turns: OneAtATime, stop: AbortSignal) {
    this.#context = context;
    this.#loop = loop;
    this.#turns = turns;
    this.#stop = AbortSignal.any([stop, this.#forgotten.signal]);
  }

  /** Looking now and then does not count. */
  get idle(): boolean {
    return !this.#working;
  }

  /** Its loop is forgotten. */
  end(): void {
    this.#forgotten.abort();
  }

  landed({ before, next }: Landed): void {
    if (next.kind !== 'queue' || next.state.segments === before.segments) return;
    if (next.state.segments.size === 0) return;
    this.#looksUntil = this.#now() + looksFactor * this.#delayMillis;
    if (this.#looking || this.#over) return;
    this.#looking = true;
    void afterwards(this.#look(), () => {
      this.#looking = false;
    });
  }

  get #delayMillis(): number {
    return this.#context.settings.timing.compactDelayMillis;
  }

  get #over(): boolean {
    return this.#stop.aborted || this.#loop.ended;
  }

  get #state(): QueueState {
    return this.#loop.view.current.state;
  }

  #now(): number {
    return this.#context.environment.clock.monotonicMillis();
  }

  async #look(): Promise<void> {
    const { clock, random } = this.#context.environment;
    this.#observe();
    while (this.#now() < this.#looksUntil) {
      await clock.sleep(this.#delayMillis, this.#stop);
      if (this.#over) return;
      this.#observe();
      if (!this.#choose()) continue;
      // Another node may see the same.
      await clock.sleep((this.#delayMillis * random.unit()) / 2, this.#stop);
      if (this.#over) return;
      await this.#work();
    }
  }

  /** Until nothing is left to do. */
  async #work(): Promise<void> {
    this.#working = true;
    try {
      while (!this.#over && (await this.#turns.run(() => this.#compact())));
    } catch (error) {
      // A later look tries again.
      const { log } = this.#context.environment;
      logFailure(log, 'segments were not compacted', error, { queue: this.#loop.name });
    } finally {
      this.#working = false;
    }
  }

  #observe(): void {
    const now = this.#now();
    const standing = new Map<SegmentId, { readonly liveCount: number; readonly since: number }>();
    for (const [id, { liveCount }] of this.#state.segments) {
      const known = this.#standing.get(id);
      standing.set(id, known?.liveCount === liveCount ? known : { liveCount, since: now });
    }
    this.#standing = standing;
    for (const id of this.#leftAlone) if (!standing.has(id)) this.#leftAlone.delete(id);
  }

  #choose(): readonly SegmentId[] | undefined {
    const now = this.#now();
    const standingOf = (id: SegmentId): Standing => {
      const since = this.#standing.get(id)?.since ?? now;
      if (this.#leftAlone.has(id) || now - since < this.#delayMillis) return 'moving';
      return now - since < stillFactor * this.#delayMillis ? 'settled' : 'still';
    };
    return chooseCompaction(this.#state, this.#context.settings.limits, standingOf);
  }

  /** Whether it did something and may go on. @throws StoreError, Unavailable */
  async #compact(): Promise<boolean> {
    if (this.#over) return false;
    const refreshed = await this.#loop.view.refresh();
    if (refreshed.kind === 'ended') {
      this.#loop.wantRead();
      return false;
    }
    this.#observe();
    const chosen = this.#choose();
    if (!chosen) return false;
    const state = this.#state;
    const loaded = await this.#load(state, chosen);
    if (!loaded) return true;
    const from = this.#fitting(state, chosen, loaded);
    if (from.size === 0) return true;
    const into = await this.#upload(state, from, layOut(state, from, liveIn(state, from, loaded)), loaded);
    if (this.#over) return false;
    const outcome = await this.#loop.submit({ kind: 'replace-segments', from: [...from], into });
    if (outcome.kind === 'superseded')
      this.#context.environment.log.debug(supersededCompaction, { queue: this.#loop.name });
    if (outcome.kind !== 'done') return false;
    this.#context.counters.compactions++;
    return true;
  }

  /** Undefined: some can't be read; those that are still named are left alone from now on. @throws StoreError for what may pass. */
  async #load(state: QueueState, ids: readonly SegmentId[]): Promise<Loaded | undefined> {
    const { bodies } = this.#context;
    const { name } = this.#loop;
    const { incarnation } = state;
    const loaded = new Map<SegmentId, DecodedSegment>();
    const unreadable = new Map<SegmentId, string>();
    for (let next = 0; next < ids.length; next += loadsAtOnce) {
      const some = ids.slice(next, next + loadsAtOnce);
      const results = await Promise.all(
        some.map((id) => {
          const { baseVersion, nonce } = state.segments.get(id)!;
          return bodies.load({ name, incarnation, kind: 'seg', baseVersion, nonce }, false);
        }),
      );
      for (const [index, result] of results.entries()) {
        const segment = some[index]!;
        if (result.kind === 'loaded') loaded.set(segment, result.value);
        else if (result.kind === 'failed') throw new StoreError(result.reason, { retryable: true });
        else unreadable.set(segment, whyNotLoaded(result));
      }
    }
    if (unreadable.size === 0) return loaded;
    // What another node has dropped since may rightly be gone: only a manifest read after says that it is missed.
    if ((await this.#loop.view.refresh()).kind === 'ended') return undefined;
    for (const [segment, reason] of unreadable)
      if (this.#state.segments.has(segment)) this.#leaveAlone(segment, reason);
    return undefined;
  }

  #leaveAlone(segment: SegmentId, reason: string): void {
    this.#leftAlone.add(segment);
    this.#context.environment.log.error('a segment cannot be read; it is not compacted', {
      queue: this.#loop.name,
      incarnation: this.#loop.view.incarnation,
      segment,
      reason,
    });
  }

  /** As many of them as go into one object after all. Empty: these are left alone. */
  #fitting(state: QueueState, chosen: readonly SegmentId[], loaded: Loaded): ReadonlySet<SegmentId> {
    const { compactedBytesMax } = this.#context.settings.limits;
    const from = new Set<SegmentId>();
    let bytes = 0;
    for (const id of chosen) {
      let ownBytes = 0;
      for (const live of liveIn(state, [id], loaded)) {
        const body = bodyOf(loaded.get(id)!, live);
        if (!body) {
          this.#leaveAlone(id, `message ${live.ordinal} is missing or damaged`);
          return new Set();
        }
        ownBytes += body.length;
      }
      if (from.size > 0 && bytes + ownBytes > oversizeFactor * compactedBytesMax) break;
      bytes += ownBytes;
      from.add(id);
    }
    const [first] = from;
    if (from.size > 1 || isSparse(state.segments.get(first!)!)) return from;
    this.#leftAlone.add(first!);
    return new Set();
  }

  async #upload(
    state: QueueState,
    from: ReadonlySet<SegmentId>,
    { slots, bodyCount, runs }: CompactionLayout,
    loaded: Loaded,
  ): Promise<CompactedSegment> {
    const { name } = this.#loop;
    const { incarnation, version: baseVersion } = state;
    const body = encodeBodies(
      incarnation,
      slots.map((slot) => slot && bodyOf(loaded.get(slot.segment)!, slot)),
    );
    const parts = { name, incarnation, kind: 'seg', baseVersion } as const;
    const { nonce } = await uploadObject(this.#context.environment, parts, body);
    const sentAtMaxMillis = Math.max(...[...from].map((id) => state.segments.get(id)!.sentAtMaxMillis));
    return { baseVersion, nonce, bytes: body.length, sentAtMaxMillis, bodyCount, runs };
  }
}

/**
 * Without those that only a page that was not read could tell of, and an earlier compaction has left out as dead: the
 * hull of a page that was written since may reach over their numbers.
 */
function liveIn(state: QueueState, from: Iterable<SegmentId>, loaded: Loaded): LiveBody[] {
  return liveBodies(state, from).filter(({ segment, ordinal }) => !loaded.get(segment)!.isEmpty(ordinal));
}

/** With the stamp that counts, so that runs of one object need no shifts. */
function bodyOf(segment: DecodedSegment, { ordinal, sentAtShiftMillis }: LiveBody): Uint8Array | undefined {
  if (sentAtShiftMillis === 0) return segment.encoded(ordinal);
  const message = segment.message(ordinal);
  return message && encodedMessage(withStampShifted(message, sentAtShiftMillis));
}
