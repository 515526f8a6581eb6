/**
 * Simulated clients: each loops over actions drawn by its weights until the calls of the run are used up. They send,
 * receive (short and long polls, some hung up on), and settle what they hold: delete, delete in batches, delete late or
 * twice or through another node, extend, give back at once, or forget. Some change attributes, purge, or delete and
 * create queues.
 */
import type { SendEntry, VisibilityEntry } from '../../src/engine/queue-api.ts';
import type { Cluster } from './cluster.ts';
import {
  accountId,
  type ClientAction,
  type ClientConfig,
  type QueueConfig,
  region,
  type SimConfig,
} from './config.ts';
import { drawGroup } from './fair-weather.ts';
import { drawFifoPart, isFifoQueue } from './fifo.ts';
import type { CallRequest, Reply } from './history.ts';
import type { Prng } from './prng.ts';
import type { Scheduler } from './scheduler.ts';

const callTimeoutMillis = 30_000;
const heldMax = 40;

export interface ClientWorld {
  readonly scheduler: Scheduler;
  readonly config: SimConfig;
  readonly cluster: Cluster;
  /** Whether the safety phase goes on. */
  goesOn(): boolean;
}

interface Held {
  readonly queue: string;
  readonly handle: string;
}

export class SimClient {
  readonly #world: ClientWorld;
  readonly #index: number;
  readonly #config: ClientConfig;
  readonly #draw: Prng;
  readonly #held: Held[] = [];
  #sends = 0;

  constructor(world: ClientWorld, index: number, draw: Prng) {
    this.#world = world;
    this.#index = index;
    this.#config = world.config.clients[index]!;
    this.#draw = draw;
  }

  async run(): Promise<void> {
    const { scheduler } = this.#world;
    while (this.#world.goesOn()) {
      await scheduler.sleep(this.#config.thinkMillis * 2 * this.#draw.unit());
      await this.#act();
    }
  }

  #act(): Promise<unknown> {
    const queue = this.#draw.pick(this.#world.config.queues);
    switch (this.#draw.weighted<ClientAction | 'task'>({ task: 0, ...this.#config.weights })) {
      case 'send':
        return this.#send(queue);
      case 'receive':
        return this.#receive(queue);
      case 'settle':
        return this.#held.length > 0 ? this.#settle() : this.#receive(queue);
      case 'attributes':
        return this.#changeAttributes(queue);
      case 'purge':
        return this.#call({ kind: 'purge', queue: queue.name });
      case 'recreate':
        return this.#recreate(queue);
      case 'look':
        return this.#call({ kind: 'look', queue: queue.name });
      case 'task':
        return this.#task();
    }
  }

  #task(): Promise<Reply> {
    const { name, tasks } = this.#world.config.queues.find((queue) => queue.tasks)!;
    if (this.#draw.chance(0.2)) return this.#call({ kind: 'cancel-task', queue: name });
    const destination = this.#draw.pick(tasks!.destinations);
    const messagesPerSecond = this.#draw.pick(tasks!.rates);
    return this.#call({ kind: 'start-task', queue: name, request: { destination, messagesPerSecond } });
  }

  #call(request: CallRequest, hangUpMillis?: number): Promise<Reply> {
    const { cluster, config } = this.#world;
    const roams = this.#config.roams && this.#draw.chance(0.5);
    const node = roams ? this.#draw.between(0, config.nodes.length - 1) : this.#config.home;
    const options = {
      timeoutMillis: callTimeoutMillis,
      ...(hangUpMillis === undefined ? {} : { hangUpMillis }),
    };
    return cluster.call(this.#index, node, request, options);
  }

  #send({ name, fifo, fair }: QueueConfig): Promise<Reply> {
    const count = this.#draw.chance(0.7) ? 1 : this.#draw.between(2, 10);
    const call = ++this.#sends;
    const group = fair && drawGroup(this.#draw, fair);
    const entries = Array.from({ length: count }, (_, index): SendEntry => {
      const marker = `m${this.#index}.${call}.${index}|`;
      const size = this.#draw.pick(this.#world.config.bodyBytes);
      const body = marker.padEnd(size, 'x');
      const delaySeconds = this.#draw.chance(0.1) ? this.#draw.pick([0, 1, 10]) : undefined;
      const content = { body, attributes: new Map(), traceHeader: undefined, groupId: group };
      if (!fifo) return { content, contentBytes: body.length, delaySeconds };
      const { groupId, deduplication } = drawFifoPart(this.#draw, fifo, marker);
      return {
        content: { ...content, groupId },
        contentBytes: body.length,
        delaySeconds: undefined,
        deduplication,
      };
    });
    return this.#call({ kind: 'send', queue: name, entries });
  }

  async #receive({ name }: QueueConfig): Promise<void> {
    const waitSeconds = this.#draw.pick([0, 0, undefined, 1, 5, 20]);
    const hangsUp = this.#draw.chance(this.#world.config.faults.hangUp);
    const reply = await this.#call(
      {
        kind: 'receive',
        queue: name,
        request: {
          maxMessages: this.#draw.pick([1, 1, 5, 10]),
          waitSeconds,
          visibilityTimeoutSeconds: this.#draw.chance(0.2) ? this.#draw.pick([0, 1, 10]) : undefined,
        },
      },
      hangsUp ? this.#draw.pick([5, 50, 300, 3_000]) * this.#draw.unit() : undefined,
    );
    if (reply.kind === 'lost' || reply.answer.kind !== 'done' || !('messages' in reply.answer)) return;
    for (const { receiptHandle } of reply.answer.messages)
      this.#held.push({ queue: name, handle: receiptHandle });
    while (this.#held.length > heldMax) this.#held.shift();
  }

  async #settle(): Promise<void> {
    const kind = this.#draw.weighted({
      delete: this.#config.deletes,
      batch: this.#config.deletes,
      extend: 0.2,
      giveBack: 0.1,
      forget: 1 - this.#config.deletes,
    });
    const held = this.#draw.pick(this.#held);
    switch (kind) {
      case 'delete': {
        await this.#delete(held.queue, [held]);
        // Some programs delete twice, and a repeated delete must change nothing.
        if (this.#draw.chance(0.1)) await this.#delete(held.queue, [held]);
        return;
      }
      case 'batch':
        return this.#delete(held.queue, this.#held.filter(({ queue }) => queue === held.queue).slice(0, 10));
      case 'extend':
      case 'giveBack': {
        const timeout = kind === 'giveBack' ? 0 : this.#draw.pick([1, 10, 60]);
        const entry: VisibilityEntry = { receiptHandle: held.handle, visibilityTimeoutSeconds: timeout };
        await this.#call({ kind: 'visibility', queue: held.queue, entries: [entry] });
        return;
      }
      case 'forget':
        this.#held.splice(this.#held.indexOf(held), 1);
    }
  }

  async #delete(queue: string, held: readonly Held[]): Promise<void> {
    const reply = await this.#call({ kind: 'delete', queue, handles: held.map(({ handle }) => handle) });
    if (reply.kind !== 'answer' || reply.answer.kind !== 'done') return;
    if (this.#draw.chance(0.1)) return;
    for (const each of held) {
      const at = this.#held.indexOf(each);
      if (at >= 0) this.#held.splice(at, 1);
    }
  }

  #changeAttributes(queue: QueueConfig): Promise<Reply> {
    const change = this.#draw.pick([
      { VisibilityTimeout: String(this.#draw.pick([0, 1, 5, 30])) },
      { DelaySeconds: String(this.#draw.pick([0, 0, 2])) },
      { ReceiveMessageWaitTimeSeconds: String(this.#draw.pick([0, 3])) },
      queue.deadLetterTo === undefined ? { VisibilityTimeout: '3' } : this.#redrive(queue),
      ...(isFifoQueue(queue.name) ? this.#deduplicationChanges() : []),
    ]);
    return this.#call({ kind: 'attributes', queue: queue.name, attributes: change });
  }

  #deduplicationChanges() {
    return [
      { DeduplicationScope: this.#draw.pick(['queue', 'messageGroup']) },
      { ContentBasedDeduplication: this.#draw.pick(['true', 'true', 'false']) },
    ];
  }

  #redrive(queue: QueueConfig): Readonly<Record<string, string>> {
    return { RedrivePolicy: this.#draw.chance(0.2) ? '' : redrivePolicyOf(queue, this.#draw.between(1, 3)) };
  }

  async #recreate(queue: QueueConfig): Promise<void> {
    await this.#call({ kind: 'delete-queue', queue: queue.name });
    await this.#world.scheduler.sleep(this.#draw.pick(this.#world.config.recreateMillis) * this.#draw.unit());
    await this.#call(createRequest(queue, 2));
  }
}

export function createRequest(queue: QueueConfig, maxReceiveCount: number): CallRequest {
  const redrive =
    queue.deadLetterTo === undefined ? {} : { RedrivePolicy: redrivePolicyOf(queue, maxReceiveCount) };
  return { kind: 'create', queue: queue.name, attributes: { ...queue.attributes, ...redrive } };
}

function redrivePolicyOf({ deadLetterTo }: QueueConfig, maxReceiveCount: number): string {
  const deadLetterTargetArn = `arn:aws:sqs:${region}:${accountId}:${deadLetterTo}`;
  return JSON.stringify({ deadLetterTargetArn, maxReceiveCount });
}
