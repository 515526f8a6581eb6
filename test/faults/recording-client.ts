/**
 * Calls on one queue through several nodes, recorded as a history (history.ts). A call that is refused with 503 or has
 * no answer is recorded as one that may have taken effect; any other refusal is a mistake and is kept as one.
 */
import { performance } from 'node:perf_hooks';
import type { Delete, Delivery, Erasure, History, LostReceive, Send, VisibilityChange } from './history.ts';
import type { SeededRandom } from './random.ts';
import { type Answer, call, type SqsBody } from './signed-client.ts';

export interface RecordedHistory extends History {
  readonly sends: Send[];
  readonly deliveries: Delivery[];
  readonly deletes: Delete[];
  readonly lostReceives: LostReceive[];
  readonly visibilityChanges: VisibilityChange[];
  readonly erasures: Erasure[];
  /** Refusals that no client should see. */
  readonly mistakes: string[];
  refusedForNow: number;
  withoutAnswer: number;
  queueMissing: number;
}

export function emptyHistory(): RecordedHistory {
  return {
    sends: [],
    deliveries: [],
    deletes: [],
    lostReceives: [],
    visibilityChanges: [],
    erasures: [],
    mistakes: [],
    refusedForNow: 0,
    withoutAnswer: 0,
    queueMissing: 0,
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

/** How a client differs from one that picks a node for every call and waits for each answer. */
export interface ClientHabits {
  /** Named in its deliveries. */
  readonly queue?: string;
  /** After this it hangs up; what it was given then may be taken back. */
  readonly patienceMillis?: (waitSeconds: number) => number;
  /** The probability that the next call goes to the same node, unless this one had no answer. */
  readonly loyalty?: number;
  /** The queue is deleted and created again by others. */
  readonly queueMayBeMissing?: boolean;
  /** Refusals that are right. */
  readonly mayBeRefused?: (action: string, message: string) => boolean;
}

/** Of calls that have no answer to show. */
export type Failures = Pick<RecordedHistory, 'mistakes' | 'refusedForNow' | 'withoutAnswer' | 'queueMissing'>;

export interface Asked {
  readonly began: number;
  readonly ended: number;
  /** undefined: it may have taken effect or not. */
  readonly body: SqsBody | undefined;
  /** Surely without effect: nobody listened, there was no queue, or it was rightly refused. */
  readonly inVain: boolean;
  readonly hungUp: boolean;
}

export function recordingClient(
  nodes: readonly string[],
  QueueUrl: string,
  history: RecordedHistory,
  random: SeededRandom,
  habits: ClientHabits = {},
): QueueClient {
  const { ask, tell } = asker(nodes, QueueUrl, history, random, habits);
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
        history.sends.push({
          body: nameOf(each),
          messageId: ids[n],
          delaySeconds: DelaySeconds,
          began,
          ended,
        });
      return ids.filter((id) => id !== undefined).length;
    },

    async receive({ limit, waitSeconds, visibilitySeconds }) {
      const input = {
        MaxNumberOfMessages: limit,
        WaitTimeSeconds: waitSeconds,
        VisibilityTimeout: visibilitySeconds,
        MessageSystemAttributeNames: ['ApproximateReceiveCount'],
      };
      const { began, ended, body, inVain, hungUp } = await ask('ReceiveMessage', input, waitSeconds);
      if (body === undefined && !inVain) history.lostReceives.push({ began, ended, hungUp });
      const deliveries = (body?.Messages ?? []).map((message) => ({
        body: nameOf(message.Body),
        messageId: message.MessageId,
        receiptHandle: message.ReceiptHandle,
        receiveCount: Number(message.Attributes?.ApproximateReceiveCount),
        visibilitySeconds,
        ...(habits.queue === undefined ? {} : { queue: habits.queue }),
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
      history.visibilityChanges.push({
        receiptHandle: ReceiptHandle,
        began: now(),
        seconds: VisibilityTimeout,
      });
      // A message that was deleted or delivered again meanwhile is rightly refused.
      await tell('ChangeMessageVisibility', { ReceiptHandle, VisibilityTimeout });
    },
  };
}

/** Calls on one queue, and what became of them. */
export function asker(
  nodes: readonly string[],
  QueueUrl: string,
  history: Failures,
  random: SeededRandom,
  habits: ClientHabits,
) {
  const { patienceMillis = () => undefined, loyalty = 0 } = habits;
  const anyNode = () => nodes[random.between(0, nodes.length - 1)] as string;
  let node = anyNode();
  /** @returns whether it was surely in vain. */
  const noteFailure = (action: string, answer: Exclude<Answer, { kind: 'ok' }>): boolean => {
    if (answer.kind === 'lost') {
      history.withoutAnswer += 1;
      return answer.reason.includes('ECONNREFUSED');
    }
    const missing = habits.queueMayBeMissing && answer.type.endsWith('#QueueDoesNotExist');
    if (missing) history.queueMissing += 1;
    else if (answer.status === 503) history.refusedForNow += 1;
    else if (habits.mayBeRefused?.(action, answer.message)) return true;
    else history.mistakes.push(`${action}: ${answer.status} ${answer.type} ${answer.message}`);
    return missing === true;
  };
  const ask = async (
    action: string,
    input: Readonly<Record<string, unknown>>,
    waitSeconds = 0,
  ): Promise<Asked> => {
    if (!random.chance(loyalty)) node = anyNode();
    const began = now();
    const answer = await call(node, action, { QueueUrl, ...input }, patienceMillis(waitSeconds));
    const ended = now();
    if (answer.kind === 'ok') return { began, ended, body: answer.body, inVain: false, hungUp: false };
    if (answer.kind === 'lost') node = anyNode();
    const inVain = noteFailure(action, answer);
    // Seen from the node, a connection that broke by itself is one that we closed.
    const hungUp = answer.kind === 'lost' && habits.patienceMillis !== undefined;
    return { began, ended, body: undefined, inVain, hungUp };
  };

  /** What is answered is of no interest. */
  const tell = async (action: string, input: Readonly<Record<string, unknown>>): Promise<void> => {
    await call(anyNode(), action, { QueueUrl, ...input }, patienceMillis(0));
  };
  return { ask, tell };
}
