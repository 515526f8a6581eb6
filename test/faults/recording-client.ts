/**
 * Calls on one queue through several nodes, recorded as a history (history.ts). A call that is refused with 503 or has
 * no answer is recorded as one that may have taken effect; any other refusal is a mistake and is kept as one.
 */
import { performance } from 'node:perf_hooks';
import type { Delete, Delivery, History, Interval, Send } from './history.ts';
import type { SeededRandom } from './random.ts';
import { type Answer, call, type SqsBody } from './signed-client.ts';

export interface RecordedHistory extends History {
  readonly sends: Send[];
  readonly deliveries: Delivery[];
  readonly deletes: Delete[];
  readonly lostReceives: Interval[];
  /** Refusals that no client should see. */
  readonly mistakes: string[];
  refusedForNow: number;
  withoutAnswer: number;
}

export function emptyHistory(): RecordedHistory {
  return {
    sends: [],
    deliveries: [],
    deletes: [],
    lostReceives: [],
    mistakes: [],
    refusedForNow: 0,
    withoutAnswer: 0,
  };
}

export const now = (): number => Math.round(performance.now() * 10) / 10;

/** A body of that many bytes which tells its length by itself; the part before the dots names it in the history. */
export function bodyOf(name: string, bytes: number): string {
  return `${name}-${bytes}`.padEnd(bytes, '.');
}

function nameOf(body: string): string {
  const name = body.replace(/\.+$/, '');
  return body.length === Number(name.slice(name.lastIndexOf('-') + 1)) ? name : `damaged ${name}`;
}

export interface QueueClient {
  /** @returns how many were acknowledged. */
  send(bodies: readonly string[], delaySeconds: number): Promise<number>;
  receive(options: ReceiveOptions): Promise<readonly Delivery[]>;
  /** @returns the handles whose deletion was not acknowledged. */
  remove(receiptHandles: readonly string[]): Promise<readonly string[]>;
  setVisibility(receiptHandle: string, seconds: number): Promise<void>;
}

export interface ReceiveOptions {
  readonly limit: number;
  readonly waitSeconds: number;
  readonly visibilitySeconds: number;
}

export function recordingClient(
  nodes: readonly string[],
  QueueUrl: string,
  history: RecordedHistory,
  random: SeededRandom,
): QueueClient {
  /** undefined: it may have taken effect or not. */
  const usable = (action: string, answer: Answer): SqsBody | undefined => {
    if (answer.kind === 'ok') return answer.body;
    if (answer.kind === 'lost') history.withoutAnswer += 1;
    else if (answer.status === 503) history.refusedForNow += 1;
    else history.mistakes.push(`${action}: ${answer.status} ${answer.type} ${answer.message}`);
    return undefined;
  };
  const ask = async (action: string, input: Readonly<Record<string, unknown>>) => {
    const node = nodes[random.between(0, nodes.length - 1)] as string;
    const began = now();
    const body = usable(action, await call(node, action, { QueueUrl, ...input }));
    return { began, ended: now(), body };
  };

  return {
    async send(bodies, DelaySeconds) {
      const single = bodies.length === 1 && random.chance(0.7);
      const Entries = bodies.map((MessageBody, n) => ({ Id: `${n}`, MessageBody, DelaySeconds }));
      const { began, ended, body } = single
        ? await ask('SendMessage', { MessageBody: bodies[0], DelaySeconds })
        : await ask('SendMessageBatch', { Entries });
      for (const failed of body?.Failed ?? []) history.mistakes.push(`SendMessageBatch: ${failed.Code}`);
      const ids = single ? [body?.MessageId] : bodies.map(() => undefined as string | undefined);
      for (const entry of body?.Successful ?? []) ids[Number(entry.Id)] = entry.MessageId;
      for (const [n, each] of bodies.entries())
        history.sends.push({ body: nameOf(each), messageId: ids[n], began, ended });
      return ids.filter((id) => id !== undefined).length;
    },

    async receive({ limit, waitSeconds, visibilitySeconds }) {
      const { began, ended, body } = await ask('ReceiveMessage', {
        MaxNumberOfMessages: limit,
        WaitTimeSeconds: waitSeconds,
        VisibilityTimeout: visibilitySeconds,
        MessageSystemAttributeNames: ['ApproximateReceiveCount'],
      });
      if (body === undefined) history.lostReceives.push({ began, ended });
      const deliveries = (body?.Messages ?? []).map((message) => ({
        body: nameOf(message.Body),
        messageId: message.MessageId,
        receiptHandle: message.ReceiptHandle,
        receiveCount: Number(message.Attributes?.ApproximateReceiveCount),
        began,
        ended,
      }));
      history.deliveries.push(...deliveries);
      return deliveries;
    },

    async remove(receiptHandles) {
      const single = receiptHandles.length === 1 && random.chance(0.5);
      const Entries = receiptHandles.map((ReceiptHandle, n) => ({ Id: `${n}`, ReceiptHandle }));
      const { began, ended, body } = single
        ? await ask('DeleteMessage', { ReceiptHandle: receiptHandles[0] })
        : await ask('DeleteMessageBatch', { Entries });
      for (const failed of body?.Failed ?? []) history.mistakes.push(`DeleteMessageBatch: ${failed.Code}`);
      const done = new Set(single && body !== undefined ? ['0'] : body?.Successful?.map((entry) => entry.Id));
      const left: string[] = [];
      for (const [n, receiptHandle] of receiptHandles.entries()) {
        const acknowledged = done.has(`${n}`);
        history.deletes.push({ receiptHandle, acknowledged, began, ended });
        if (!acknowledged) left.push(receiptHandle);
      }
      return left;
    },

    async setVisibility(ReceiptHandle, VisibilityTimeout) {
      // A message that was deleted or delivered again meanwhile is rightly refused.
      const node = nodes[random.between(0, nodes.length - 1)] as string;
      await call(node, 'ChangeMessageVisibility', { QueueUrl, ReceiptHandle, VisibilityTimeout });
    },
  };
}
