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

/**
 * Whether the handle's message may have gone by retention within this very transition. Such an outcome stands only
 * once the transition is swapped in: another node, by its own lower bound of the time, might still deliver the message.
 */
export function lostToRetention(draft: Draft, handle: ReceiptHandle): boolean {
  if (!draft.retentionEnded || handle.incarnation !== draft.base.incarnation) return false;
  return draft.base.deliveries.get(handle.sequence)?.token === handle.token;
}

export function deleteMessages(draft: Draft, command: Command & { readonly kind: 'delete' }): CommandResult {
  let effect = false;
  for (const handle of command.handles) {
    if (!heldDelivery(draft, handle)) {
      effect ||= lostToRetention(draft, handle);
      continue;
    }
    draft.deliveries.delete(handle.sequence);
    draft.endBody(handle.sequence);
    effect = true;
  }
  return { outcome: { kind: 'done' }, effect };
}
