/** Purges and deletions of a queue: what they must take with them, and what may be gone because of them. Pure. */
import type { Delivery, Erasure, Send, Violation } from './history.ts';

/** Whether some erasure can have come after the send. What nobody sent is judged by another rule. */
export function mayBeErased(
  send: Send | undefined,
  erasures: readonly Erasure[],
  lateEffectMillis: number,
): boolean {
  if (send === undefined) return false;
  return erasures.some(
    ({ acknowledged, ended }) => (acknowledged ? ended : ended + lateEffectMillis) > send.began,
  );
}

/** A message that was surely there when an erasure began is in no receive that began after its answer. */
export function erasureViolations(
  send: Send | undefined,
  deliveries: readonly Delivery[],
  erasures: readonly Erasure[],
): readonly Violation[] {
  if (send?.messageId === undefined) return [];
  const found: Violation[] = [];
  for (const { acknowledged, began, ended } of erasures) {
    if (!acknowledged || send.ended >= began) continue;
    for (const delivery of deliveries) {
      if (delivery.began <= ended) continue;
      found.push({
        rule: 'no message outlives a purge or its queue',
        body: send.body,
        detail: `sent by ${send.ended}; erased at ${began}–${ended}; delivered at ${delivery.began}–${delivery.ended}`,
      });
    }
  }
  return found;
}
