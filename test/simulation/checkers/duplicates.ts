/**
 * Answers to sends on FIFO queues: a message is acknowledged with its sequence number, and called a duplicate only of one
 * that took its id, was not purged before the call, and did so no longer than five minutes ago by manifest time. A call
 * is refused for want of an id as a whole.
 */

import { resolveFifo } from '../../../src/core/fifo-attributes.ts';
import { DEDUPLICATION_MILLIS } from '../../../src/core/limits.ts';
import type { SendEntry, SendEntryOutcome } from '../../../src/engine/queue-api.ts';
import { isFifoQueue } from '../fifo.ts';
import type { Call } from '../history.ts';
import { type Ledger, markerOf } from '../ledger.ts';
import type { Acceptances } from './acceptances.ts';
import type { DiffChecker } from './check.ts';

interface Found {
  readonly incarnation: string | undefined;
  readonly purgeWatermark: number;
  readonly timeMillis: number;
  readonly byContent: boolean;
}

export function duplicatesChecker(accepted: Acceptances, ledger: Ledger): DiffChecker {
  /** What the bucket had when a call arrived. */
  const found = new Map<number, Found>();
  /** By queue: the last time that it did not deduplicate by content. */
  const notByContentAt = new Map<string, number>();
  const wrongDuplicate = (
    call: Call,
    { content, deduplication }: SendEntry,
    outcome: SendEntryOutcome & { kind: 'duplicate' },
  ) => {
    const first = accepted.byMessageId.get(outcome.messageId);
    if (!first) return `a duplicate of ${outcome.messageId}, which nobody sent here`;
    if (outcome.sequenceNumber !== digitsOf(first.sequence))
      return `a duplicate with sequence number ${outcome.sequenceNumber}, the first one's is ${first.sequence}`;
    const id = deduplication?.explicitId ?? deduplication?.bodyHash;
    if (first.id !== id || (first.scope === 'messageGroup' && first.groupId !== content.groupId))
      return `a duplicate of sequence ${first.sequence}, which has the id ${first.id} in ${first.groupId}`;
    const { incarnation, purgeWatermark, timeMillis } = found.get(call.id)!;
    if (first.incarnation === incarnation && first.sequence < purgeWatermark)
      return `a duplicate of sequence ${first.sequence}, whose id was purged before`;
    if ((ledger.incarnations.get(first.incarnation)?.endedAt ?? call.arrivedAt) < call.arrivedAt)
      return `a duplicate of a message of a queue that was deleted before`;
    // What forgets goes by manifest time, which may lag behind a store that was out of reach.
    if (first.incarnation === incarnation && first.acceptedAtMillis + DEDUPLICATION_MILLIS <= timeMillis)
      return `a duplicate of sequence ${first.sequence}, whose id was free again`;
    return undefined;
  };
  const wrongOutcome = (call: Call, entry: SendEntry, outcome: SendEntryOutcome | undefined) => {
    const life = ledger.sent.get(markerOf(entry.content.body));
    if (outcome?.kind === 'sent')
      return life && outcome.sequenceNumber !== digitsOf(life.sequence)
        ? `sent with sequence number ${outcome.sequenceNumber}, it has ${life.sequence}`
        : undefined;
    if (life) return `${outcome?.kind}, and it was stored`;
    return outcome?.kind === 'duplicate' ? wrongDuplicate(call, entry, outcome) : undefined;
  };
  return {
    name: "a duplicate is answered with the first one's id and sequence number",
    diff: ({ after, incarnation: { queue }, landing }) => {
      if (!resolveFifo(after.attributes)?.contentBasedDeduplication) notByContentAt.set(queue, landing.at);
      return undefined;
    },
    arrived: ({ id, request }) => {
      if (request.kind !== 'send' || !isFifoQueue(request.queue)) return undefined;
      const state = ledger.queues.get(request.queue)?.state;
      found.set(id, {
        incarnation: state?.incarnation,
        purgeWatermark: state?.purgeWatermark ?? 0,
        timeMillis: state?.timeMillis ?? 0,
        byContent: state !== undefined && resolveFifo(state.attributes)?.contentBasedDeduplication === true,
      });
      return undefined;
    },
    answered: (call, answer) => {
      const { request, id } = call;
      if (request.kind !== 'send' || !isFifoQueue(request.queue)) return undefined;
      if (answer.kind !== 'done' || !('entries' in answer)) return undefined;
      const outcomes = answer.entries as readonly SendEntryOutcome[];
      for (const [index, entry] of request.entries.entries()) {
        const wrong = wrongOutcome(call, entry, outcomes[index]);
        if (wrong) return `call ${id}: ${markerOf(entry.content.body)} is called ${wrong}`;
      }
      const refused = outcomes.filter(({ kind }) => kind === 'no-deduplication-id').length;
      if (refused === 0) return undefined;
      if (refused < outcomes.length) return `call ${id}: refused for want of an id in part`;
      if (request.entries.every(({ deduplication }) => deduplication?.explicitId !== undefined))
        return `call ${id}: refused for want of an id, and all have one`;
      const offAt = notByContentAt.get(request.queue) ?? 0;
      return found.get(id)!.byContent && offAt < call.arrivedAt
        ? `call ${id}: refused for want of an id, and ${request.queue} goes by content`
        : undefined;
    },
  };
}

function digitsOf(sequence: number): string {
  return String(sequence).padStart(20, '0');
}
