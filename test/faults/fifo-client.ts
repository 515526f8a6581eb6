/**
 * Calls on one FIFO queue through several nodes, recorded as a history of its groups (history-groups.ts). The body of a message is
 * its deduplication id. A handle whose time is over is rightly refused; any other refusal than 503 is a mistake.
 */

import type { LostReceive, VisibilityChange } from './history.ts';
import type { Attempt, GroupDelete, GroupDelivery, GroupHistory } from './history-groups.ts';
import type { SeededRandom } from './random.ts';
import {
  type Asked,
  asker,
  type ClientHabits,
  type Failures,
  now,
  type ReceiveOptions,
} from './recording-client.ts';

export interface RecordedGroupHistory extends GroupHistory, Failures {
  readonly attempts: Attempt[];
  readonly deliveries: GroupDelivery[];
  readonly deletes: GroupDelete[];
  readonly lostReceives: LostReceive[];
  readonly visibilityChanges: VisibilityChange[];
  calls: number;
  /** Handles of deliveries whose time was over. */
  expiredHandles: number;
}

export function emptyGroupHistory(): RecordedGroupHistory {
  return {
    attempts: [],
    deliveries: [],
    deletes: [],
    lostReceives: [],
    visibilityChanges: [],
    mistakes: [],
    refusedForNow: 0,
    withoutAnswer: 0,
    queueMissing: 0,
    calls: 0,
    expiredHandles: 0,
  };
}

export interface NewMessage {
  readonly id: string;
  readonly group: string;
}

export interface FifoClient {
  /** @returns the ids that were not acknowledged. */
  send(messages: readonly NewMessage[]): Promise<ReadonlySet<string>>;
  receive(options: ReceiveOptions): Promise<readonly GroupDelivery[]>;
  /** @returns the handles of which it is not known what became of their messages. */
  remove(receiptHandles: readonly string[]): Promise<readonly string[]>;
  setVisibility(receiptHandles: readonly string[], seconds: number): Promise<void>;
}

const isExpiry = (message: string | undefined): boolean =>
  message?.includes('The receipt handle has expired') === true;

export function fifoClient(
  nodes: readonly string[],
  QueueUrl: string,
  history: RecordedGroupHistory,
  random: SeededRandom,
  habits: ClientHabits = {},
): FifoClient {
  const mayBeRefused = (action: string, message: string) => action === 'DeleteMessage' && isExpiry(message);
  const { ask, tell } = asker(nodes, QueueUrl, history, random, { ...habits, mayBeRefused });
  return {
    async send(messages) {
      const entries = messages.map(entryOf);
      const { Id: _, ...alone } = entries[0]!;
      const asked =
        messages.length === 1 && random.chance(0.7)
          ? await ask('SendMessage', alone)
          : await ask('SendMessageBatch', { Entries: entries });
      return noteAttempts(history, messages, asked);
    },

    async receive({ limit, waitSeconds, visibilitySeconds }) {
      const input = {
        MaxNumberOfMessages: limit,
        WaitTimeSeconds: waitSeconds,
        VisibilityTimeout: visibilitySeconds,
        MessageSystemAttributeNames: ['All'],
      };
      const asked = await ask('ReceiveMessage', input, waitSeconds);
      return noteDeliveries(history, asked, visibilitySeconds);
    },

    async remove(receiptHandles) {
      const Entries = receiptHandles.map((ReceiptHandle, n) => ({ Id: `${n}`, ReceiptHandle }));
      const asked =
        receiptHandles.length === 1 && random.chance(0.5)
          ? await ask('DeleteMessage', { ReceiptHandle: receiptHandles[0] })
          : await ask('DeleteMessageBatch', { Entries });
      return noteDeletes(history, receiptHandles, asked);
    },

    async setVisibility(receiptHandles, seconds) {
      const began = now();
      for (const receiptHandle of receiptHandles)
        history.visibilityChanges.push({ receiptHandle, began, seconds });
      const Entries = receiptHandles.map((ReceiptHandle, n) => ({
        Id: `${n}`,
        ReceiptHandle,
        VisibilityTimeout: seconds,
      }));
      // Of messages that were deleted or delivered again meanwhile it is rightly refused.
      await tell('ChangeMessageVisibilityBatch', { Entries });
    },
  };
}

function entryOf({ id, group }: NewMessage, n: number) {
  return { Id: `${n}`, MessageBody: id, MessageGroupId: group, MessageDeduplicationId: id };
}

function noteAttempts(
  history: RecordedGroupHistory,
  messages: readonly NewMessage[],
  { began, ended, body }: Asked,
): ReadonlySet<string> {
  for (const failed of body?.Failed ?? []) history.mistakes.push(`SendMessageBatch: ${failed.Code}`);
  const answers = body?.MessageId === undefined ? (body?.Successful ?? []) : [{ ...body, Id: '0' }];
  const left = new Set(messages.map(({ id }) => id));
  for (const [n, { id, group }] of messages.entries()) {
    const { MessageId, SequenceNumber = '' } = answers.find(({ Id }) => Id === `${n}`) ?? {};
    const accepted =
      MessageId === undefined ? {} : { accepted: { messageId: MessageId, sequence: SequenceNumber } };
    if (MessageId !== undefined) left.delete(id);
    history.attempts.push({ id, group, began, ended, ...accepted });
  }
  return left;
}

function noteDeliveries(
  history: RecordedGroupHistory,
  { began, ended, body, inVain, hungUp }: Asked,
  visibilitySeconds: number,
): readonly GroupDelivery[] {
  if (body === undefined && !inVain) history.lostReceives.push({ began, ended, hungUp });
  const call = history.calls++;
  const deliveries = (body?.Messages ?? []).map(
    ({ Body, MessageId, ReceiptHandle, Attributes = {} }, place): GroupDelivery => ({
      body: Body === Attributes.MessageDeduplicationId ? Body : `damaged ${Body}`,
      messageId: MessageId,
      receiptHandle: ReceiptHandle,
      receiveCount: Number(Attributes.ApproximateReceiveCount),
      group: Attributes.MessageGroupId ?? '',
      sequence: Attributes.SequenceNumber ?? '',
      visibilitySeconds,
      call,
      place,
      began,
      ended,
    }),
  );
  history.deliveries.push(...deliveries);
  return deliveries;
}

function noteDeletes(
  history: RecordedGroupHistory,
  receiptHandles: readonly string[],
  { began, ended, body, inVain }: Asked,
): readonly string[] {
  const failed = new Map((body?.Failed ?? []).map((each) => [each.Id, each]));
  for (const [n, receiptHandle] of receiptHandles.entries()) {
    const failure = failed.get(`${n}`);
    if (failure && !isExpiry(failure.Message))
      history.mistakes.push(`DeleteMessageBatch: ${failure.Code} ${failure.Message}`);
    const refused = failure !== undefined || inVain;
    if (failure) history.expiredHandles += 1;
    const acknowledged = body !== undefined && !refused;
    history.deletes.push({ receiptHandle, acknowledged, refused, began, ended });
  }
  return body === undefined ? receiptHandles : [];
}
