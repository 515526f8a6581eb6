/**
 * Visibility changes and releases. Both are for the delivery that holds the message only (delete.ts: heldDelivery); a
 * change on a FIFO queue also only while it has not expired.
 */
import type { Command, CommandResult, VisibilityResult } from './command.ts';
import { heldDelivery, lostToRetention, stillHeld } from './delete.ts';
import type { Draft } from './draft.ts';
import { LEASE_MILLIS_MAX } from './limits.ts';
import { withoutAttempt } from './receive-attempts.ts';

/** Counts the new timeout from now; the lease keeps its token, on a standard queue also when it had expired. */
export function changeVisibility(
  draft: Draft,
  command: Command & { readonly kind: 'change-visibility' },
): CommandResult {
  let effect = false;
  let unknown = false;
  const entries = command.entries.map(({ handle, timeoutSeconds }): VisibilityResult => {
    const held = stillHeld(draft, handle);
    if (held === 'expired') return 'expired';
    if (held === 'unknown') {
      unknown = true;
      return 'not-available';
    }
    if (held === 'void') {
      effect ||= lostToRetention(draft, handle);
      return 'not-available';
    }
    const { delivery } = held;
    const visibleAtMillis = draft.time.nowMillis + timeoutSeconds * 1000;
    if (visibleAtMillis > delivery.leasedAtMillis + LEASE_MILLIS_MAX) return 'beyond-limit';
    draft.deliveries.change(held, { ...withoutAttempt(delivery), visibleAtMillis });
    effect = true;
    return 'done';
  });
  return { outcome: unknown ? { kind: 'unreadable' } : { kind: 'visibility', entries }, effect };
}

/** As if it had not been received: visible at once, count lowered, and the handle it never got is void. */
export function release(draft: Draft, command: Command & { readonly kind: 'release' }): CommandResult {
  const fresh: number[] = [];
  let effect = false;
  let unknown = false;
  for (const handle of command.handles) {
    const held = heldDelivery(draft, handle);
    if (held === 'unknown') unknown = true;
    if (held === 'unknown' || held === 'void') continue;
    const { delivery } = held;
    // Another answer has the same handle, and its client may be there.
    if (delivery.attempt?.repeated) continue;
    effect = true;
    if (delivery.receiveCount === 1) {
      draft.deliveries.end(held);
      fresh.push(handle.sequence);
    } else {
      draft.deliveries.change(held, {
        ...withoutAttempt(delivery),
        receiveCount: delivery.receiveCount - 1,
        visibleAtMillis: draft.time.nowMillis,
        token: draft.drawToken(),
        leaseVersion: draft.nextVersion,
      });
    }
  }
  draft.giveBackToReady(fresh);
  draft.fairness.givenBack(fresh);
  return { outcome: { kind: unknown ? 'unreadable' : 'done' }, effect };
}
