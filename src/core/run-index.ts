/**
 * Finds the segment and ordinal of a sequence number. Derived from a state's segment references and kept beside
 * them (by identity), since most commits change live counts only and the index then stays as it is. It may hold runs
 * of references that are gone: no live sequence number lies in those.
 */
import type { Run, SegmentId, SegmentReference } from './queue-state.ts';

export interface IndexedRun {
  readonly segment: SegmentId;
  readonly run: Run;
}

/** Ascending by first sequence; runs never overlap. */
export type RunIndex = readonly IndexedRun[];

const indexes = new WeakMap<ReadonlyMap<SegmentId, SegmentReference>, RunIndex>();

export function runIndexOf(segments: ReadonlyMap<SegmentId, SegmentReference>): RunIndex {
  const known = indexes.get(segments);
  if (known) return known;
  const runs: IndexedRun[] = [];
  for (const [segment, reference] of segments) for (const run of reference.runs) runs.push({ segment, run });
  runs.sort((a, b) => a.run.firstSequence - b.run.firstSequence);
  indexes.set(segments, runs);
  return runs;
}

/** Says that `segments` has the same runs as `index`, or fewer. */
export function adoptRunIndex(segments: ReadonlyMap<SegmentId, SegmentReference>, index: RunIndex): void {
  indexes.set(segments, index);
}

export function locate(
  index: RunIndex,
  sequence: number,
): (IndexedRun & { readonly ordinal: number }) | undefined {
  let low = 0;
  let high = index.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const entry = index[middle]!;
    const { firstSequence, count, firstOrdinal } = entry.run;
    if (sequence < firstSequence) high = middle - 1;
    else if (sequence >= firstSequence + count) low = middle + 1;
    else return { ...entry, ordinal: firstOrdinal + (sequence - firstSequence) };
  }
  return undefined;
}
