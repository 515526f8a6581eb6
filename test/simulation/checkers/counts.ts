/**
 * Counts: GetQueue tells what the ledger says. Judged only on calls during which nothing landed on the queue. How many
 * are in flight and delayed depends on the clock of the node that was asked, so each lies between two bounds, and so does
 * what is visible: the rest, unless the node says that it could not read what tells them apart. Of a short retention some may have ended that no commit has taken out yet.
 */
import { resolveAttributes } from '../../../src/core/queue-attributes.ts';
import type { QueueState } from '../../../src/core/queue-state.ts';
import { stampOf } from '../../../src/core/stamps.ts';
import type { IncarnationLife, Ledger } from '../ledger.ts';
import { storeMillisAt } from '../life.ts';
import type { DiffChecker } from './check.ts';

export function countsChecker(
  ledger: Ledger,
  liesTold: () => number,
  clockErrorMillis: () => number | undefined,
): DiffChecker {
  const versions = new Map<number, number>();
  return {
    name: 'counts are those of the messages that are there',
    arrived: ({ request, id }) => {
      if (request.kind === 'look') versions.set(id, ledger.queues.get(request.queue)?.state.version ?? 0);
      return undefined;
    },
    answered: ({ request, id, arrivedAt }, answer, at) => {
      if (request.kind !== 'look' || answer.kind !== 'queue') return undefined;
      const life = ledger.queues.get(request.queue);
      if (!life || life.state.version !== versions.get(id)) return undefined;
      const ended = endedBy(life, storeMillisAt(at));
      if (ended > 0 && liesTold() > 0) return undefined;
      const counted = answer.visibleCount + answer.inFlightCount + answer.delayedCount;
      const there = life.live.size - life.state.intents.size;
      if (counted > there || counted < there - ended)
        return `call ${id}: ${request.queue} counts ${counted}, ${there} are there, of which ${ended} may have ended`;
      const error = clockErrorMillis();
      if (error === undefined || answer.countsEstimated) return undefined;
      const most = hiddenAt(life.state, storeMillisAt(arrivedAt) - error);
      const least = hiddenAt(life.state, storeMillisAt(at) + error);
      const { inFlightCount, delayedCount } = answer;
      if (inFlightCount > most.inFlight || inFlightCount < least.inFlight - ended)
        return `call ${id}: ${request.queue} counts ${inFlightCount} in flight, there are ${least.inFlight} to ${most.inFlight}`;
      if (delayedCount > most.delayed || delayedCount < least.delayed - ended)
        return `call ${id}: ${request.queue} counts ${delayedCount} delayed, there are ${least.delayed} to ${most.delayed}`;
      return undefined;
    },
  };
}

/** Retention compares with what never is ahead of the store's clock. */
function endedBy({ state, live }: IncarnationLife, nowMillis: number): number {
  const retentionMillis = resolveAttributes(state.attributes).retentionSeconds * 1000;
  let ended = 0;
  for (const { message, sequence } of live.values())
    if (!state.intents.has(sequence) && stampOf(message) + retentionMillis <= nowMillis) ended++;
  return ended;
}

function hiddenAt({ deliveries, delayed }: QueueState, nowMillis: number) {
  let inFlight = 0;
  for (const { visibleAtMillis } of deliveries.values()) if (visibleAtMillis > nowMillis) inFlight++;
  return { inFlight, delayed: [...delayed.values()].filter((dueAt) => dueAt > nowMillis).length };
}
