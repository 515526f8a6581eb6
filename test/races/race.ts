/**
 * Clients of several nodes on one queue, and what must hold of what they were told, whatever happened in which order:
 *
 * - every call is answered, if only by Unavailable;
 * - an acknowledged send is there once, any other at most once;
 * - a message is in one hand at a time within its visibility timeout, and no delivery is given out twice;
 * - an answered delete within that time holds for ever;
 * - a client that has gone gets nothing.
 */
import assert from 'node:assert/strict';
import { type QueueService, type ReceivedMessage, Unavailable } from '../../src/engine/queue-api.ts';
import { createQueueService, type Engine } from '../../src/engine/queue-service.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { accountId, entryOf, receiveDefaults, region } from '../support/world.ts';
import type { Order } from './order.ts';
import { type Fate, RaceGround } from './race-ground.ts';

export interface SendStep {
  readonly kind: 'send';
  readonly node: number;
}

export interface TakeStep {
  readonly kind: 'take';
  readonly node: number;
  readonly waitSeconds: number;
  readonly visibilitySeconds: number;
  readonly maxMessages: number;
  /** What is done with what came, at which node. */
  readonly after: 'keep' | 'delete' | 'give back';
  readonly afterNode: number;
  /** The client goes away while it waits for the answer. */
  readonly hangsUp: boolean;
}

export type ClientStep = SendStep | TakeStep;

interface Taken {
  readonly body: string;
  readonly count: number;
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly visibilityMillis: number;
  /** Somebody tried to. */
  givenBack: boolean;
  deleteTried: boolean;
  deleteAnsweredAt: number | undefined;
}

const queue = 'q';
/** The first commits at once, the others wait for company. */
const lingers = [0, 20, 20];

export class Race {
  readonly ground: RaceGround;
  readonly #engines: Engine[];
  readonly #taken: Taken[] = [];
  readonly #acknowledged = new Set<string>();
  readonly #tried = new Set<string>();

  constructor(order: Order, nodes: number) {
    this.ground = new RaceGround(order);
    this.#engines = lingers.slice(0, nodes).map((lingerMillis, node) => this.#start(node, lingerMillis));
  }

  async run(clients: readonly (readonly ClientStep[])[], fates: readonly Fate[]): Promise<void> {
    const { ground } = this;
    await ground.until(this.#service(0).createQueue(queue, new Map()));
    for (const body of ['old1', 'old2']) await ground.until(this.#send(body, { node: 0 }));
    ground.fates = fates;
    const walks = clients.map((steps, client) => this.#walk(client, steps));
    await ground.until(Promise.all(walks));
    ground.fates = [];
    await ground.until(ground.sleep(60_000));
    this.#check(await ground.until(this.#left()));
  }

  #start(node: number, lingerMillis: number): Engine {
    const log = (message: string) => {
      this.ground.history.push(`node ${node} says: ${message}`);
    };
    return createQueueService(
      {
        clock: this.ground,
        random: new SeededRandom(node + 1),
        store: this.ground.wire(node),
        log: { debug: () => {}, info: () => {}, warn: log, error: log },
      },
      {
        accountId,
        region,
        lingerMillis,
        cooldowns: false,
        conditionalDelete: true,
        listTags: true,
        // Requests that nobody asks for would only be more places in the line.
        timing: { taskListMillis: Number.POSITIVE_INFINITY },
      },
    );
  }

  #service(node: number): QueueService {
    return this.#engines[node % this.#engines.length]!.service;
  }

  async #walk(client: number, steps: readonly ClientStep[]): Promise<void> {
    for (const [at, step] of steps.entries()) {
      await this.ground.turn(`client ${client}: ${step.kind}`);
      try {
        if (step.kind === 'send') await this.#send(`c${client}.${at}`, step);
        else await this.#take(client, step);
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        this.ground.history.push(`client ${client} is told: ${error.message}`);
      }
    }
  }

  async #send(body: string, { node }: Pick<SendStep, 'node'>): Promise<void> {
    this.#tried.add(body);
    const outcome = await this.#service(node).send(queue, 'AIDATEST', [entryOf(body)]);
    assert.equal(outcome.kind, 'done');
    this.#acknowledged.add(body);
    this.ground.history.push(`${body} is acknowledged`);
  }

  async #take(client: number, step: TakeStep): Promise<void> {
    const { ground } = this;
    const gone = new AbortController();
    const { waitSeconds, maxMessages, visibilitySeconds } = step;
    const request = { waitSeconds, maxMessages, visibilityTimeoutSeconds: visibilitySeconds };
    const askedAt = ground.wallMillis();
    if (step.hangsUp) void ground.turn(`client ${client} hangs up`).then(() => gone.abort());
    const outcome = await this.#service(step.node).receive(queue, { ...request, signal: gone.signal });
    assert.ok(outcome.kind === 'done', outcome.kind);
    if (gone.signal.aborted) assert.equal(outcome.messages.length, 0, 'a client that has gone gets nothing');
    const taken = outcome.messages.map(({ message, receiveCount }): Taken => {
      ground.history.push(`client ${client} takes ${message.body} (${receiveCount}.)`);
      return {
        body: message.body,
        count: receiveCount,
        askedAt,
        answeredAt: ground.wallMillis(),
        visibilityMillis: visibilitySeconds * 1000,
        givenBack: step.after === 'give back',
        deleteTried: step.after === 'delete',
        deleteAnsweredAt: undefined,
      };
    });
    this.#taken.push(...taken);
    if (taken.length === 0 || step.after === 'keep') return;
    await ground.turn(`client ${client}: ${step.after}`);
    await this.#finish(step, outcome.messages, taken);
  }

  async #finish(
    step: TakeStep,
    messages: readonly ReceivedMessage[],
    taken: readonly Taken[],
  ): Promise<void> {
    const service = this.#service(step.afterNode);
    const handles = messages.map(({ receiptHandle }) => receiptHandle);
    if (step.after === 'delete') {
      await service.deleteMessages(queue, handles);
      for (const one of taken) one.deleteAnsweredAt = this.ground.wallMillis();
      this.ground.history.push(`delete of ${taken.map(({ body }) => body).join(' ')} is answered`);
      return;
    }
    const entries = handles.map((receiptHandle) => ({ receiptHandle, visibilityTimeoutSeconds: 0 }));
    await service.changeVisibility(queue, entries);
  }

  /** What a fresh node finds, long after. */
  async #left(): Promise<readonly string[]> {
    const { service } = this.#start(9, 0);
    const left: string[] = [];
    for (;;) {
      const outcome = await service.receive(queue, {
        ...receiveDefaults(),
        visibilityTimeoutSeconds: 43_200,
      });
      assert.ok(outcome.kind === 'done');
      if (outcome.kind !== 'done' || outcome.messages.length === 0) return left;
      left.push(...outcome.messages.map(({ message }) => message.body));
    }
  }

  #check(left: readonly string[]): void {
    assert.equal(new Set(left).size, left.length, `a message is there twice: ${left.join(' ')}`);
    for (const body of left) assert.ok(this.#tried.has(body));
    const deleteTried = new Set(this.#taken.filter((one) => one.deleteTried).map(({ body }) => body));
    for (const body of this.#acknowledged)
      if (!deleteTried.has(body)) assert.ok(left.includes(body), `${body} is lost`);
    for (const one of this.#taken) {
      const holdsUntil = one.askedAt + one.visibilityMillis;
      const others = this.#taken.filter((other) => other !== one && other.body === one.body);
      const later = others.filter(({ count }) => count > one.count);
      for (const { count } of others)
        assert.notEqual(count, one.count, `delivery ${count} of ${one.body} is given out twice`);
      if (one.givenBack) continue;
      for (const other of later)
        assert.ok(
          other.answeredAt >= holdsUntil,
          `${one.body} is in two hands, as ${one.count}. and ${other.count}.`,
        );
      if (one.deleteAnsweredAt === undefined || one.deleteAnsweredAt >= holdsUntil) continue;
      assert.equal(later.length, 0, `${one.body} comes again although its delete was answered`);
      assert.ok(!left.includes(one.body), `${one.body} is there although its delete was answered`);
    }
  }
}
