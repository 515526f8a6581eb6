/**
 * Visibility changes and releases. Both are for the delivery that holds the message only (delete.ts: heldDelivery).
 */
import type { Command, CommandResult, VisibilityResult } from './command.ts';
import { heldDelivery, lostToRetention } from './delete.ts';
import type { Draft } from './draft.ts';
import { LEASE_MILLIS_MAX } from './limits.ts';

/** Counts the new timeout from now; the lease keeps its token, also when it had expired. */
export function changeVisibility(
  draft: Draft,
  command: Command & { readonly kind: 'change-visibility' },
): CommandResult {
  let effect = false;
  const entries = command.entries.map(({ handle, timeoutSeconds }): VisibilityResult => {
    const delivery = heldDelivery(draft, handle);
    if (!delivery) {
      effect ||= lostToRetention(draft, handle);
      return 'not-available';
    }
    const visibleAtMillis = draft.time.nowMillis + timeoutSeconds * 1000;
    if (visibleAtMillis > delivery.leasedAtMillis + LEASE_MILLIS_MAX) return 'beyond-limit';
    draft.deliveries.set(handle.sequence, { ...delivery, visibleAtMillis });
    effect = true;
    return 'done';
  });
  return { outcome: { kind: 'visibility', entries }, effect };
}

/** As if it had not been received: visible at once, count lowered, and the handle it never got is void. */
export function release(draft: Draft, command: Command & { readonly kind: 'release' }): CommandResult {
  const fresh: number[] = [];
  let effect = false;
  for (const handle of command.handles) {
    const delivery = heldDelivery(draft, handle);
    if (!delivery) continue;
    effect = true;
    if (delivery.receiveCount === 1) {
      draft.deliveries.delete(handle.sequence);
      fresh.push(handle.sequence);
    } else {
      draft.deliveries.set(handle.sequence, {
        ...delivery,
        receiveCount: delivery.receiveCount - 1,
        visibleAtMillis: draft.time.nowMillis,
        token: draft.drawToken(),
        leaseVersion: draft.nextVersion,
      });
    }
  }
  draft.giveBackToReady(fresh);
  return { outcome: { kind: 'done' }, effect };
}
