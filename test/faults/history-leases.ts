/** How long a delivery holds its message, and how long a delay holds it back. Pure; part of history.ts. */
import type { Delivery, Send, Violation, VisibilityChange } from './history.ts';

/**
 * Nodes and clients share a machine and its clock, and a node goes by that clock for leases as long as it is within a
 * second of what the store's answers allow. What is left is the scheduling of a loaded machine.
 */
const clockSlackMillis = 250;

type Changes = ReadonlyMap<string, readonly VisibilityChange[]>;

/** Before this no other delivery of the message can have been made: the lease began after its receive did. */
export function heldUntil(delivery: Delivery, changes: Changes): number {
  const { receiptHandle, began, visibilitySeconds } = delivery;
  if (visibilitySeconds === undefined) return Number.NEGATIVE_INFINITY;
  const ends = (changes.get(receiptHandle) ?? []).map((change) => change.began + change.seconds * 1000);
  return Math.min(began + visibilitySeconds * 1000, ...ends) - clockSlackMillis;
}

/** Whether the delivery surely held its message at that time, unless it was deleted. */
export function leaseHolds(delivery: Delivery, changes: Changes, at: number): boolean {
  return at < heldUntil(delivery, changes);
}

/** `ordered`: the deliveries of one message by receive count. */
export function leaseViolations(
  send: Send | undefined,
  ordered: readonly Delivery[],
  changes: Changes,
): readonly Violation[] {
  const found: Violation[] = [];
  for (const [index, delivery] of ordered.entries()) {
    const next = ordered[index + 1];
    if (next === undefined || !leaseHolds(delivery, changes, next.ended)) continue;
    found.push({
      rule: 'no message is delivered while another delivery holds it',
      body: delivery.body,
      detail: `delivery ${delivery.receiveCount} began at ${delivery.began} for ${delivery.visibilitySeconds} s; delivery ${next.receiveCount} ended at ${next.ended}`,
    });
  }
  const [first] = ordered;
  if (send?.delaySeconds === undefined || first === undefined) return found;
  const dueAt = send.began + send.delaySeconds * 1000 - clockSlackMillis;
  if (first.ended < dueAt)
    found.push({
      rule: 'no message is delivered before its delay is over',
      body: send.body,
      detail: `sent at ${send.began} with ${send.delaySeconds} s; delivered by ${first.ended}`,
    });
  return found;
}
