/**
 * What a receive may and must return, and what it does to the model. Several calls that ran at the same time are
 * judged together: which of them was first shows in the receive counts.
 */
import assert from 'node:assert/strict';
import type { ReceivedMessage } from '../../../src/engine/queue-api.ts';
import {
  later,
  type ModelMessage,
  type ModelQueue,
  type Span,
  type SqsModel,
  shortOf,
  staleMillis,
} from './sqs-model.ts';

export interface ReceiveCall {
  /** Of the node that was asked. */
  readonly life: number;
  readonly maxMessages: number;
  readonly visibilitySeconds: number | undefined;
  readonly waitSeconds: number | undefined;
  readonly span: Span;
  readonly messages: readonly ReceivedMessage[];
}

/** A waiting receive is answered this soon after its node could know of a message. */
const promptMillis = 500;

export class ReceiveJudge {
  readonly #model: SqsModel;
  readonly #queue: ModelQueue;
  readonly #delivered = new Set<ModelMessage>();

  constructor(model: SqsModel, queue: ModelQueue) {
    this.#model = model;
    this.#queue = queue;
  }

  /** Checks the answers. What has to move by now is left to `moved`, since moves take a moment. */
  judge(calls: readonly ReceiveCall[]): void {
    const known = new Map(this.#model.messagesOf(this.#queue).map((message) => [message, { ...message }]));
    const deliveries = calls.flatMap((call) => call.messages.map((received) => ({ call, received })));
    deliveries.sort((a, b) => a.received.receiveCount - b.received.receiveCount);
    for (const { call, received } of deliveries) this.#delivery(call, received);
    for (const call of calls) {
      // Of several, one may have waited for what another took first.
      if (calls.length === 1) this.#promptness(call, known);
      for (const message of known.keys()) this.#absence(call, message);
    }
  }

  /** Letters that were received too often have left, as far as the calls had room for them. True when there were any. */
  moved(calls: readonly ReceiveCall[], now: number): boolean {
    const redrive = this.#model.redrive(this.#queue);
    if (!redrive) return false;
    const target = this.#model.queues.get(redrive.targetName);
    let any = false;
    for (const message of this.#model.messagesOf(this.#queue)) {
      if (message.receiveCount < redrive.maxReceiveCount) continue;
      // One call takes a message once; of several, one may have met what another had given back by then.
      const delivered = this.#delivered.has(message);
      if (delivered && calls.length === 1) continue;
      if (!calls.some(({ span }) => message.visible.begin <= span.end)) continue;
      any = true;
      const met = !delivered && calls.some((call) => this.#mustMeet(call, message));
      // An intent to a queue that is gone comes back, under another token.
      message.holderInDoubt = true;
      message.visible = { begin: message.visible.begin, end: Math.max(message.visible.end, now) };
      message.touchedBy = undefined;
      message.touchedAt = now;
      if (!target) continue;
      // A node may also take it for expired, and leave that to others to commit.
      const surely = met && !message.mayBeGone && !this.#model.deleted.has(target.name);
      message.places = surely ? [target] : [this.#queue, target];
      if (surely) message.holder = undefined;
    }
    return any;
  }

  #delivery(call: ReceiveCall, received: ReceivedMessage): void {
    const { body, messageId, senderId, sentAtMillis } = received.message;
    const name = `${shortOf(body)} from ${this.#queue.name}`;
    const message = this.#model.messagesOf(this.#queue).find((candidate) => candidate.body === body);
    assert.ok(message, `${name} is not there any more, or never was, but came`);
    assert.equal(messageId, message.id ?? messageId, `${name} keeps its id`);
    assert.equal(sentAtMillis, message.sentAtMillis ?? sentAtMillis, `${name} keeps its stamp`);
    assert.ok(sentAtMillis >= message.sent.begin, `${name} is stamped no earlier than it was sent`);
    assert.equal(senderId, 'AIDATEST');
    assert.ok(message.visible.begin <= call.span.end, `${name} comes before it is visible`);
    const leastCount = message.receiveCount + (message.countInDoubt ? 0 : 1);
    assert.ok(received.receiveCount >= leastCount, `receive count of ${name}: ${received.receiveCount}`);
    assert.ok(
      received.receiveCount <= message.receiveCount + 1,
      `receive count of ${name}: ${received.receiveCount}`,
    );
    const redrive = this.#model.redrive(this.#queue);
    if (redrive && this.#model.queues.has(redrive.targetName))
      assert.ok(received.receiveCount <= redrive.maxReceiveCount, `${name} comes more often than it may`);
    const seconds = call.visibilitySeconds ?? this.#model.seconds(this.#queue, 'VisibilityTimeout');
    const delivery = {
      handle: received.receiptHandle,
      message,
      queue: this.#queue,
      leased: call.span,
      number: received.receiveCount,
    };
    this.#model.deliveries.push(delivery);
    this.#delivered.add(message);
    Object.assign(message, {
      id: messageId,
      sentAtMillis,
      places: [this.#queue],
      mayBeGone: false,
      visible: later(call.span, seconds * 1000),
      receiveCount: received.receiveCount,
      countInDoubt: false,
      holder: delivery,
      holderInDoubt: false,
      touchedBy: call.life,
      touchedAt: call.span.end,
    } satisfies Partial<ModelMessage>);
  }

  #absence(call: ReceiveCall, message: ModelMessage): void {
    if (this.#delivered.has(message) || !this.#model.isSure(message)) return;
    const redrive = this.#model.redrive(this.#queue);
    if (redrive && message.receiveCount >= redrive.maxReceiveCount) return;
    const name = `${shortOf(message.body)} of ${this.#queue.name}`;
    assert.ok(
      !this.#mustMeet(call, message),
      `${name} is visible, there was room for it, and it did not come`,
    );
  }

  /** Whether the call had to find it: it was visible, the node had to know it, and there was room. */
  #mustMeet(call: ReceiveCall, message: ModelMessage): boolean {
    if (call.messages.length >= call.maxMessages) return false;
    // What was leased rests on the newest state.
    if (call.messages.length > 0) return message.visible.end <= call.span.begin;
    const knownAt = this.#knownAt(call, message);
    return knownAt <= ((this.#waitSeconds(call) ?? 0) > 0 ? call.span.end - promptMillis : call.span.begin);
  }

  #promptness(call: ReceiveCall, known: ReadonlyMap<ModelMessage, ModelMessage>): void {
    const { begin, end } = call.span;
    if (call.messages.length === 0) {
      const waitSeconds = this.#waitSeconds(call) ?? 0;
      assert.ok(end - begin >= waitSeconds * 1000 - 1, 'an empty receive waits as long as it was asked to');
      return;
    }
    const bodies = new Set(call.messages.map(({ message }) => message.body));
    const came = [...known].filter(([{ body }]) => bodies.has(body)).map(([, before]) => before);
    const first = Math.min(...came.map((message) => this.#knownAt(call, message)));
    const lateMillis = end - Math.max(begin, first);
    assert.ok(lateMillis <= promptMillis, `a waiting receive is answered ${Math.round(lateMillis)} ms late`);
  }

  #knownAt(call: ReceiveCall, { visible, touchedBy, touchedAt }: ModelMessage): number {
    return touchedBy === call.life ? visible.end : Math.max(visible.end, touchedAt + staleMillis);
  }

  /** Undefined: the queue's own, and the node may not know yet. */
  #waitSeconds({ waitSeconds, life, span }: ReceiveCall): number | undefined {
    if (waitSeconds !== undefined) return waitSeconds;
    const { attributesSetBy, attributesSetAt } = this.#queue;
    if (attributesSetBy !== life && span.begin < attributesSetAt + staleMillis) return undefined;
    return this.#model.seconds(this.#queue, 'ReceiveMessageWaitTimeSeconds');
  }
}
