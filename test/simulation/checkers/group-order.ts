/**
 * FIFO queues hand out a group in order: a message only when every earlier one of its group that is alive is handed out
 * with it. What is in flight before it, moves to another queue, waits for its delay or was passed over forbids it; what is in
 * flight behind it does not.
 */
import { isFifoState } from '../fifo.ts';
import { markerOf } from '../ledger.ts';
import type { DiffChecker } from './check.ts';
import { leasedBy } from './leased.ts';

export function groupOrderChecker(): DiffChecker {
  return {
    name: 'a group is handed out in order',
    diff: (diff) => {
      const { after, incarnation } = diff;
      if (!isFifoState(after)) return undefined;
      const { surely, perhaps } = leasedBy(diff);
      if (surely.size === 0) return undefined;
      /** By group: the first that was not leased now. */
      const lefts = new Map<string | undefined, number>();
      for (const { sequence, message } of incarnation.live.values()) {
        if (perhaps.has(sequence)) continue;
        const known = lefts.get(message.groupId);
        if (known === undefined || sequence < known) lefts.set(message.groupId, sequence);
      }
      for (const sequence of surely) {
        const { message } = incarnation.live.get(sequence)!;
        const left = lefts.get(message.groupId);
        if (left === undefined || left > sequence) continue;
        const earlier = incarnation.live.get(left)!.message;
        const place = after.deliveries.has(left)
          ? 'received'
          : after.intents.has(left)
            ? 'moving'
            : 'waiting';
        return `${markerOf(message.body)} (sequence ${sequence} of ${incarnation.queue}, ${message.groupId}) is handed out, and ${markerOf(earlier.body)} (sequence ${left}, ${place}) comes before it`;
      }
      return undefined;
    },
  };
}
