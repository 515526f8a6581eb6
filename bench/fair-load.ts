/**
 * The load that fairness is measured by, in virtual time: groups that send a message a second each, and one that may send
 * a hundred times as much; workers on every node that take up to so many messages, work on all of them at once, and are
 * together too slow for all that is sent, but not for the quiet groups alone. The real engine, latencies of S3.
 */
import type { SendEntry } from '../src/engine/queue-api.ts';
import { MemoryStore } from '../src/store/memory-store.ts';
import { Scheduler } from '../test/simulation/scheduler.ts';
import { Draw } from './draw.ts';
import { bodyOf, numberOf, queue, waitSeconds, warmMillis } from './load-shape.ts';
import { originMillis, type SimulatedNode, simulatedNode } from './simulated-node.ts';
import { nearS3 } from './simulated-store.ts';

export interface FairLoadOptions {
  readonly seed: number;
  readonly nodes: number;
  readonly seconds: number;
  readonly quietGroups: number;
  /** Of each quiet group. */
  readonly quietPerSecond: number;
  /** 0: it is not there. */
  readonly busyPerSecond: number;
  readonly workersPerNode: number;
  readonly maxMessages: number;
  /** Of a job, on average; exponential. */
  readonly workMillis: number;
  readonly delaySeconds?: number;
  /** False: messages don't say what group they are of. */
  readonly grouped?: boolean;
}

export interface FairLoadResult {
  /** From the call of the send to the worker's hands, of the quiet groups' messages. */
  readonly quietMillis: readonly number[];
  readonly quietSent: number;
  /** Those of the busy one that were received. */
  readonly busyMillis: readonly number[];
  /** Sent and not received at the end. */
  readonly waiting: number;
  readonly manifestBytesMax: number;
  readonly received: number;
  readonly dollars: number;
  readonly gets: number;
  readonly getBytes: number;
  readonly puts: number;
}

const busy = 'busy';

export class FairLoad {
  readonly #options: FairLoadOptions;
  readonly #scheduler = new Scheduler();
  readonly #draw: Draw;
  readonly #nodes: readonly SimulatedNode[];
  readonly #sent = new Map<string, { readonly at: number; readonly group: string }>();
  readonly #quietMillis: number[] = [];
  readonly #busyMillis: number[] = [];
  #quietSent = 0;
  #serial = 0;
  #received = 0;
  #manifestBytesMax = 0;
  #measuring = false;

  constructor(options: FairLoadOptions) {
    this.#options = options;
    this.#draw = new Draw(options.seed * 1000);
    const bucket = new MemoryStore({ nowMillis: () => Math.floor(originMillis + this.#scheduler.now) });
    const putIfMatch = bucket.putIfMatch.bind(bucket);
    bucket.putIfMatch = (key, body, etag) => {
      this.#manifestBytesMax = Math.max(this.#manifestBytesMax, body.length);
      return putIfMatch(key, body, etag);
    };
    this.#nodes = Array.from({ length: options.nodes }, (_, index) =>
      simulatedNode(bucket, this.#scheduler, options.seed * 1000 + index + 1, nearS3, { lingerMillis: 100 }),
    );
  }

  async run(): Promise<FairLoadResult> {
    const { seconds, quietGroups, quietPerSecond, busyPerSecond, workersPerNode, nodes } = this.#options;
    const scheduler = this.#scheduler;
    void this.#nodes[0]!.engine.service.createQueue(queue, new Map());
    await scheduler.run(() => false, warmMillis);
    for (let n = 0; n < quietGroups; n++) this.#produce(`quiet${n}`, quietPerSecond);
    if (busyPerSecond > 0) this.#produce(busy, busyPerSecond);
    for (let node = 0; node < nodes; node++)
      for (let n = 0; n < workersPerNode; n++)
        scheduler.at(scheduler.now + this.#draw.between(0, this.#options.workMillis), () => {
          void this.#work(node);
        });
    await scheduler.run(() => false, 2 * warmMillis);
    this.#measuring = true;
    const before = this.#nodes.map(({ meter }) => meter.snapshot());
    await scheduler.run(() => false, 2 * warmMillis + seconds * 1000);
    const after = this.#nodes.map(({ meter }) => meter.snapshot());
    const sum = (of: (snapshot: (typeof after)[number]) => number) =>
      after.reduce((total, snapshot, node) => total + of(snapshot) - of(before[node]!), 0);
    return {
      quietMillis: this.#quietMillis,
      quietSent: this.#quietSent,
      busyMillis: this.#busyMillis,
      waiting: this.#sent.size,
      manifestBytesMax: this.#manifestBytesMax,
      received: this.#received,
      dollars: sum(({ dollars }) => dollars),
      gets: sum(({ classes }) => classes.get.requests),
      getBytes: sum(({ classes }) => classes.get.bytesDown),
      puts: sum(({ classes }) => classes.put.requests),
    };
  }

  #produce(group: string, perSecond: number): void {
    const scheduler = this.#scheduler;
    scheduler.at(scheduler.now + this.#draw.exponential(1000 / perSecond), () => {
      void this.#send(group);
      this.#produce(group, perSecond);
    });
  }

  async #send(group: string): Promise<void> {
    const number = String(++this.#serial);
    this.#sent.set(number, { at: this.#scheduler.now, group });
    if (this.#measuring && group !== busy) this.#quietSent++;
    const body = bodyOf(number);
    const entry: SendEntry = {
      content: {
        body,
        attributes: new Map(),
        traceHeader: undefined,
        groupId: this.#options.grouped === false ? undefined : group,
      },
      contentBytes: body.length,
      delaySeconds: this.#options.delaySeconds,
    };
    const { service } = this.#nodes[this.#draw.below(this.#nodes.length)]!.engine;
    const outcome = await service.send(queue, 'AIDABENCH', [entry]);
    if (outcome.kind !== 'done') throw new Error(outcome.kind);
  }

  async #work(node: number): Promise<void> {
    const { service } = this.#nodes[node]!.engine;
    const { maxMessages, workMillis } = this.#options;
    for (;;) {
      const signal = new AbortController().signal;
      const request = { maxMessages, waitSeconds, visibilityTimeoutSeconds: undefined, signal };
      const outcome = await service.receive(queue, request);
      if (outcome.kind !== 'done') throw new Error(outcome.kind);
      let lastMillis = 0;
      for (const { message, receiptHandle } of outcome.messages) {
        this.#note(numberOf(message.body));
        const millis = this.#draw.exponential(workMillis);
        lastMillis = Math.max(lastMillis, millis);
        this.#scheduler.at(this.#scheduler.now + millis, () => {
          void service.deleteMessages(queue, [receiptHandle]);
        });
      }
      if (lastMillis > 0) await this.#scheduler.sleep(lastMillis);
    }
  }

  #note(number: string): void {
    const sent = this.#sent.get(number);
    if (!sent) throw new Error(`message ${number} came twice`);
    this.#sent.delete(number);
    if (!this.#measuring) return;
    this.#received++;
    (sent.group === busy ? this.#busyMillis : this.#quietMillis).push(this.#scheduler.now - sent.at);
  }
}
