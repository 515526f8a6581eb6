/**
 * No acknowledged send is lost before it is durable; none happens twice; what was refused never appears; bodies come
 * to the bucket as they were sent.
 */
import type { CallAnswer, Checker } from '../history.ts';
import { type LandingDiff, type Ledger, markerOf } from '../ledger.ts';
import type { DiffChecker } from './check.ts';

export function sendsChecker(ledger: Ledger): DiffChecker {
  const bodies = new Map<string, string>();
  const refused = new Set<string>();
  return {
    name: 'an acknowledged send is durable, and happens once',
    arrived: ({ request }) => {
      if (request.kind === 'send')
        for (const { content } of request.entries) bodies.set(markerOf(content.body), content.body);
      return undefined;
    },
    diff: ({ born, incarnation }: LandingDiff) => {
      for (const life of born) {
        const marker = markerOf(life.message.body);
        if (bodies.get(marker) !== life.message.body) return `message ${marker} is not as it was sent`;
        if (refused.has(marker)) return `message ${marker} was refused and appears in ${incarnation.queue}`;
        if (life.moved) continue;
        const first = ledger.sent.get(marker);
        if (first)
          return `message ${marker} was sent twice: sequence ${first.sequence} of ${first.incarnation} and ${life.sequence}`;
        ledger.sent.set(marker, life);
      }
      return undefined;
    },
    answered: ({ request, id }, answer: CallAnswer) => {
      if (request.kind !== 'send') return undefined;
      if (answer.kind === 'queue-missing')
        for (const { content } of request.entries) {
          const marker = markerOf(content.body);
          if (ledger.sent.has(marker))
            return `call ${id}: ${marker} is there, and the queue was said to be missing`;
          refused.add(marker);
        }
      if (answer.kind !== 'done' || !('entries' in answer)) return undefined;
      for (const [index, { content }] of request.entries.entries()) {
        const marker = markerOf(content.body);
        const entry = answer.entries[index];
        if (entry?.kind !== 'sent') {
          refused.add(marker);
          continue;
        }
        const life = ledger.sent.get(marker);
        if (!life) return `call ${id}: ${marker} was acknowledged and is not in the bucket`;
        if (!('messageId' in entry) || entry.messageId !== life.message.messageId)
          return `call ${id}: ${marker} was acknowledged under another id`;
      }
      return undefined;
    },
  } satisfies Checker & DiffChecker;
}
