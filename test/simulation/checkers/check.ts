/** What checkers get besides the bare history: landings as the ledger reads them. */
import type { QueueState, SegmentReference } from '../../../src/core/queue-state.ts';
import type { Checker } from '../history.ts';
import type { LandingDiff } from '../ledger.ts';

export interface DiffChecker extends Checker {
  diff?(diff: LandingDiff): string | undefined;
}

/** Names one lease: a delivery's token within its incarnation. */
export function leaseKey(lease: {
  readonly incarnation: string;
  readonly sequence: number;
  readonly token: string;
}): string {
  return `${lease.incarnation}/${lease.sequence}/${lease.token}`;
}

/**
 * Whether a newly named segment took over bodies of others. What is spilled is new or was in the tail, at least one of
 * its messages: others may have been deleted from there since it was uploaded.
 */
export function isCompacted(before: QueueState, { runs }: SegmentReference): boolean {
  if (runs.some(({ firstSequence, count }) => firstSequence + count > before.nextSequence)) return false;
  for (const sequence of before.tail.keys())
    if (
      runs.some(({ firstSequence, count }) => firstSequence <= sequence && sequence < firstSequence + count)
    )
      return false;
  return true;
}
