/**
 * The load under which every row is measured, on an empty queue first: 100 messages a second by clients that each send
 * ten, receive ten by a short poll, delete what they got, and do so again a second after the last time. A short poll
 * never waits for a message, so the time of its answer tells what the queue's state costs, and nothing else.
 */
import { type QueueService, type SendEntry, Unavailable } from '../../src/engine/queue-api.ts';
import type { Scheduler } from '../../test/simulation/scheduler.ts';
import type { Draw } from '../draw.ts';
import { Sizes } from './sizes.ts';

export const clients = 10;
export const batch = 10;
const everyMillis = 1_000;
export const senderId = 'AIDABENCH';

export class Load {
  readonly receiveMillis = new Sizes();
  readonly sendMillis = new Sizes();
  /** Received and deleted. */
  messages = 0;
  sent = 0;
  empty = 0;
  refused = 0;
  readonly #service: QueueService;
  readonly #queue: string;
  readonly #scheduler: Scheduler;
  readonly #draw: Draw;
  readonly #bodyBytes: number;

  constructor(
    to: { readonly service: QueueService; readonly scheduler: Scheduler; readonly draw: Draw },
    queue: string,
    bodyBytes: number,
  ) {
    this.#service = to.service;
    this.#scheduler = to.scheduler;
    this.#draw = to.draw;
    this.#queue = queue;
    this.#bodyBytes = bodyBytes;
  }

  /** Until the last answer has come. */
  async run(seconds: number): Promise<void> {
    const end = this.#scheduler.now + seconds * 1000;
    await Promise.all(Array.from({ length: clients }, () => this.#client(end)));
  }

  async #client(end: number): Promise<void> {
    const scheduler = this.#scheduler;
    let next = scheduler.now + this.#draw.between(0, everyMillis);
    while (next < end) {
      await scheduler.sleep(next - scheduler.now);
      try {
        await this.#cycle();
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        this.refused++;
      }
      next = Math.max(next + everyMillis * this.#draw.between(0.8, 1.2), scheduler.now);
    }
  }

  async #cycle(): Promise<void> {
    const scheduler = this.#scheduler;
    let began = scheduler.now;
    await this.#service.send(
      this.#queue,
      senderId,
      Array.from({ length: batch }, () => entryOf(this.#bodyBytes)),
    );
    this.sent += batch;
    this.sendMillis.add(scheduler.now - began);
    began = scheduler.now;
    const received = await receive(this.#service, this.#queue);
    if (received.length === 0) this.empty++;
    else this.receiveMillis.add(scheduler.now - began);
    await this.#service.deleteMessages(
      this.#queue,
      received.map(({ receiptHandle }) => receiptHandle),
    );
    this.messages += received.length;
  }
}

const bodies = new Map<number, string>();

export function entryOf(bodyBytes: number, delaySeconds?: number): SendEntry {
  let body = bodies.get(bodyBytes);
  if (body === undefined) {
    body = 'x'.repeat(bodyBytes);
    bodies.set(bodyBytes, body);
  }
  const content = { body, attributes: new Map(), traceHeader: undefined, groupId: undefined };
  return { content, contentBytes: bodyBytes, delaySeconds };
}

/** A short poll for ten. */
export async function receive(service: QueueService, queue: string, visibilityTimeoutSeconds?: number) {
  const outcome = await service.receive(queue, {
    maxMessages: batch,
    waitSeconds: 0,
    visibilityTimeoutSeconds,
    signal: new AbortController().signal,
  });
  if (outcome.kind !== 'done') throw new Error(`a receive was answered ${outcome.kind}`);
  return outcome.messages;
}
