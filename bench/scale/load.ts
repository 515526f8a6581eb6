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
const hotGroup = 'hot';
export const senderId = 'AIDABENCH';

/** Of the load's messages, and of which groups they are on a FIFO queue. */
export interface LoadShape {
  readonly bodyBytes: number;
  readonly groups?: GroupShape | undefined;
}

export interface GroupShape {
  readonly count: number;
  /** The share of messages that are of one group besides. */
  readonly hotShare: number;
}

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
  readonly #shape: LoadShape;

  constructor(
    to: { readonly service: QueueService; readonly scheduler: Scheduler; readonly draw: Draw },
    queue: string,
    shape: LoadShape,
  ) {
    this.#service = to.service;
    this.#scheduler = to.scheduler;
    this.#draw = to.draw;
    this.#queue = queue;
    this.#shape = shape;
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
      Array.from({ length: batch }, () => this.#entry()),
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

  #entry(): SendEntry {
    const { bodyBytes, groups } = this.#shape;
    if (groups === undefined) return entryOf(bodyBytes);
    const isHot = this.#draw.unit() < groups.hotShare;
    return fifoEntryOf(bodyBytes, isHot ? hotGroup : groupName(this.#draw.below(groups.count)));
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

export function groupName(n: number): string {
  return `group-${n}`;
}

let ids = 0;

/** With a deduplication id that no other message has. */
export function fifoEntryOf(bodyBytes: number, groupId: string): SendEntry {
  const { content, contentBytes } = entryOf(bodyBytes);
  const deduplication = { explicitId: `id-${ids++}`, bodyHash: '' };
  return { content: { ...content, groupId }, contentBytes, delaySeconds: undefined, deduplication };
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
