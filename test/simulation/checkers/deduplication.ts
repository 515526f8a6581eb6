/**
 * A deduplication id is taken once in five minutes, in the scope of its queue: counted by the times of the manifests
 * exactly, and by the store's own clock never too short. A purge forgets all of them. What is stored says by what it was
 * deduplicated, and a letter has its own id.
 */

import { type FifoAttributes, resolveFifo } from '../../../src/core/fifo-attributes.ts';
import { DEDUPLICATION_MILLIS } from '../../../src/core/limits.ts';
import type { SendEntry } from '../../../src/engine/queue-api.ts';
import { isFifoQueue } from '../fifo.ts';
import { type LandingDiff, type MessageLife, markerOf } from '../ledger.ts';
import { storeMillisAt } from '../life.ts';
import type { Acceptance, Acceptances } from './acceptances.ts';
import type { Circumstances } from './all.ts';
import type { DiffChecker } from './check.ts';

interface Asked {
  readonly entry: SendEntry;
  readonly arrivedAt: number;
}

export function deduplicationChecker(
  accepted: Acceptances,
  world: Pick<Circumstances, 'liesTold' | 'sleepHidden'>,
): DiffChecker {
  const asked = new Map<string, Asked>();
  return {
    name: 'a deduplication id is taken once in five minutes',
    arrived: ({ request, arrivedAt }) => {
      if (request.kind === 'send' && isFifoQueue(request.queue))
        for (const entry of request.entries) asked.set(markerOf(entry.content.body), { entry, arrivedAt });
      return undefined;
    },
    diff: (diff) => {
      const { before, after, landing } = diff;
      const fifo = resolveFifo(after.attributes);
      if (!fifo) return undefined;
      if (before && before.purgeWatermark < after.purgeWatermark) accepted.forget(after.incarnation);
      const clocksAreRight = world.liesTold() === 0 && !world.sleepHidden();
      for (const life of diff.born) {
        const marker = markerOf(life.message.body);
        const of = `${marker} (sequence ${life.sequence} of ${diff.incarnation.queue})`;
        const send = asked.get(marker);
        const wrong = send ? wrongContent(life, send.entry, fifo) : 'nobody sent it';
        if (wrong) return `${of}: ${wrong}`;
        if (life.moved) continue;
        const acceptance = acceptanceOf(diff, life, fifo, send!.arrivedAt);
        const first = accepted.latest(acceptance);
        accepted.add(acceptance);
        if (!first) continue;
        const early = first.acceptedAtMillis + DEDUPLICATION_MILLIS - after.timeMillis;
        const truly = storeMillisAt(first.arrivedAt) + DEDUPLICATION_MILLIS - landing.storeMillis;
        if (early > 0 || (clocksAreRight && truly > 0))
          return `${of}: sequence ${first.sequence} took its id ${acceptance.id}, which is free again in ${Math.max(early, truly)} ms`;
      }
      return undefined;
    },
  };
}

function wrongContent(
  { message, moved }: MessageLife,
  { content, deduplication }: SendEntry,
  fifo: FifoAttributes,
): string | undefined {
  if (message.groupId !== content.groupId)
    return `it was sent to ${content.groupId}, and is of ${message.groupId}`;
  const sentUnder = deduplication?.explicitId ?? deduplication?.bodyHash;
  if (moved)
    return message.deduplicationId === message.messageId ? undefined : 'a letter has no id of its own';
  if (message.deduplicationId !== sentUnder) return `its id is ${message.deduplicationId}, not ${sentUnder}`;
  const byContent = deduplication?.explicitId === undefined;
  return byContent && !fifo.contentBasedDeduplication ? 'it has no id, and was accepted' : undefined;
}

function acceptanceOf(
  { after, landing }: LandingDiff,
  { message, sequence }: MessageLife,
  { deduplicationScope }: FifoAttributes,
  arrivedAt: number,
): Acceptance {
  return {
    incarnation: after.incarnation,
    sequence,
    messageId: message.messageId,
    id: message.deduplicationId!,
    groupId: message.groupId,
    scope: deduplicationScope,
    acceptedAtMillis: message.sentAtMillis,
    arrivedAt,
    node: landing.node,
  };
}
