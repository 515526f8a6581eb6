/**
 * Pages of segment references, the index of a backlog: when the manifest has too many, cold ones leave, those of the
 * newest messages first, and come back as a whole when a receive takes one of their messages or when retention has to
 * end the first of their segments. A page that has expired altogether ends whole, unread; purge drops every page.
 *
 * Cold: all live messages of a segment are ready. Invariant: in the hull of a page, from its first to its last
 * sequence number, no other message is alive. So a sequence number alone tells the page that has its body, every
 * message in it is ready, and nothing but a receive, retention and purge can touch one.
 */
import type { Draft } from './draft.ts';
import { type Hull, overlap } from './hull.ts';
import { PAGES_PER_COMMIT_MAX } from './limits.ts';
import type { PageReader, PageWriter } from './pages.ts';
import type { PageId, SegmentId, SegmentReference, SegmentsPageReference } from './queue-state.ts';
import { emptyRanges, type RangeSet } from './range-set.ts';

type Segments = ReadonlyMap<SegmentId, SegmentReference>;

/** This part of the bound stays at either end, of the cold ones: what is received next, and what was sent last. */
const endsPart = 1 / 16;
/** A page may be cut short by what lies between, but not below this part of its size. */
const leastPart = 1 / 8;

/** The page whose segments have this sequence number, if it is alive and they are not in the manifest. */
export function segmentsPageAround(
  draft: Draft,
  sequence: number,
): { readonly id: PageId; readonly lastSequence: number } | undefined {
  for (const [id, { firstSequence, lastSequence }] of draft.segmentsPages.current)
    if (firstSequence <= sequence && sequence <= lastSequence) return { id, lastSequence };
  return undefined;
}

/** Whether it is back. */
export function unfoldSegments(draft: Draft, id: PageId, pages: PageReader): boolean {
  const content = pages.read('segments', id, draft.segmentsPages.current.get(id)!);
  if (!content) return false;
  draft.segmentsPages.delete(id);
  draft.bringBack(content);
  return true;
}

/** Folds while there are too many in the manifest. Call last: what is folded can't be located any more. */
export function foldSegments(draft: Draft, pages: PageWriter): void {
  const { segmentsInlineMax, segmentPageEntries } = draft.limits;
  let excess = weightOf(draft.segments.current.values()) - segmentsInlineMax;
  if (excess <= 0) return;
  // A receive takes quiet messages out of the middle: a page would come back for each. Up to twice the bound; above it
  // they have to leave, and are like any other.
  const quiet = excess <= segmentsInlineMax ? draft.fairness.quiet(draft) : emptyRanges;
  let folded = false;
  for (const { id, baseVersion, nonce, content } of pages.prepared('segments')) {
    if (excess <= 0) return;
    if (!stillTrue(draft, content, quiet)) continue;
    folded = true;
    draft.moveOut(content.keys());
    draft.segmentsPages.set(id, { baseVersion, nonce, ...segmentsSummary(content) });
    excess -= weightOf(content.values());
  }
  // What was written for this commit is enough, unless none of it was true any more.
  if (excess <= 0 || folded) return;
  excess = Math.min(excess, PAGES_PER_COMMIT_MAX * segmentPageEntries);
  const least = Math.ceil(segmentPageEntries * leastPart);
  for (const group of coldGroups(draft, quiet).reverse()) {
    while (group.length > 0 && excess > 0) {
      const content = new Map<SegmentId, SegmentReference>();
      let weight = 0;
      while (group.length > 0 && weight < segmentPageEntries) {
        for (const id of group.pop()!) content.set(id, draft.segments.current.get(id)!);
        weight = weightOf(content.values());
      }
      if (weight < least) break;
      pages.want({ kind: 'segments', content });
      excess -= weight;
    }
  }
}

/** Runs, since it is runs that take the room. */
function weightOf(segments: Iterable<SegmentReference>): number {
  let weight = 0;
  for (const { runs } of segments) weight += runs.length;
  return weight;
}

/**
 * Segments that may share a page, ascending: between the first and the last of a group nothing else is alive. Those
 * whose sequence numbers are interlaced come as one.
 */
function coldGroups(draft: Draft, quiet: RangeSet): SegmentId[][][] {
  const all: (Hull & { readonly id?: SegmentId })[] = [...segmentPlaces(draft), ...otherPlaces(draft, quiet)];
  all.sort((a, b) => a.firstSequence - b.firstSequence);
  const groups: SegmentId[][][] = [[]];
  for (let i = 0; i < all.length; ) {
    const interlaced: SegmentId[] = [];
    let last = all[i]!.lastSequence;
    let cold = true;
    for (; i < all.length && all[i]!.firstSequence <= last; i++) {
      const { id, lastSequence } = all[i]!;
      last = Math.max(last, lastSequence);
      if (id === undefined || draft.isNew(id)) cold = false;
      else interlaced.push(id);
    }
    if (cold) groups.at(-1)!.push(interlaced);
    else groups.push([]);
  }
  const ends = Math.ceil(draft.limits.segmentsInlineMax * endsPart);
  leaveOut(ends, groups, (group) => group.shift());
  const newest = all.filter(({ id }) => id !== undefined && draft.isNew(id)).length;
  leaveOut(ends - newest, [...groups].reverse(), (group) => group.pop());
  return groups;
}

function leaveOut(
  count: number,
  groups: SegmentId[][][],
  take: (group: SegmentId[][]) => SegmentId[] | undefined,
): void {
  let left = count;
  for (const group of groups)
    while (left > 0) {
      const taken = take(group);
      if (!taken) break;
      left -= taken.length;
    }
}

function* segmentPlaces(draft: Draft): Generator<Hull & { readonly id: SegmentId }, void, undefined> {
  for (const [id, { runs }] of draft.segments.current) yield { id, ...hullOf(runs) };
}

/** Wherever a message is or may be that must not be in a page's hull: whatever is live, not ready, or in the tail. */
function* otherPlaces(draft: Draft, quiet: RangeSet): Generator<Hull, void, undefined> {
  for (let i = 0; i < quiet.length; i += 2)
    yield { firstSequence: quiet[i]!, lastSequence: quiet[i + 1]! - 1 };
  for (const { current } of [draft.tail, draft.delayed, draft.deliveries.inline, draft.intents])
    for (const sequence of current.keys()) yield { firstSequence: sequence, lastSequence: sequence };
  yield* draft.delayedPages.current.values();
  for (const [, page] of draft.deliveries.references()) if (page.remaining > 0) yield page;
  yield* draft.segmentsPages.current.values();
}

/** The manifest names these very segments, and they are as cold as when the page was written. */
function stillTrue(draft: Draft, content: Segments, quiet: RangeSet): boolean {
  for (const [id, reference] of content) {
    const present = draft.segments.current.get(id);
    if (!present || draft.isNew(id) || !isSame(present, reference)) return false;
  }
  const hull = segmentsSummary(content);
  for (const { id, ...place } of segmentPlaces(draft))
    if (!content.has(id) && overlap(place, hull)) return false;
  for (const place of otherPlaces(draft, quiet)) if (overlap(place, hull)) return false;
  return true;
}

function isSame(a: SegmentReference, b: SegmentReference): boolean {
  if (a === b) return true;
  return (
    a.liveCount === b.liveCount &&
    a.bodyCount === b.bodyCount &&
    a.sentAtMaxMillis === b.sentAtMaxMillis &&
    a.runs.length === b.runs.length &&
    a.runs.every((run, i) => {
      const { firstSequence, firstOrdinal, count, sentAtShiftMillis } = b.runs[i]!;
      return (
        run.firstSequence === firstSequence &&
        run.firstOrdinal === firstOrdinal &&
        run.count === count &&
        run.sentAtShiftMillis === sentAtShiftMillis
      );
    })
  );
}

/** From the first to the last sequence number, dead ones included. */
export function hullOf(runs: SegmentReference['runs']): Hull {
  let firstSequence = Number.POSITIVE_INFINITY;
  let lastSequence = 0;
  for (const run of runs) {
    firstSequence = Math.min(firstSequence, run.firstSequence);
    lastSequence = Math.max(lastSequence, run.firstSequence + run.count - 1);
  }
  return { firstSequence, lastSequence };
}

/** What must be known of a page without reading it. */
export function segmentsSummary(content: Segments): Omit<SegmentsPageReference, 'baseVersion' | 'nonce'> {
  let liveCount = 0;
  let firstSequence = Number.POSITIVE_INFINITY;
  let lastSequence = 0;
  let sentAtMinMillis = Number.POSITIVE_INFINITY;
  let sentAtMaxMillis = 0;
  let bytes = 0;
  for (const reference of content.values()) {
    const hull = hullOf(reference.runs);
    firstSequence = Math.min(firstSequence, hull.firstSequence);
    lastSequence = Math.max(lastSequence, hull.lastSequence);
    liveCount += reference.liveCount;
    sentAtMinMillis = Math.min(sentAtMinMillis, reference.sentAtMaxMillis);
    sentAtMaxMillis = Math.max(sentAtMaxMillis, reference.sentAtMaxMillis);
    bytes += reference.bytes;
  }
  return {
    count: content.size,
    liveCount,
    firstSequence,
    lastSequence,
    sentAtMinMillis,
    sentAtMaxMillis,
    bytes,
  };
}
