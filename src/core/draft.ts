/**
 * A state under change: the mutable scratch that one transition works on and `seal` freezes into the next state.
 * Copies a collection only when it is first changed. The leaves (send.ts, receive.ts, …) decide; the draft keeps the
 * books: a message that ends leaves its place, its body and its segment's live count together.
 */
import type { MovedMessage, NewMessage } from './command.ts';
import { Copied } from './copied.ts';
import { dueOf, duePages } from './delayed-pages.ts';
import { Deliveries } from './deliveries.ts';
import { FairnessUnderChange } from './fairness.ts';
import type { DeduplicationKey, DeliveryToken } from './ids.ts';
import { type QueueLimits, queueLimits } from './limits.ts';
import type { StoredMessage } from './message.ts';
import type { MoveTask } from './move-task.ts';
import type { FoundDelivery } from './open-lease-page.ts';
import { PageReader } from './pages.ts';
import { type ResolvedAttributes, resolveAttributes } from './queue-attributes.ts';
import type {
  DeduplicationEntry,
  DeduplicationPageReference,
  DelayedPageReference,
  Intent,
  Link,
  PageId,
  QueueState,
  ReadyPageReference,
  Run,
  SegmentId,
  SegmentReference,
  SegmentsPageReference,
  TailMessage,
} from './queue-state.ts';
import { addAll, addRange, has, type RangeSet, removeAll, removeRange } from './range-set.ts';
import { adoptRunIndex, locate, type RunIndex, runIndexOf } from './run-index.ts';
import { inOrder, isTurnOfOldest, type Visible } from './visible.ts';

export interface TransitionTime {
  /** The deciding clock for visibility and delay: the node's best estimate of the store's time. */
  readonly nowMillis: number;
  /** Upper bound of the store's time: stamps the start of a life. */
  readonly stampMillis: number;
  /** The next manifest time (core/time.ts): what destroys compares with it. */
  readonly manifestMillis: number;
}

export class Draft {
  readonly base: QueueState;
  readonly time: TransitionTime;
  readonly limits: QueueLimits;
  readonly delayed: Copied<number, number>;
  readonly delayedPages: Copied<PageId, DelayedPageReference>;
  readonly readyPages: Copied<PageId, ReadyPageReference>;
  readonly deliveries: Deliveries;
  readonly tail: Copied<number, TailMessage>;
  readonly segments: Copied<SegmentId, SegmentReference>;
  readonly segmentsPages: Copied<PageId, SegmentsPageReference>;
  readonly intents: Copied<number, Intent>;
  readonly deduplication: Copied<DeduplicationKey, DeduplicationEntry>;
  readonly deduplicationPages: Copied<PageId, DeduplicationPageReference>;
  readonly outgoingLinks: Copied<QueueState['incarnation'], Link>;
  readonly incomingLinks: Copied<QueueState['incarnation'], Link>;
  readonly fairness: FairnessUnderChange;
  /** Which batch entry a tail message of this transition came from. */
  readonly origins = new Map<number, NewMessage | MovedMessage>();
  attributes: QueueState['attributes'];
  tags: QueueState['tags'];
  modifiedAtMillis: number;
  nextSequence: number;
  purgeWatermark: number;
  purgedAtMillis: number;
  moveTasks: readonly MoveTask[];
  ready: RangeSet;
  resolved: ResolvedAttributes;
  /** Retention has ended messages of the base (retention.ts). */
  retentionEnded = false;
  readonly #pages: PageReader;
  readonly #seed: bigint;
  #tokens = 0n;
  #runIndex: RunIndex;
  /** Of segments that came back from pages. */
  readonly #indexesBroughtBack: RunIndex[] = [];
  readonly #added = new Set<SegmentId>();
  #runsChanged = false;

  /** `tokenSeed`: 8 random bytes of this attempt; each delivery's token is drawn from it (never of another attempt's). */
  constructor(
    base: QueueState,
    time: TransitionTime,
    tokenSeed: Uint8Array,
    limits = queueLimits,
    pages = new PageReader(() => 'unreadable'),
  ) {
    this.base = base;
    this.time = time;
    this.limits = limits;
    this.delayed = new Copied(base.delayed);
    this.delayedPages = new Copied(base.delayedPages);
    this.readyPages = new Copied(base.readyPages);
    this.#pages = pages;
    this.deliveries = new Deliveries(base, pages);
    this.tail = new Copied(base.tail);
    this.segments = new Copied(base.segments);
    this.segmentsPages = new Copied(base.segmentsPages);
    this.intents = new Copied(base.intents);
    this.deduplication = new Copied(base.deduplication);
    this.deduplicationPages = new Copied(base.deduplicationPages);
    this.outgoingLinks = new Copied(base.outgoingLinks);
    this.incomingLinks = new Copied(base.incomingLinks);
    this.fairness = new FairnessUnderChange(base.fairness, time.nowMillis, limits);
    this.attributes = base.attributes;
    this.tags = base.tags;
    this.modifiedAtMillis = base.modifiedAtMillis;
    this.nextSequence = base.nextSequence;
    this.purgeWatermark = base.purgeWatermark;
    this.purgedAtMillis = base.purgedAtMillis;
    this.moveTasks = base.moveTasks;
    this.ready = base.ready;
    this.resolved = resolveAttributes(base.attributes);
    this.#seed = new DataView(tokenSeed.buffer, tokenSeed.byteOffset, 8).getBigUint64(0);
    this.#runIndex = runIndexOf(base.segments);
  }

  get nextVersion(): number {
    return this.base.version + 1;
  }

  /** Distinct within the transition, and across transitions by their seeds. */
  drawToken(): DeliveryToken {
    const value = BigInt.asUintN(64, this.#seed + this.#tokens++);
    return value.toString(16).padStart(16, '0') as DeliveryToken;
  }

  setAttributes(attributes: QueueState['attributes']): void {
    this.attributes = attributes;
    this.resolved = resolveAttributes(attributes);
  }

  /** A new message's body goes to the tail; seal and spill.ts move it on. */
  append(sequence: number, message: StoredMessage, bytes: number, origin: NewMessage | MovedMessage): void {
    this.tail.set(sequence, { message, bytes });
    this.origins.set(sequence, origin);
  }

  makeReady(start: number, end: number): void {
    this.ready = addRange(this.ready, start, end);
  }

  giveBackToReady(sequences: Iterable<number>): void {
    this.ready = addAll(this.ready, sequences);
  }

  takeFromReady(sequences: Iterable<number>): void {
    this.ready = removeAll(this.ready, sequences);
  }

  locate(
    sequence: number,
  ): { readonly segment: SegmentId; readonly ordinal: number; readonly run: Run } | undefined {
    const place = locate(this.#runIndex, sequence);
    if (place) return place;
    for (const index of this.#indexesBroughtBack) {
      const found = locate(index, sequence);
      if (found) return found;
    }
    return undefined;
  }

  /** `leaseVersion`: of the delivery that is asked for. `unknown`: it may be in a page that was not read. */
  findDelivery(sequence: number, leaseVersion: number): FoundDelivery | 'absent' | 'unknown' {
    if (!this.deliveries.hasPages || this.deliveries.inline.current.has(sequence))
      return this.deliveries.find(sequence);
    // A message has one place, and those in pages have their bodies in segments: most pages need not be read.
    const elsewhere =
      this.tail.current.has(sequence) ||
      has(this.ready, sequence) ||
      this.delayed.current.has(sequence) ||
      this.intents.current.has(sequence);
    const place = elsewhere ? undefined : this.locate(sequence);
    if (!place || !this.segments.current.has(place.segment)) return 'absent';
    return this.deliveries.find(sequence, leaseVersion);
  }

  /** Ends a message that the caller has already taken out of ready, delayed, deliveries or intents. */
  endBody(sequence: number): void {
    if (this.tail.delete(sequence)) return;
    const place = this.locate(sequence);
    const reference = place && this.segments.current.get(place.segment);
    if (!place || !reference) throw new Error(`no body for sequence ${sequence}`);
    if (reference.liveCount === 1) this.segments.delete(place.segment);
    else this.segments.set(place.segment, { ...reference, liveCount: reference.liveCount - 1 });
  }

  addSegment(id: SegmentId, reference: SegmentReference): void {
    this.segments.set(id, reference);
    this.#added.add(id);
    this.#runsChanged = true;
  }

  /** Whether no manifest has named it before. */
  isNew(id: SegmentId): boolean {
    return this.#added.has(id);
  }

  /** Segments that a page held are in the manifest again. */
  bringBack(segments: ReadonlyMap<SegmentId, SegmentReference>): void {
    for (const [id, reference] of segments) this.segments.set(id, reference);
    this.#indexesBroughtBack.push(runIndexOf(segments));
    this.#runsChanged = true;
  }

  /** Segments that a page holds from now on; call when nothing is located any more. */
  moveOut(segments: Iterable<SegmentId>): void {
    for (const id of segments) this.segments.delete(id);
    this.#runsChanged = true;
  }

  /** Drops a whole reference with every message in it, but for those under an intent. */
  endSegment(id: SegmentId, reference: SegmentReference): void {
    let kept = 0;
    for (const run of reference.runs) {
      const end = run.firstSequence + run.count;
      this.ready = removeRange(this.ready, run.firstSequence, end);
      this.deliveries.endWithin(run.firstSequence, end);
      for (let sequence = run.firstSequence; sequence < end; sequence++) {
        this.delayed.delete(sequence);
        if (this.intents.current.has(sequence)) kept++;
      }
    }
    if (kept === 0) this.segments.delete(id);
    else if (kept !== reference.liveCount) this.segments.set(id, { ...reference, liveCount: kept });
  }

  /**
   * Visible now. Redeliveries and due delays, the longest visible first, take turns with the never received, the oldest
   * first: messages that are given back again and again can't keep the others from anybody, nor the other way round. Who
   * begins changes from commit to commit, or a consumer of one message at a time would get the same one for ever.
   * Delayed pages come back when the walk gets to where their messages may be. `end`: only messages below, as in `ready`.
   */
  *visible(
    ready: {
      next(): number | undefined;
      /** Due, and in its turn as if it had never been delayed. */
      claims?(sequence: number): boolean;
    },
    end = Number.POSITIVE_INFINITY,
  ): Generator<Visible, void, undefined> {
    const { nowMillis } = this.time;
    const unpaged = [...this.deliveries.visibleInline(nowMillis)];
    for (const due of dueOf(this.delayed.current, nowMillis))
      if (!ready.claims?.(due.sequence)) unpaged.push(due);
    const paged = [...this.deliveries.visiblePages(nowMillis, end), ...duePages(this, this.#pages, end)];
    const oldest = (): Visible[] => {
      const sequence = ready.next();
      return sequence === undefined ? [] : [{ sequence, sinceMillis: nowMillis, found: undefined }];
    };
    let oldestBegins = isTurnOfOldest(this.nextVersion);
    for (const again of inOrder(unpaged, paged)) {
      if (again.sequence >= end) continue;
      if (oldestBegins) yield* oldest();
      oldestBegins = false;
      yield again;
      yield* oldest();
    }
    for (let next = oldest(); next.length > 0; next = oldest()) yield* next;
  }

  seal(changes: Pick<QueueState, 'writers' | 'writersFloor' | 'collectedBelow'>): QueueState {
    const segments = this.segments.current;
    if (this.segments.changed && !this.#runsChanged) adoptRunIndex(segments, this.#runIndex);
    return {
      ...this.base,
      ...changes,
      version: this.nextVersion,
      timeMillis: this.time.manifestMillis,
      modifiedAtMillis: this.modifiedAtMillis,
      attributes: this.attributes,
      tags: this.tags,
      nextSequence: this.nextSequence,
      purgeWatermark: this.purgeWatermark,
      purgedAtMillis: this.purgedAtMillis,
      ready: this.ready,
      readyPages: this.readyPages.current,
      delayed: this.delayed.current,
      delayedPages: this.delayedPages.current,
      ...this.deliveries.seal(),
      tail: this.tail.current,
      segments,
      segmentsPages: this.segmentsPages.current,
      intents: this.intents.current,
      deduplication: this.deduplication.current,
      deduplicationPages: this.deduplicationPages.current,
      outgoingLinks: this.outgoingLinks.current,
      incomingLinks: this.incomingLinks.current,
      fairness: this.fairness.seal(this),
      moveTasks: this.moveTasks,
    };
  }
}
