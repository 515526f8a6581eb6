/** The lease that a receive makes of one message, on queues of either type. */
import type { Command, Leased } from './command.ts';
import type { Draft } from './draft.ts';
import type { StoredMessage } from './message.ts';
import { groupOf } from './message-groups.ts';
import { carried, type Delivery } from './queue-state.ts';

/** Of a message that the caller has taken out of its place; `previous`: its delivery before this one. */
export function leaseMessage(
  draft: Draft,
  sequence: number,
  message: StoredMessage,
  previous: Delivery | undefined,
  command: Command & { readonly kind: 'receive' },
): { readonly leased: Leased; readonly inFlight: boolean } {
  const { nowMillis } = draft.time;
  const timeoutSeconds = timeoutOf(draft, command);
  const delivery: Delivery = {
    visibleAtMillis: nowMillis + timeoutSeconds * 1000,
    receiveCount: (previous?.receiveCount ?? 0) + 1,
    // A send is stamped with an upper bound of the time: nobody receives before that.
    firstReceivedAtMillis: previous?.firstReceivedAtMillis ?? Math.max(nowMillis, message.sentAtMillis),
    leasedAtMillis: nowMillis,
    token: draft.drawToken(),
    leaseVersion: draft.nextVersion,
    ...(draft.resolved.fifo && { group: groupOf(message), turn: draft.nextSequence }),
    ...(previous && carried(previous)),
  };
  draft.deliveries.add(sequence, delivery);
  return { leased: leasedOf(draft, sequence, message, delivery), inFlight: timeoutSeconds > 0 };
}

/** Of a receive, seconds: its own, or the queue's. */
export function timeoutOf(
  draft: Draft,
  command: Pick<Command & { readonly kind: 'receive' }, 'visibilityTimeoutSeconds'>,
): number {
  return command.visibilityTimeoutSeconds ?? draft.resolved.visibilityTimeoutSeconds;
}

export function leasedOf(draft: Draft, sequence: number, message: StoredMessage, delivery: Delivery): Leased {
  const { incarnation } = draft.base;
  const { token, leaseVersion, receiveCount, firstReceivedAtMillis } = delivery;
  const handle = { incarnation, sequence, leaseVersion, token };
  return { message, handle, receiveCount, firstReceivedAtMillis };
}

/** Stands for a lease whose body is still to load; such a transition is thrown away and applied again. */
export const placeholder = {} as Leased;
