/**
 * What clients of SQS may expect of a few queues, as a plain set of messages: the model that the whole service is
 * compared with. It shares no code with src and knows nothing of commits.
 *
 * Where time or a move leaves the answer open, the model keeps both possibilities until an answer decides: a time is a
 * span, a message that may have become a dead letter has two places, one whose retention may be over may be gone.
 * So it never foretells an order or an instant, but loss, doubling and return are always seen.
 */
import assert from 'node:assert/strict';

/** Between the decision of a node, whose wall clock is off by some, and what this clock says. */
export const clockSlackMillis = 300;
/** How long a node's short poll may rest on what it knew of a queue; how long its long poll may miss another's send. */
export const staleMillis = 2_500;

export interface Span {
  readonly begin: number;
  readonly end: number;
}

export interface ModelQueue {
  readonly name: string;
  readonly attributes: Map<string, string>;
  /** When they were set last, and by which life: others may not know yet. */
  attributesSetAt: number;
  attributesSetBy: number;
}

export interface ModelMessage {
  readonly body: string;
  readonly sent: Span;
  id: string | undefined;
  sentAtMillis: number | undefined;
  /** One, or two while it may have moved from the first to the second. */
  places: readonly ModelQueue[];
  mayBeGone: boolean;
  /** It becomes visible within this span. */
  visible: Span;
  receiveCount: number;
  /** It may be one less: given back by a node to which it had expired by then. */
  countInDoubt: boolean;
  /** The handle that may delete it. */
  holder: Delivery | undefined;
  /** A move under way and back may have voided that handle. */
  holderInDoubt: boolean;
  /** The life of the node that changed it last, and when: others may not know yet. */
  touchedBy: number | undefined;
  touchedAt: number;
}

/** What a client holds after a receive. */
export interface Delivery {
  readonly handle: string;
  readonly message: ModelMessage;
  readonly queue: ModelQueue;
  readonly leased: Span;
  readonly number: number;
}

export interface Redrive {
  readonly targetName: string;
  readonly maxReceiveCount: number;
}

const defaults: ReadonlyMap<string, string> = new Map([
  ['VisibilityTimeout', '30'],
  ['DelaySeconds', '0'],
  ['ReceiveMessageWaitTimeSeconds', '0'],
  ['MaximumMessageSize', '1048576'],
  ['MessageRetentionPeriod', '345600'],
]);

export class SqsModel {
  readonly queues = new Map<string, ModelQueue>();
  readonly messages = new Set<ModelMessage>();
  /** Every handle that was ever given out. */
  readonly deliveries: Delivery[] = [];
  /** Names that a queue was deleted under, when and by which life. */
  readonly deleted = new Map<string, { readonly at: number; readonly by: number }>();
  #bodies = 0;

  newBody(bytes: number): string {
    this.#bodies++;
    return `m${this.#bodies}`.padEnd(bytes, '.');
  }

  attribute(queue: ModelQueue, name: string): string | undefined {
    return queue.attributes.get(name) ?? defaults.get(name);
  }

  seconds(queue: ModelQueue, name: string): number {
    return Number(this.attribute(queue, name));
  }

  redrive(queue: ModelQueue): Redrive | undefined {
    const text = queue.attributes.get('RedrivePolicy');
    if (text === undefined) return undefined;
    const policy = JSON.parse(text) as { deadLetterTargetArn: string; maxReceiveCount: number };
    const targetName = policy.deadLetterTargetArn.split(':').at(-1)!;
    // Nothing moves out of a queue that is its own dead-letter queue.
    if (targetName === queue.name) return undefined;
    return { targetName, maxReceiveCount: policy.maxReceiveCount };
  }

  /** May be in that queue. */
  messagesOf(queue: ModelQueue): ModelMessage[] {
    return [...this.messages].filter(({ places }) => places.includes(queue));
  }

  isSure(message: ModelMessage): boolean {
    return message.places.length === 1 && !message.mayBeGone;
  }

  /** Before and after anything that reads or changes attributes. */
  timePassed(now: number): void {
    for (const message of this.messages)
      for (const queue of message.places) {
        const retentionMillis = this.seconds(queue, 'MessageRetentionPeriod') * 1000;
        if (message.sent.begin + retentionMillis <= now) message.mayBeGone = true;
      }
  }

  deleteQueue(name: string, now: number, by: number): void {
    const queue = this.queues.get(name);
    assert.ok(queue);
    this.queues.delete(name);
    this.deleted.set(name, { at: now, by });
    this.clear(queue);
  }

  /** Every message in it ends; what may have been on its way to or from it may. */
  clear(queue: ModelQueue): void {
    for (const message of this.messagesOf(queue)) {
      message.places = message.places.filter((place) => place !== queue);
      message.mayBeGone = true;
      if (message.places.length === 0) this.messages.delete(message);
    }
  }

  send(
    queue: ModelQueue,
    body: string,
    delaySeconds: number | undefined,
    span: Span,
    by: number,
  ): ModelMessage {
    const delayMillis = (delaySeconds ?? this.seconds(queue, 'DelaySeconds')) * 1000;
    const message: ModelMessage = {
      body,
      sent: span,
      id: undefined,
      sentAtMillis: undefined,
      places: [queue],
      mayBeGone: false,
      visible: later(span, delayMillis),
      receiveCount: 0,
      countInDoubt: false,
      holder: undefined,
      holderInDoubt: false,
      touchedBy: by,
      touchedAt: span.end,
    };
    this.messages.add(message);
    return message;
  }

  /** The delete of a delivery through a queue was answered. */
  deleteBy(delivery: Delivery, through: ModelQueue): void {
    const { message } = delivery;
    if (!this.holds(delivery, through)) return;
    if (message.places.length === 1 && !message.holderInDoubt) this.messages.delete(message);
    else message.mayBeGone = true;
  }

  /** Whether the delivery is the last one of a message that may still be there. */
  holds(delivery: Delivery, through: ModelQueue): boolean {
    const { message, queue } = delivery;
    return (
      this.messages.has(message) &&
      message.holder === delivery &&
      queue === through &&
      message.places.includes(through)
    );
  }
}

/** A span that much later, with what clocks may differ by. */
export function later({ begin, end }: Span, millis: number): Span {
  return { begin: begin + millis - clockSlackMillis, end: end + millis + clockSlackMillis };
}

/** `m7`, of a message body with its padding. */
export function shortOf(body: string): string {
  return body.split('.')[0]!;
}
