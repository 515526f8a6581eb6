/**
 * Delete by receipt handle. Takes effect only for the delivery that holds the message; a handle of an earlier
 * delivery, of a message under an intent, deleted, purged, or of another incarnation changes nothing. A FIFO queue
 * refuses a handle that no longer holds its message as expired, unless the message is gone.
 */
import type { Command, CommandResult } from './command.ts';
import type { Draft } from './draft.ts';
import type { FoundDelivery } from './open-lease-page.ts';
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

/** The same, for a consumer that had it: on a FIFO queue its time may be over. */
export function stillHeld(
  draft: Draft,
  handle: ReceiptHandle,
): FoundDelivery | 'void' | 'unknown' | 'expired' {
  const held = heldDelivery(draft, handle);
  if (!draft.resolved.fifo || held === 'unknown') return held;
  if (held === 'void') return isAlive(draft, handle) ? 'expired' : 'void';
  return held.delivery.visibleAtMillis > draft.time.nowMillis ? held : 'expired';
}

/** Received again, or moving. The handle of what was given back never reached a consumer: it is as good as none. */
function isAlive(draft: Draft, { incarnation, sequence, leaseVersion }: ReceiptHandle): boolean {
  if (incarnation !== draft.base.incarnation) return false;
  return draft.intents.current.has(sequence) || draft.findDelivery(sequence, leaseVersion) !== 'absent';
}

/**
 * Whether the handle's message may have gone by retention within this very transition. Such an outcome stands only
 * once the transition is swapped in: another node, by its own lower bound of the time, might still deliver the message.
 */
export function lostToRetention(draft: Draft, handle: ReceiptHandle): boolean {
  if (!draft.retentionEnded || handle.incarnation !== draft.base.incarnation) return false;
  const before = draft.deliveries.findBefore(handle.sequence);
  // A FIFO queue has another answer for every earlier handle, too: while the message is there, they are expired.
  return before?.token === handle.token || (draft.resolved.fifo !== undefined && before !== undefined);
}

export function deleteMessages(draft: Draft, command: Command & { readonly kind: 'delete' }): CommandResult {
  let effect = false;
  let unknown = false;
  const expired: number[] = [];
  for (const [index, handle] of command.handles.entries()) {
    const held = stillHeld(draft, handle);
    if (held === 'unknown') unknown = true;
    else if (held === 'expired') expired.push(index);
    else if (held === 'void') effect ||= lostToRetention(draft, handle);
    else {
      draft.deliveries.end(held);
      draft.endBody(handle.sequence);
      effect = true;
    }
  }
  if (unknown) return { outcome: { kind: 'unreadable' }, effect };
  return { outcome: { kind: 'done', ...(expired.length > 0 && { expired }) }, effect };
}
