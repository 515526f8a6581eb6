/** What checkers get besides the bare history: landings as the ledger reads them. */
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
