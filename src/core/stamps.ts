/**
 * The stamp that a message's retention counts from: its send, or, on a FIFO queue, its move from another queue. What a
 * consumer sees as SentTimestamp stays as it is.
 */
import type { StoredMessage } from './message.ts';

type Stamped = Pick<StoredMessage, 'sentAtMillis' | 'movedAtMillis'>;

export function stampOf({ sentAtMillis, movedAtMillis }: Stamped): number {
  return movedAtMillis ?? sentAtMillis;
}

/** Of a body that was uploaded before the swap which named it. */
export function withStampShifted(message: StoredMessage, shiftMillis: number): StoredMessage {
  if (shiftMillis === 0) return message;
  const { sentAtMillis, movedAtMillis } = message;
  return movedAtMillis === undefined
    ? { ...message, sentAtMillis: sentAtMillis + shiftMillis }
    : { ...message, movedAtMillis: movedAtMillis + shiftMillis };
}
