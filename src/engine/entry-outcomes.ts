/** The outcomes of one command as the façade tells them, entry by entry in the order of the call. */
import type { CommandOutcome, Leased, NewMessage, SendResult, VisibilityResult } from '../core/command.ts';
import { encodeReceiptHandle, type ReceiptHandle } from '../core/receipt-handle.ts';
import type {
  DeleteEntryOutcome,
  ReceivedMessage,
  SendEntryOutcome,
  VisibilityEntryOutcome,
} from './queue-api.ts';

/** As SQS shows them, which are a little shorter than 2 ** 64 in decimal. */
const sequenceDigits = 20;

function sequenceNumber(sequence: number): string {
  return String(sequence).padStart(sequenceDigits, '0');
}

export function sentOutcome(result: SendResult, message: NewMessage, fifo: boolean): SendEntryOutcome {
  switch (result.kind) {
    case 'sent': {
      const { messageId } = message;
      if (!fifo) return { kind: 'sent', messageId };
      return { kind: 'sent', messageId, sequenceNumber: sequenceNumber(result.sequence) };
    }
    case 'duplicate': {
      const { messageId, sequence } = result;
      return { kind: 'duplicate', messageId, sequenceNumber: sequenceNumber(sequence) };
    }
    default:
      return result;
  }
}

export function received(leased: Leased, fifo: boolean): ReceivedMessage {
  const { message, handle, receiveCount, firstReceivedAtMillis } = leased;
  return {
    message,
    receiptHandle: encodeReceiptHandle(handle),
    receiveCount,
    firstReceivedAtMillis,
    ...(fifo ? { sequenceNumber: sequenceNumber(handle.sequence) } : {}),
  };
}

/** `decoded`: undefined where a handle was malformed; the others went into the command. */
export function deleteOutcomes(
  decoded: readonly (ReceiptHandle | undefined)[],
  { expired }: CommandOutcome & { readonly kind: 'done' },
): readonly DeleteEntryOutcome[] {
  const refused = new Set(expired);
  let index = 0;
  return decoded.map((handle): DeleteEntryOutcome => {
    if (handle === undefined) return { kind: 'malformed-handle' };
    return { kind: refused.has(index++) ? 'expired' : 'done' };
  });
}

export function visibilityOutcomes(
  decoded: readonly (ReceiptHandle | undefined)[],
  results: readonly VisibilityResult[],
): readonly VisibilityEntryOutcome[] {
  let index = 0;
  return decoded.map(
    (handle): VisibilityEntryOutcome => ({
      kind: handle === undefined ? 'malformed-handle' : results[index++]!,
    }),
  );
}
