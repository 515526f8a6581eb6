/** What holds of the fairness of a state that this version has written; see fairness.ts. Of the stored state, pages as they are. */
import { GROUP_RATES_MAX, QUIET_IN_A_ROW_MAX, QUIET_RANGES_MAX } from './limits.ts';
import type { QueueState } from './queue-state.ts';
import {
  addAll,
  addRange,
  countWithin,
  difference,
  emptyRanges,
  isWellFormed,
  rangeCount,
  union,
} from './range-set.ts';

/** The first rule that is broken, or undefined. */
export function brokenFairness(state: QueueState): string | undefined {
  const { rates, quiet, busyBelow, quietInARow } = state.fairness;
  if (!isWellFormed(quiet)) return 'the quiet ranges are not well formed';
  if (rangeCount(quiet) > QUIET_RANGES_MAX) return `${rangeCount(quiet)} quiet ranges`;
  if (rates.size > GROUP_RATES_MAX) return `${rates.size} groups are counted`;
  if (quietInARow > QUIET_IN_A_ROW_MAX) return `${quietInARow} quiet ones were handed out in a row`;
  if (busyBelow > state.nextSequence) return 'a busy group sent a number that was never given';
  if (state.attributes.get('FifoQueue') === 'true' && rates.size > 0) return 'a FIFO queue counts its groups';
  const peaks = [...rates.values()].some(({ peak }) => peak > 0);
  if (busyBelow === 0 && (quiet.length > 0 || peaks))
    return 'something is quiet although nothing of a busy group waits';
  let waiting = union(state.ready, addAll(emptyRanges, state.delayed.keys()));
  for (const { firstSequence, lastSequence } of state.delayedPages.values())
    waiting = addRange(waiting, firstSequence, lastSequence + 1);
  const [strange] = difference(quiet, waiting);
  if (strange !== undefined)
    return `sequence ${strange} is quiet, and neither ready nor delayed in the manifest`;
  for (const [id, { firstSequence, lastSequence }] of state.segmentsPages)
    if (countWithin(quiet, firstSequence, lastSequence + 1) > 0)
      return `the page of segments ${id} has a quiet message`;
  return undefined;
}
