/**
 * Clients in virtual time, as in the model of DESIGN.md section 3: messages come as a Poisson process to a node each;
 * a worker long-polls for up to 10, works on all of them at once (50 ms each, exponential), deletes each when it is
 * done and polls again after the last. Workers are plentiful: they are not what is measured.
 */
import { Unavailable } from '../src/engine/queue-api.ts';
import type { Engine } from '../src/engine/queue-service.ts';
import { MemoryStore } from '../src/store/memory-store.ts';
import { type MeterSnapshot, REQUEST_CLASSES, type RequestClass } from '../src/store/metered-store.ts';
import { Scheduler } from '../test/simulation/scheduler.ts';
import { Draw } from './draw.ts';
import {
  bodyOf,
  maxMessages,
  numberOf,
  queue,
  waitSeconds,
  warmMillis,
  workersBeginWithinMillis,
  workersOfEachNode,
  workMillis,
} from './load-shape.ts';
import { type EngineTuning, originMillis, type SimulatedNode, simulatedNode } from './simulated-node.ts';
import { type Distance, nearS3 } from './simulated-store.ts';

export interface WorkloadOptions {
  readonly seed: number;
  readonly nodes: number;
  readonly ratePerSecond: number;
  readonly tuning: EngineTuning;
  /** Measured; 5 s of warming up come before. */
  readonly seconds: number;
  /** Of each node to the store, nearS3 unless told. */
  readonly distances?: readonly Distance[];
  /** Share of the messages that the last node gets; the same for all unless told. */
  readonly lastNodeShare?: number;
  /** False: nobody consumes. */
  readonly consume?: boolean;
  /** 256 unless told. */
  readonly bodyBytes?: number;
  /** The others send all and receive nothing. */
  readonly lastOnlyConsumes?: boolean;
  /** So many messages lie in the queue first and stay ahead of those that come; sent before the measuring begins. */
  readonly standing?: number;
  /** The same to be consumed and nothing else: measured is until all are. */
  readonly backlog?: number;
  /** Workers of each node; unless told, half as many again as the rate needs. */
  readonly workersPerNode?: number;
}

export interface WorkloadResult {
  readonly sent: number;
  readonly deleted: number;
  /** Calls that a node refused for the store's sake. */
  readonly failed: number;
  readonly requests: Readonly<Record<RequestClass, number>>;
  readonly dollars: number;
  readonly lostSwaps: number;
  readonly sendMillis: readonly number[];
  /** From the call of the send to the worker's hands. */
  readonly endToEndMillis: readonly number[];
  /** Of each node: the longest time without a landed commit while it had something to commit. */
  readonly longestDroughtMillis: readonly number[];
  readonly commitsByNode: readonly number[];
}

export class Workload {
  readonly scheduler = new Scheduler();
  readonly #options: WorkloadOptions;
  readonly #draw: Draw;
  readonly #nodes: readonly SimulatedNode[];
  readonly #sendMillis: number[] = [];
  readonly #endToEndMillis: number[] = [];
  readonly #sentAt = new Map<string, number>();
  readonly #droughts: Drought[];
  #measuring = false;
  #sent = 0;
  #deleted = 0;
  #failed = 0;
  #backlog = 0;
  #serial = 0;

  constructor(options: WorkloadOptions) {
    this.#options = options;
    this.#draw = new Draw(options.seed * 1000);
    const bucket = new MemoryStore({ nowMillis: () => Math.floor(originMillis + this.scheduler.now) });
    this.#nodes = Array.from({ length: options.nodes }, (_, index) => {
      const distance = options.distances?.[index] ?? nearS3;
      return simulatedNode(bucket, this.scheduler, options.seed * 1000 + index + 1, distance, options.tuning);
    });
    this.#droughts = this.#nodes.map(() => new Drought(this.scheduler));
  }

  async run(): Promise<WorkloadResult> {
    const { seconds, ratePerSecond, backlog = 0, standing = 0, consume = true } = this.#options;
    const { scheduler } = this;
    await this.#settle(this.#nodes[0]!.engine.service.createQueue(queue, new Map()));
    const first = backlog + standing;
    for (; this.#backlog < first; this.#backlog += 10) this.#sendBatch();
    await this.#until(scheduler.now + (first > 0 ? first + 30_000 : 0));
    const begin = scheduler.now + (backlog > 0 ? 0 : warmMillis);
    const end = begin + seconds * 1000;
    if (ratePerSecond > 0) this.#produce(end);
    if (backlog === 0 && consume) this.#startWorkers();
    await this.#until(begin);
    this.#measuring = true;
    const before = this.#nodes.map(({ meter }) => meter.snapshot());
    const commitsBefore = this.#nodes.map(({ engine }) => engine.counters().commits);
    if (backlog > 0 && consume) this.#startWorkers();
    await scheduler.run(() => backlog > 0 && this.#deleted >= backlog, end);
    const after = this.#nodes.map(({ meter }) => meter.snapshot());
    return {
      ...difference(before, after),
      sent: this.#sent,
      deleted: this.#deleted,
      failed: this.#failed,
      sendMillis: this.#sendMillis,
      endToEndMillis: this.#endToEndMillis,
      longestDroughtMillis: this.#droughts.map((drought) => drought.longestMillis()),
      commitsByNode: this.#nodes.map(
        ({ engine }, index) => engine.counters().commits - commitsBefore[index]!,
      ),
    };
  }

  #until(millis: number): Promise<void> {
    return this.scheduler.run(() => false, millis);
  }

  async #settle<T>(promise: Promise<T>): Promise<void> {
    let settled = false;
    void promise.finally(() => {
      settled = true;
    });
    await this.scheduler.run(() => settled, 60_000);
  }

  #service(node: number): Engine['service'] {
    return this.#nodes[node]!.engine.service;
  }

  #produce(end: number): void {
    const { scheduler } = this;
    const next = () => {
      scheduler.at(scheduler.now + this.#draw.exponential(1000 / this.#options.ratePerSecond), () => {
        if (scheduler.now >= end) return;
        void this.#send(this.#drawNode());
        next();
      });
    };
    next();
  }

  #drawNode(): number {
    const { nodes, lastNodeShare, lastOnlyConsumes } = this.#options;
    if (lastOnlyConsumes) return this.#draw.below(nodes - 1);
    if (lastNodeShare === undefined) return this.#draw.below(nodes);
    return this.#draw.unit() < lastNodeShare ? nodes - 1 : this.#draw.below(nodes - 1);
  }

  async #send(node: number): Promise<void> {
    const sentAt = this.scheduler.now;
    const measured = this.#measuring;
    const drought = this.#droughts[node]!;
    drought.began();
    const number = String(++this.#serial);
    const entry = { ...content(number, this.#options.bodyBytes), delaySeconds: undefined };
    this.#sentAt.set(number, measured ? sentAt : Number.NaN);
    const outcome = await this.#answered(this.#service(node).send(queue, 'AIDABENCH', [entry]));
    if (!outcome) return;
    drought.ended();
    if (outcome.kind !== 'done') throw new Error(outcome.kind);
    if (!this.#measuring) return;
    this.#sent++;
    if (measured) this.#sendMillis.push(this.scheduler.now - sentAt);
  }

  #sendBatch(): void {
    const entries = Array.from({ length: 10 }, () => ({
      ...content(String(++this.#serial), this.#options.bodyBytes),
      delaySeconds: undefined,
    }));
    this.scheduler.at(this.scheduler.now + this.#backlog, () => {
      void this.#service(0).send(queue, 'AIDABENCH', entries);
    });
  }

  #startWorkers(): void {
    const { nodes, workersPerNode, lastOnlyConsumes } = this.#options;
    const each = workersPerNode ?? workersOfEachNode(this.#options) * (lastOnlyConsumes ? nodes : 1);
    for (let node = lastOnlyConsumes ? nodes - 1 : 0; node < nodes; node++)
      for (let n = 0; n < each; n++)
        this.scheduler.at(this.scheduler.now + this.#draw.between(0, workersBeginWithinMillis), () => {
          void this.#work(node);
        });
  }

  async #work(node: number): Promise<void> {
    for (;;) {
      const receiving = this.#service(node).receive(queue, {
        maxMessages,
        waitSeconds,
        visibilityTimeoutSeconds: undefined,
        signal: new AbortController().signal,
      });
      const outcome = await this.#answered(receiving);
      if (!outcome) {
        await this.scheduler.sleep(1_000);
        continue;
      }
      if (outcome.kind !== 'done') throw new Error(outcome.kind);
      let lastMillis = 0;
      for (const { message, receiptHandle } of outcome.messages) {
        const number = numberOf(message.body);
        const sentAt = this.#sentAt.get(number);
        this.#sentAt.delete(number);
        if (sentAt !== undefined && !Number.isNaN(sentAt))
          this.#endToEndMillis.push(this.scheduler.now - sentAt);
        const millis = this.#draw.exponential(workMillis);
        lastMillis = Math.max(lastMillis, millis);
        this.scheduler.at(this.scheduler.now + millis, () => {
          void this.#delete(node, receiptHandle);
        });
      }
      if (lastMillis > 0) await this.scheduler.sleep(lastMillis);
    }
  }

  /** Undefined: the node could not reach the store in time, and said so. Its drought goes on. */
  async #answered<T>(call: Promise<T>): Promise<T | undefined> {
    try {
      return await call;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      this.#failed++;
      return undefined;
    }
  }

  async #delete(node: number, receiptHandle: string): Promise<void> {
    const drought = this.#droughts[node]!;
    drought.began();
    if (!(await this.#answered(this.#service(node).deleteMessages(queue, [receiptHandle])))) return;
    drought.ended();
    if (this.#measuring) this.#deleted++;
  }
}

function content(number: string, bodyBytes: number | undefined) {
  const text = bodyOf(number, bodyBytes);
  return {
    content: { body: text, attributes: new Map(), traceHeader: undefined, groupId: undefined },
    contentBytes: text.length,
  };
}

/** How long a node went without an answer to any of its writes while some were waiting. */
class Drought {
  readonly #scheduler: Scheduler;
  #waiting = 0;
  #since = 0;
  #longest = 0;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  began(): void {
    if (this.#waiting++ === 0) this.#since = this.#scheduler.now;
  }

  ended(): void {
    this.#longest = this.longestMillis();
    this.#since = this.#scheduler.now;
    this.#waiting--;
  }

  longestMillis(): number {
    return Math.max(this.#longest, this.#waiting > 0 ? this.#scheduler.now - this.#since : 0);
  }
}

function difference(
  before: readonly MeterSnapshot[],
  after: readonly MeterSnapshot[],
): Pick<WorkloadResult, 'requests' | 'dollars' | 'lostSwaps'> {
  const sum = (of: (snapshot: MeterSnapshot) => number) =>
    after.reduce((total, snapshot, index) => total + of(snapshot) - of(before[index]!), 0);
  const requests = Object.fromEntries(
    REQUEST_CLASSES.map((each) => [each, sum(({ classes }) => classes[each].requests)]),
  ) as Record<RequestClass, number>;
  return {
    requests,
    dollars: sum(({ dollars }) => dollars),
    lostSwaps: sum(({ classes }) => classes.conditionalPut.conflicts),
  };
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}
