/**
 * Delete by receipt handle. Takes effect only for the delivery that holds the message; a handle of an earlier
 * delivery, of a message under an intent, deleted, purged, or of another incarnation changes nothing.
 */
import type { Command, CommandResult } from './command.ts';
import type { Draft } from './draft.ts';
import type { Delivery } from './queue-state.ts';
import type { ReceiptHandle } from './receipt-handle.ts';

/** The delivery that the handle still holds, expired or not. */
export function heldDelivery(draft: Draft, handle: ReceiptHandle): Delivery | undefined {
  if (handle.incarnation !== draft.base.incarnation) return undefined;
  const delivery = draft.deliveries.current.get(handle.sequence);
  return delivery && delivery.token === handle.token ? delivery : undefined;
}

export function deleteMessages(draft: Draft, command: Command & { readonly kind: 'delete' }): CommandResult {
  let effect = false;
  for (const handle of command.handles) {
    if (!heldDelivery(draft, handle)) continue;
    draft.deliveries.delete(handle.sequence);
    draft.endBody(handle.sequence);
    effect = true;
  }
  return { outcome: { kind: 'done' }, effect };
}
