/** Messages and queues for tests of FIFO queues with exact values (one-queue.ts). */
import type { Command, NewMessage } from '../../src/core/command.ts';
import { newMessage, OneQueue } from './one-queue.ts';

/** `id`: deduplicates; else each message is one of its own. */
export function messageIn(groupId: string, body: string, id?: string): NewMessage {
  const message = newMessage(body, { groupId });
  return { ...message, deduplication: { explicitId: id ?? message.messageId, bodyHash: '' } };
}

export const sendIn = (groupId: string, ...bodies: string[]): Command => ({
  kind: 'send',
  entries: bodies.map((body) => ({ message: messageIn(groupId, body), delaySeconds: undefined })),
});

export const fifoQueue = (attributes: Readonly<Record<string, string>> = {}) =>
  new OneQueue({ FifoQueue: 'true', ...attributes });

/** Bodies of the tail leave for segments at once. */
export function withoutTail(queue: OneQueue): OneQueue {
  queue.limits = { ...queue.limits, tailBytesMax: 0 };
  return queue;
}
