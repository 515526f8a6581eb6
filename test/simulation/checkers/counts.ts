/**
 * Counts: GetQueue tells what the ledger says. Judged only on calls during which nothing landed on the queue, and only
 * as a sum: what is visible depends on the clock of the node that was asked.
 */
import type { Ledger } from '../ledger.ts';
import type { DiffChecker } from './check.ts';

export function countsChecker(ledger: Ledger): DiffChecker {
  const versions = new Map<number, number>();
  return {
    name: 'counts are those of the messages that are there',
    arrived: ({ request, id }) => {
      if (request.kind === 'look') versions.set(id, ledger.queues.get(request.queue)?.state.version ?? 0);
      return undefined;
    },
    answered: ({ request, id }, answer) => {
      if (request.kind !== 'look' || answer.kind !== 'queue') return undefined;
      const life = ledger.queues.get(request.queue);
      if (!life || life.state.version !== versions.get(id)) return undefined;
      // Retention may have ended some that no commit has taken out yet.
      if (life.state.attributes.has('MessageRetentionPeriod')) return undefined;
      const counted = answer.visibleCount + answer.inFlightCount + answer.delayedCount;
      const there = life.live.size - life.state.intents.size;
      return counted === there
        ? undefined
        : `call ${id}: ${request.queue} counts ${counted}, ${there} are there`;
    },
  };
}
