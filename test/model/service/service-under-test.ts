/** Two processes on one bucket, in virtual time: what the commands call. Each may be replaced by a fresh one. */
import assert from 'node:assert/strict';
import { type QueueService, Unavailable } from '../../../src/engine/queue-api.ts';
import { type NodeOptions, type TestNode, World } from '../../support/world.ts';
import type { Span } from './sqs-model.ts';

/** One commits at once and its wall clock is right; the other waits for company, and its clock is off. */
const nodeOptions: readonly NodeOptions[] = [{ lingerMillis: 0 }, { lingerMillis: 20, skewMillis: 250 }];
export const nodeCount = nodeOptions.length;

interface Timed<T> {
  readonly outcome: T;
  readonly span: Span;
}

export class ServiceUnderTest {
  readonly world = new World();
  readonly #nodes: TestNode[] = nodeOptions.map((options) => this.world.startNode(options));
  readonly #lives: number[] = nodeOptions.map((_, index) => index);
  #lifeCount = nodeOptions.length;
  /** What happened, for whoever reads a failure. */
  readonly history: string[] = [];
  #deletions = 0;
  /** By life: how often it refused, and when it did last. */
  readonly #refusals = new Map<number, { readonly count: number; readonly at: number }>();

  get now(): number {
    return this.world.clock.wallMillis();
  }

  node(index: number): TestNode {
    return this.#nodes[index]!;
  }

  /** Which process answers as that node now. */
  life(index: number): number {
    return this.#lives[index]!;
  }

  async call<T>(index: number, use: (service: QueueService) => Promise<T>): Promise<Timed<T>> {
    return this.world.run(this.timed(index, use));
  }

  /** Not waited for. */
  async timed<T>(index: number, use: (service: QueueService) => Promise<T>): Promise<Timed<T>> {
    const begin = this.now;
    const outcome = await use(this.node(index).service).catch((error: unknown) => {
      if (!this.#mayRefuse(this.life(index), error)) throw error;
      return use(this.node(index).service);
    });
    return { outcome, span: { begin, end: this.now } };
  }

  queueDeleted(): void {
    this.#deletions++;
  }

  /**
   * A node that tries to swap against a queue which another has changed and then deleted can't tell what became of its
   * attempt: once for each, it asks its client to come back (DESIGN.md section 3).
   */
  #mayRefuse(life: number, error: unknown): boolean {
    if (!(error instanceof Unavailable)) return false;
    const last = this.#refusals.get(life);
    // Everything in one commit is refused at once.
    if (last?.at === this.now) return true;
    const count = (last?.count ?? 0) + 1;
    this.#refusals.set(life, { count, at: this.now });
    return count <= this.#deletions;
  }

  advance(millis: number): Promise<void> {
    return this.world.clock.advance(millis);
  }

  /** Moves between queues end by themselves; this is long enough for them. */
  settle(): Promise<void> {
    return this.advance(2_000);
  }

  async restart(index: number, how: 'stop' | 'kill'): Promise<void> {
    if (how === 'stop') await this.world.run(this.node(index).engine.stop());
    this.node(index).kill();
    this.#nodes[index] = this.world.startNode(nodeOptions[index]!);
    this.#lives[index] = this.#lifeCount++;
  }

  async check(): Promise<void> {
    await this.world.check();
    for (const node of this.#nodes)
      assert.deepEqual(
        node.complaints.filter((text) => text === 'a commit failed'),
        [],
      );
  }
}
