/** SendMessageBatch: good entries are stored in one commit, bad ones fail alone; both lists keep the request's order. */
import type {
  BatchResultErrorEntry,
  SendMessageBatchRequest,
  SendMessageBatchRequestEntry,
  SendMessageBatchResult,
  SendMessageBatchResultEntry,
} from '@aws-sdk/client-sqs';
import { isFifoName } from '../../../core/queue-arn.ts';
import type { SendEntryOutcome } from '../../../engine/queue-api.ts';
import { batchAnswer, checkBatch, failedEntry } from '../batch.ts';
import { invalidParameter, queueDoesNotExist, type Refusal, refusal } from '../errors.ts';
import { checkGroups, noDeduplicationId } from '../fifo-message.ts';
import { messageAttributeShape } from '../message-attributes.ts';
import {
  contentBytesOf,
  identityOf,
  type ParsedMessage,
  parseMessage,
  sendDigests,
  systemAttributeShape,
} from '../message-content.ts';
import type { Answer } from '../shape.ts';
import { type ActionCall, action, targetQueue } from './action.ts';

/** SQS's bound on all entries together, content bytes. */
const BATCH_BYTES_MAX = 1_048_576;

function checkTotal(entries: readonly SendMessageBatchRequestEntry[]): Refusal | undefined {
  const total = entries.reduce((sum, entry) => sum + contentBytesOf(entry), 0);
  return total <= BATCH_BYTES_MAX
    ? undefined
    : refusal(
        'BatchRequestTooLong',
        `Batch requests cannot be longer than ${BATCH_BYTES_MAX} bytes. You have sent ${total} bytes.`,
      );
}

interface BatchEntry {
  readonly id: string | undefined;
  readonly message: ParsedMessage | Refusal;
}

/** Where one message of a FIFO queue has no deduplication id, none is stored and the whole request refused. */
function answerOf(batch: readonly BatchEntry[], outcomes: readonly SendEntryOutcome[], call: ActionCall) {
  const successful: Answer<SendMessageBatchResultEntry>[] = [];
  const failed: Answer<BatchResultErrorEntry>[] = [];
  let next = 0;
  for (const { id, message } of batch) {
    if (message.kind === 'refused') {
      failed.push(failedEntry(id, message));
      continue;
    }
    const outcome = outcomes[next];
    next += 1;
    if (outcome === undefined) throw new Error('a batch was answered for fewer entries than it sent');
    if (outcome.kind === 'sent' || outcome.kind === 'duplicate') {
      successful.push({ Id: id, ...identityOf(outcome), ...sendDigests(message, call) });
    } else if (outcome.kind === 'no-deduplication-id') return noDeduplicationId;
    else {
      const reason = `Reason: Message must be shorter than ${outcome.maximumBytes} bytes.`;
      failed.push(failedEntry(id, invalidParameter(`One or more parameters cannot be validated. ${reason}`)));
    }
  }
  return { kind: 'done', output: batchAnswer(successful, failed) } as const;
}

export const sendMessageBatch = action<SendMessageBatchRequest, SendMessageBatchResult>({
  shape: {
    members: {
      QueueUrl: 'string',
      Entries: {
        list: {
          members: {
            Id: 'string',
            MessageBody: 'string',
            DelaySeconds: 'integer',
            MessageAttributes: { map: messageAttributeShape },
            MessageSystemAttributes: { map: systemAttributeShape },
            MessageDeduplicationId: 'string',
            MessageGroupId: 'string',
          },
        },
      },
    },
  },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const entries = request.Entries ?? [];
    const fifo = isFifoName(name);
    const refused =
      checkBatch(entries, 'SendMessageBatchRequestEntry') ??
      (fifo ? checkGroups(entries) : undefined) ??
      checkTotal(entries);
    if (refused !== undefined) return refused;
    const batch = await Promise.all(
      entries.map(async (entry) => ({ id: entry.Id, message: await parseMessage(entry, fifo, call) })),
    );
    const good = batch.flatMap(({ message }) => (message.kind === 'parsed' ? [message.entry] : []));
    if (good.length === 0) return answerOf(batch, [], call);
    const outcome = await call.service.send(name, call.senderId, good);
    if (outcome.kind === 'queue-missing') return queueDoesNotExist;
    return answerOf(batch, outcome.entries, call);
  },
});
