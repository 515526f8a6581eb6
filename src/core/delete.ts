/**
 * Delete by receipt handle. Takes effect only for the delivery that holds the message; a handle of an earlier
 * delivery, of a message under an intent, deleted, purged, or of another incarnation changes nothing.
 */
import type { Command, CommandResult } from './command.ts';
import type { FoundDelivery } from './deliveries.ts';
import type { Draft } from './draft.ts';
import type { ReceiptHandle } from './receipt-handle.ts';

/**
 * The delivery that the handle still holds, expired or not. `unknown`: it may be in a page that was not read. A handle
 * of which that is all we know must be refused, to be tried again: to call it superseded would let a consumer believe
 * its delete done, and the message comes again; to call it held could end the message under another holder.
 */
export function heldDelivery(draft: Draft, handle: ReceiptHandle): FoundDelivery | 'void' | 'unknown' {
  if (handle.incarnation !== draft.base.incarnation) return 'void';
  const found = draft.findDelivery(handle.sequence, handle.leaseVersion);
  if (found === 'unknown') return 'unknown';
  return found !== 'absent' && found.delivery.token === handle.token ? found : 'void';
}

/**
 * Whether the handle's message may have gone by retention within this very transition. Such an outcome stands only
 * once the transition is swapped in: another node, by its own lower bound of the time, might still deliver the message.
 */
export function lostToRetention(draft: Draft, handle: ReceiptHandle): boolean {
  if (!draft.retentionEnded || handle.incarnation !== draft.base.incarnation) return false;
  return draft.deliveries.findBefore(handle.sequence)?.token === handle.token;
}

export function deleteMessages(draft: Draft, command: Command & { readonly kind: 'delete' }): CommandResult {
  let effect = false;
  let unknown = false;
  for (const handle of command.handles) {
    const held = heldDelivery(draft, handle);
    if (held === 'unknown') unknown = true;
    else if (held === 'void') effect ||= lostToRetention(draft, handle);
    else {
      draft.deliveries.end(held);
      draft.endBody(handle.sequence);
      effect = true;
    }
  }
  return { outcome: { kind: unknown ? 'unreadable' : 'done' }, effect };
}
