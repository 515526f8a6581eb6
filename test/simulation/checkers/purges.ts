/**
 * Purge: takes effect once, when its commit lands: an answered one has ended all that was there when it was asked, and
 * the watermark never rises without a purge that was asked and may still be under way.
 */
import type { Ledger } from '../ledger.ts';
import type { DiffChecker } from './check.ts';

interface Asked {
  readonly call: number;
  readonly incarnation: string | undefined;
  readonly nextSequence: number;
  answered: boolean;
}

export function purgesChecker(ledger: Ledger): DiffChecker {
  const asked = new Map<string, Asked[]>();
  const raised = new Map<string, number>();
  return {
    name: 'a purge takes effect once, and covers what was there',
    arrived: ({ request, id }) => {
      if (request.kind !== 'purge') return undefined;
      const life = ledger.queues.get(request.queue);
      const calls = asked.get(request.queue) ?? [];
      asked.set(request.queue, calls);
      calls.push({
        call: id,
        incarnation: life?.id,
        nextSequence: life?.state.nextSequence ?? 0,
        answered: false,
      });
      return undefined;
    },
    diff: ({ before, after, incarnation: { queue } }) => {
      if (!before) return undefined;
      const same = before.purgeWatermark === after.purgeWatermark;
      if (same && before.purgedAtMillis === after.purgedAtMillis) return undefined;
      const calls = asked.get(queue) ?? [];
      const times = (raised.get(queue) ?? 0) + 1;
      raised.set(queue, times);
      if (times > calls.length) return `${queue}: purged more often than asked`;
      if (calls.every(({ answered }) => answered))
        return `${queue}: purged when every purge had been answered`;
      return undefined;
    },
    answered: ({ request, id }, answer) => {
      if (request.kind !== 'purge') return undefined;
      const call = asked.get(request.queue)?.find((each) => each.call === id);
      if (!call) return 'a purge was answered that nobody asked';
      if (answer.kind === 'unavailable') return undefined;
      call.answered = true;
      if (answer.kind !== 'done') return undefined;
      const life = ledger.queues.get(request.queue);
      if (life?.id !== call.incarnation || !life) return undefined;
      if (life.state.purgeWatermark < call.nextSequence)
        return `call ${id}: answered, and the watermark of ${request.queue} is ${life.state.purgeWatermark}, not ${call.nextSequence}`;
      return undefined;
    },
  };
}
