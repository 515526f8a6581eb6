/**
 * ReceiveMessage. The abort signal goes down with the call, so that a poll whose client has gone leases nothing; an
 * answer that was made but never reached the client is given back by `undelivered`.
 */
import type { Message, ReceiveMessageRequest, ReceiveMessageResult } from '@aws-sdk/client-sqs';
import { md5OfMessageAttributes } from '../../../core/md5.ts';
import { isFifoName } from '../../../core/queue-arn.ts';
import type { ReceivedMessage } from '../../../engine/queue-api.ts';
import { invalidValue, queueDoesNotExist, type Refusal, refusal } from '../errors.ts';
import { checkId } from '../fifo-message.ts';
import { selectMessageAttributes, wireMessageAttributes } from '../message-attributes.ts';
import type { Answer } from '../shape.ts';
import { type ActionCall, action, targetQueue } from './action.ts';

function checkRanges(request: ReceiveMessageRequest): Refusal | undefined {
  const { MaxNumberOfMessages: max, WaitTimeSeconds: wait, VisibilityTimeout: visibility } = request;
  if (max !== undefined && (max < 1 || max > 10)) {
    return invalidValue(max, 'MaxNumberOfMessages', 'Must be between 1 and 10, if provided.');
  }
  if (wait !== undefined && (wait < 0 || wait > 20)) {
    return invalidValue(wait, 'WaitTimeSeconds', 'Must be >= 0 and <= 20, if provided.');
  }
  if (visibility !== undefined && (visibility < 0 || visibility > 43_200)) {
    return invalidValue(visibility, 'VisibilityTimeout', 'Must be >= 0 and <= 43200, if provided.');
  }
  return undefined;
}

/** Every system attribute the message has; which are shown is the request's to say. */
function systemAttributes(received: ReceivedMessage): readonly (readonly [name: string, value: string])[] {
  const { message, receiveCount, firstReceivedAtMillis, sequenceNumber } = received;
  const optional: readonly (readonly [string, string | undefined])[] = [
    ['AWSTraceHeader', message.traceHeader],
    ['MessageGroupId', message.groupId],
    ['MessageDeduplicationId', message.deduplicationId],
    ['SequenceNumber', sequenceNumber],
    ['DeadLetterQueueSourceArn', message.deadLetterSourceArn],
  ];
  return [
    ['SenderId', message.senderId],
    ['ApproximateFirstReceiveTimestamp', String(Math.floor(firstReceivedAtMillis))],
    ['ApproximateReceiveCount', String(receiveCount)],
    ['SentTimestamp', String(Math.floor(message.sentAtMillis))],
    ...optional.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  ];
}

function answerOf(
  received: ReceivedMessage,
  systemNames: ReadonlySet<string>,
  filters: readonly string[],
  call: ActionCall,
): Answer<Message> {
  const { message, receiptHandle } = received;
  const attributes = selectMessageAttributes(message.attributes, filters);
  const digest = md5OfMessageAttributes(attributes, call.md5Hex);
  const shown =
    systemNames.size === 0
      ? []
      : systemAttributes(received).filter(([name]) => systemNames.has('All') || systemNames.has(name));
  return {
    MessageId: message.messageId,
    ReceiptHandle: receiptHandle,
    MD5OfBody: call.md5Hex(message.body),
    Body: message.body,
    ...(shown.length === 0 ? {} : { Attributes: Object.fromEntries(shown) }),
    ...(digest === undefined
      ? {}
      : { MD5OfMessageAttributes: digest, MessageAttributes: wireMessageAttributes(attributes) }),
  };
}

export const receiveMessage = action<ReceiveMessageRequest, ReceiveMessageResult>({
  shape: {
    members: {
      QueueUrl: 'string',
      AttributeNames: { list: 'string' },
      MessageSystemAttributeNames: { list: 'string' },
      MessageAttributeNames: { list: 'string' },
      MaxNumberOfMessages: 'integer',
      VisibilityTimeout: 'integer',
      WaitTimeSeconds: 'integer',
      ReceiveRequestAttemptId: 'string',
    },
  },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const refused =
      checkRanges(request) ??
      (isFifoName(name) ? checkId(request.ReceiveRequestAttemptId, 'ReceiveRequestAttemptId') : undefined);
    if (refused !== undefined) return refused;
    const outcome = await call.service.receive(name, {
      maxMessages: request.MaxNumberOfMessages ?? 1,
      waitSeconds: request.WaitTimeSeconds,
      visibilityTimeoutSeconds: request.VisibilityTimeout,
      attemptId: isFifoName(name) ? request.ReceiveRequestAttemptId : undefined,
      signal: call.signal,
    });
    if (outcome.kind === 'queue-missing') return queueDoesNotExist;
    if (outcome.kind === 'over-limit') {
      return refusal('OverLimit', 'Too many messages in flight: the queue has reached 120000.');
    }
    if (outcome.messages.length === 0) return { kind: 'done', output: {} };
    const systemNames = new Set<string>([
      ...(request.AttributeNames ?? []),
      ...(request.MessageSystemAttributeNames ?? []),
    ]);
    const filters = request.MessageAttributeNames ?? [];
    const messages = outcome.messages.map((received) => answerOf(received, systemNames, filters, call));
    return { kind: 'done', output: { Messages: messages }, undelivered: outcome.undelivered };
  },
});
