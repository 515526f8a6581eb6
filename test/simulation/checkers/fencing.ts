/**
 * Answers about handles are true: after an answered delete its delivery holds nothing any more, and a handle is called
 * superseded only when it is. A token that lost its message never gets it back, so looking at the answer suffices.
 */
import { decodeReceiptHandle, type ReceiptHandle } from '../../../src/core/receipt-handle.ts';
import type { Ledger } from '../ledger.ts';
import type { DiffChecker } from './check.ts';

export function fencingChecker(ledger: Ledger): DiffChecker {
  const holds = (handle: ReceiptHandle) => {
    const life = ledger.incarnations.get(handle.incarnation);
    if (!life || life.endedAt !== undefined) return false;
    return life.state.deliveries.get(handle.sequence)?.token === handle.token;
  };
  return {
    name: 'an answered delete is durable, and a valid handle is never called superseded',
    answered: ({ request, id }, answer) => {
      if (answer.kind !== 'done' || !('entries' in answer)) return undefined;
      if (request.kind === 'delete') {
        for (const [index, text] of request.handles.entries()) {
          // Refused: it may hold it still, for nobody else has it yet.
          if (answer.entries[index]?.kind === 'expired') continue;
          const handle = decodeReceiptHandle(text);
          // A delete sent to another queue than the handle's changes nothing, rightly.
          if (!handle || ledger.incarnations.get(handle.incarnation)?.queue !== request.queue) continue;
          if (holds(handle))
            return `call ${id}: the delete of sequence ${handle.sequence} was answered and its delivery still holds it`;
        }
      } else if (request.kind === 'visibility') {
        for (const [index, { receiptHandle }] of request.entries.entries()) {
          const handle = decodeReceiptHandle(receiptHandle);
          if (!handle || ledger.incarnations.get(handle.incarnation)?.queue !== request.queue) continue;
          if (answer.entries[index]?.kind === 'not-available' && holds(handle))
            return `call ${id}: the handle of sequence ${handle.sequence} was called superseded and holds it`;
        }
      }
      return undefined;
    },
  };
}
