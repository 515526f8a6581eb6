/** SendMessage: answered after the message is durable in the bucket. */
import type { SendMessageRequest, SendMessageResult } from '@aws-sdk/client-sqs';
import { isFifoName } from '../../../core/queue-arn.ts';
import { invalidParameter, queueDoesNotExist } from '../errors.ts';
import { noDeduplicationId } from '../fifo-message.ts';
import { messageAttributeShape } from '../message-attributes.ts';
import { identityOf, parseMessage, sendDigests, systemAttributeShape } from '../message-content.ts';
import { action, targetQueue } from './action.ts';

export const sendMessage = action<SendMessageRequest, SendMessageResult>({
  shape: {
    members: {
      QueueUrl: 'string',
      MessageBody: 'string',
      DelaySeconds: 'integer',
      MessageAttributes: { map: messageAttributeShape },
      MessageSystemAttributes: { map: systemAttributeShape },
      MessageDeduplicationId: 'string',
      MessageGroupId: 'string',
    },
  },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const message = await parseMessage(request, isFifoName(name), call);
    if (message.kind === 'refused') return message;
    const outcome = await call.service.send(name, call.senderId, [message.entry]);
    if (outcome.kind === 'queue-missing') return queueDoesNotExist;
    const [sent] = outcome.entries;
    if (sent === undefined) throw new Error('a send of one message answered for none');
    if (sent.kind === 'too-large') {
      return invalidParameter(
        `One or more parameters are invalid. Reason: Message must be shorter than ${sent.maximumBytes} bytes.`,
      );
    }
    if (sent.kind === 'no-deduplication-id') return noDeduplicationId;
    return { kind: 'done', output: { ...sendDigests(message, call), ...identityOf(sent) } };
  },
});
