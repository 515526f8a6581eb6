/**
 * Compaction, the part that reads: which bodies of some segments are live in a state, and how they lie in the object
 * that is to take their place. Live is whatever the state still has anywhere: ready, delayed, delivered, or under an
 * intent, whose target has yet to read it; and what a page may tell of, which is not read for this.
 *
 * Runs may pass over dead numbers, whose ordinals stay empty: two bytes in an object that is written once, in place of a
 * dozen in the manifest that each commit writes. A number that another segment or the tail may hold is never passed
 * over: runs of different segments never overlap. That holds for later states too. Whatever is named later and was not
 * named here has numbers that were in the tail, or new, or between two others of segments that are named now; and such
 * a pair has none of our runs between it.
 */
import { mayBePaged } from './pages.ts';
import type { QueueState, Run, SegmentId } from './queue-state.ts';
import { has } from './range-set.ts';
import { joinedRuns } from './runs.ts';

export interface LiveBody {
  readonly sequence: number;
  readonly segment: SegmentId;
  readonly ordinal: number;
  readonly sentAtShiftMillis: number;
}

export interface CompactionLayout {
  /** By ordinal; undefined: passed over. */
  readonly slots: readonly (LiveBody | undefined)[];
  readonly bodyCount: number;
  readonly runs: readonly Run[];
}

/** A longer stretch of dead numbers ends the run: it would cost more in the object than a run does in the manifest. */
const passedOverMax = 256;

/** Ascending by sequence. */
export function liveBodies(state: QueueState, from: Iterable<SegmentId>): LiveBody[] {
  const bodies: LiveBody[] = [];
  for (const segment of from)
    for (const { firstSequence, firstOrdinal, count, sentAtShiftMillis } of state.segments.get(segment)!.runs)
      for (let i = 0; i < count; i++)
        if (isLive(state, firstSequence + i))
          bodies.push({ sequence: firstSequence + i, segment, ordinal: firstOrdinal + i, sentAtShiftMillis });
  return bodies.sort((a, b) => a.sequence - b.sequence);
}

/** `bodies` ascending, of the segments `from`. Stamps are to be shifted when they are copied. */
export function layOut(
  state: QueueState,
  from: ReadonlySet<SegmentId>,
  bodies: readonly LiveBody[],
): CompactionLayout {
  const isOurs = freeOfOthers(state, from);
  const slots: (LiveBody | undefined)[] = [];
  const places: { sequence: number; ordinal: number; sentAtShiftMillis: 0 }[] = [];
  const place = (sequence: number, body: LiveBody | undefined) => {
    places.push({ sequence, ordinal: slots.length, sentAtShiftMillis: 0 });
    slots.push(body);
  };
  let previous: LiveBody | undefined;
  for (const body of bodies) {
    if (previous && body.sequence - previous.sequence <= passedOverMax + 1)
      if (isOurs(previous.sequence + 1, body.sequence))
        for (let dead = previous.sequence + 1; dead < body.sequence; dead++) place(dead, undefined);
    place(body.sequence, body);
    previous = body;
  }
  return { slots, bodyCount: bodies.length, runs: joinedRuns(places) };
}

function isLive(state: QueueState, sequence: number): boolean {
  const { ready, deliveries, delayed, intents } = state;
  return (
    has(ready, sequence) ||
    deliveries.has(sequence) ||
    delayed.has(sequence) ||
    intents.has(sequence) ||
    mayBePaged(state, sequence, sequence + 1)
  );
}

/** Tells of ascending stretches [start, end) whether nothing else may have a body there. */
function freeOfOthers(state: QueueState, from: ReadonlySet<SegmentId>) {
  const others: { readonly first: number; readonly end: number }[] = [];
  for (const sequence of state.tail.keys()) others.push({ first: sequence, end: sequence + 1 });
  for (const [id, { runs }] of state.segments)
    if (!from.has(id))
      for (const { firstSequence, count } of runs)
        others.push({ first: firstSequence, end: firstSequence + count });
  // Nothing else than their segments has a live body there.
  for (const { firstSequence, lastSequence } of state.segmentsPages.values())
    others.push({ first: firstSequence, end: lastSequence + 1 });
  others.sort((a, b) => a.first - b.first);
  let next = 0;
  return (start: number, end: number): boolean => {
    while (next < others.length && others[next]!.end <= start) next++;
    const other = others[next];
    return other === undefined || other.first >= end;
  };
}
