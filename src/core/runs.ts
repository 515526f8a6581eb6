/** Runs from single places: neighbours in sequence and ordinal with one shift share a run. */
import type { Run } from './queue-state.ts';

/** In ascending order of sequence. */
export function joinedRuns(
  places: Iterable<{
    readonly sequence: number;
    readonly ordinal: number;
    readonly sentAtShiftMillis: number;
  }>,
): Run[] {
  const runs: { firstSequence: number; firstOrdinal: number; count: number; sentAtShiftMillis: number }[] =
    [];
  for (const { sequence, ordinal, sentAtShiftMillis } of places) {
    const last = runs.at(-1);
    if (
      last &&
      last.firstSequence + last.count === sequence &&
      last.firstOrdinal + last.count === ordinal &&
      last.sentAtShiftMillis === sentAtShiftMillis
    )
      last.count++;
    else runs.push({ firstSequence: sequence, firstOrdinal: ordinal, count: 1, sentAtShiftMillis });
  }
  return runs;
}
