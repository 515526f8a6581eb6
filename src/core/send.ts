/**
 * Sends: the next sequence numbers, stamped with the upper bound of the store's time. The queue's own size limit and
 * delay are looked up here, since only the manifest that the swap replaces knows them.
 */
import type { Command, CommandResult, NewMessage, SendResult } from './command.ts';
import type { Draft } from './draft.ts';
import type { StoredMessage } from './message.ts';
import { inlineBytesOf } from './message-size.ts';

export function send(draft: Draft, command: Command & { readonly kind: 'send' }): CommandResult {
  let effect = false;
  const entries = command.entries.map(({ message, delaySeconds }): SendResult => {
    const { maximumMessageBytes } = draft.resolved;
    if (message.contentBytes > maximumMessageBytes)
      return { kind: 'too-large', maximumBytes: maximumMessageBytes };
    const sequence = draft.nextSequence++;
    const stored = stamped(message, draft.time.stampMillis);
    draft.append(sequence, stored, inlineBytesOf(stored, message.contentBytes), message);
    const delayMillis = (delaySeconds ?? draft.resolved.delaySeconds) * 1000;
    if (delayMillis > 0) draft.delayed.set(sequence, draft.time.nowMillis + delayMillis);
    else draft.makeReady(sequence, sequence + 1);
    effect = true;
    return { kind: 'sent', sequence };
  });
  return { outcome: { kind: 'sent', entries }, effect };
}

function stamped(message: NewMessage, sentAtMillis: number): StoredMessage {
  return {
    ...message.content,
    messageId: message.messageId,
    senderId: message.senderId,
    sentAtMillis,
    deadLetterSourceArn: undefined,
  };
}
