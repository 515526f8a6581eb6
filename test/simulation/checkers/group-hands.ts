/**
 * What one commit leased of a group goes into one pair of hands, in order: to the caller of one receive. Together with the
 * order in which groups are handed out (group-order.ts) nobody else then has something that comes before it.
 */
import { decodeReceiptHandle } from '../../../src/core/receipt-handle.ts';
import { isFifoQueue } from '../fifo.ts';
import { markerOf } from '../ledger.ts';
import type { DiffChecker } from './check.ts';

export function groupHandsChecker(): DiffChecker {
  /** By incarnation, version of the lease and group: the call that got something. */
  const hands = new Map<string, number>();
  return {
    name: 'a group is in one pair of hands',
    answered: ({ id, request }, answer) => {
      if (request.kind !== 'receive' || !isFifoQueue(request.queue) || !('messages' in answer))
        return undefined;
      const lasts = new Map<string | undefined, number>();
      for (const { message, receiptHandle } of answer.messages) {
        const handle = decodeReceiptHandle(receiptHandle);
        if (!handle) return `call ${id}: got a handle that nobody can read`;
        const { groupId } = message;
        const { sequence, incarnation, leaseVersion } = handle;
        if ((lasts.get(groupId) ?? 0) > sequence)
          return `call ${id}: got ${markerOf(message.body)} of ${groupId} after what was sent later`;
        lasts.set(groupId, sequence);
        const key = `${incarnation}/${leaseVersion}/${groupId}`;
        const other = hands.get(key) ?? id;
        if (other !== id)
          return `calls ${other} and ${id} both got messages of ${groupId}, leased by version ${leaseVersion} of ${request.queue}`;
        hands.set(key, id);
      }
      return undefined;
    },
  };
}
