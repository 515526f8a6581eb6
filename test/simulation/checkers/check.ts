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

/** Whether a newly named segment took over bodies of others: what is spilled was in the tail or is new. */
export function isCompacted(before: QueueState, { runs }: SegmentReference): boolean {
  return runs.every(
    ({ firstSequence }) => firstSequence < before.nextSequence && !before.tail.has(firstSequence),
  );
}
