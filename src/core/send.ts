/**
 * Sends: the next sequence numbers, stamped with the upper bound of the store's time. The queue's own size limit and
 * delay are looked up here, since only the manifest that the swap replaces knows them; and so is whether a FIFO queue
 * has accepted the message's deduplication id already.
 */
import type { Command, CommandResult, NewMessage, SendResult } from './command.ts';
import { deduplicationKeyOf, type TakenIds } from './deduplication.ts';
import type { Draft } from './draft.ts';
import type { FifoAttributes } from './fifo-attributes.ts';
import type { StoredMessage } from './message.ts';
import { groupOf } from './message-groups.ts';
import { inlineBytesOf } from './message-size.ts';

type Send = Command & { readonly kind: 'send' };

export function send(draft: Draft, command: Send, taken: TakenIds): CommandResult {
  const { fifo } = draft.resolved;
  if (fifo) return sendOnce(draft, command, fifo, taken);
  let effect = false;
  const entries = command.entries.map(({ message, delaySeconds }): SendResult => {
    const refused = tooLarge(draft, message);
    if (refused) return refused;
    effect = true;
    const sequence = append(
      draft,
      message,
      message.deduplication?.explicitId,
      delaySeconds ?? draft.resolved.delaySeconds,
    );
    // Its content is the same object in every attempt: hashed once.
    draft.fairness.sent(
      sequence,
      message.content.groupId === undefined ? undefined : groupOf(message.content),
    );
    return { kind: 'sent', sequence };
  });
  return { outcome: { kind: 'sent', entries }, effect };
}

/** All that can be refused as a whole is refused before the first of them is stored. */
function sendOnce(draft: Draft, command: Send, fifo: FifoAttributes, taken: TakenIds): CommandResult {
  const messages = command.entries.map(({ message }) => {
    const id = idOf(message, fifo);
    return { message, id, key: keyOf(message, id, fifo) };
  });
  if (messages.some(({ key }) => key === undefined)) {
    const entries = messages.map((): SendResult => ({ kind: 'no-deduplication-id' }));
    return { outcome: { kind: 'sent', entries }, effect: false };
  }
  if (messages.some(({ key }) => taken.find(key!) === 'unknown'))
    return { outcome: { kind: 'unreadable' }, effect: false };
  let effect = false;
  const entries = messages.map(({ message, id, key }): SendResult => {
    const refused = tooLarge(draft, message);
    if (refused) return refused;
    const first = taken.find(key!);
    if (typeof first === 'object')
      return { kind: 'duplicate', messageId: first.messageId, sequence: first.sequence };
    const sequence = append(draft, message, id, draft.resolved.delaySeconds);
    const acceptedAtMillis = draft.time.stampMillis;
    taken.take(key!, { sequence, messageId: message.messageId, acceptedAtMillis });
    effect = true;
    return { kind: 'sent', sequence };
  });
  return { outcome: { kind: 'sent', entries }, effect };
}

function idOf({ deduplication }: NewMessage, { contentBasedDeduplication }: FifoAttributes) {
  return deduplication?.explicitId ?? (contentBasedDeduplication ? deduplication?.bodyHash : undefined);
}

function keyOf({ content }: NewMessage, id: string | undefined, fifo: FifoAttributes) {
  return id === undefined ? undefined : deduplicationKeyOf(fifo, content.groupId, id);
}

function tooLarge(draft: Draft, { contentBytes }: NewMessage): SendResult | undefined {
  const { maximumMessageBytes } = draft.resolved;
  return contentBytes > maximumMessageBytes
    ? { kind: 'too-large', maximumBytes: maximumMessageBytes }
    : undefined;
}

function append(
  draft: Draft,
  message: NewMessage,
  deduplicationId: string | undefined,
  delaySeconds: number,
): number {
  const sequence = draft.nextSequence++;
  const stored: StoredMessage = {
    ...message.content,
    messageId: message.messageId,
    senderId: message.senderId,
    sentAtMillis: draft.time.stampMillis,
    deadLetterSourceArn: undefined,
    ...(deduplicationId !== undefined && { deduplicationId }),
  };
  draft.append(sequence, stored, inlineBytesOf(stored, message.contentBytes), message);
  if (delaySeconds > 0) draft.delayed.set(sequence, draft.time.nowMillis + delaySeconds * 1000);
  else draft.makeReady(sequence, sequence + 1);
  return sequence;
}
