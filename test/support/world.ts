/**
 * A bucket, and processes that share it, in virtual time: what engine tests play on. `scenario` is a test that ends
 * with a look at every manifest of the bucket: none may break a rule of core/invariants.ts.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { brokenState } from '../../src/core/invariants.ts';
import { brokenPages } from '../../src/core/page-invariants.ts';
import { type PageContents, type PageKind, pagesOf, unfolded } from '../../src/core/pages.ts';
import type { ManifestContent, PageId, QueueState } from '../../src/core/queue-state.ts';
import type { Log } from '../../src/engine/environment.ts';
import type { ReceivedMessage, ReceiveRequest, SendEntry } from '../../src/engine/queue-api.ts';
import { createQueueService, type Engine, type EngineOptions } from '../../src/engine/queue-service.ts';
import { decodeManifestObject } from '../../src/format/manifest-codec.ts';
import { manifestKey, objectKey } from '../../src/format/object-keys.ts';
import { decodePage } from '../../src/format/page-codec.ts';
import { MemoryStore } from '../../src/store/memory-store.ts';
import { ScriptedStore } from './scripted-store.ts';
import { SeededRandom } from './seeded-random.ts';
import { SkewedClock, VirtualClock } from './virtual-clock.ts';

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const accountId = '000000000000';
export const region = 'us-east-1';

export type NodeOptions = Partial<Omit<EngineOptions, 'timing'>> & {
  readonly timing?: EngineOptions['timing'];
  /** How far the wall clock of this node is ahead of the store's. */
  readonly skewMillis?: number;
};

export class World {
  readonly clock = new VirtualClock();
  /** How far the store's clock is ahead of virtual time; a test may make it lie. */
  storeSkewMillis = 0;
  readonly bucket = new MemoryStore({ nowMillis: () => this.clock.wallMillis() + this.storeSkewMillis });
  readonly #nodes: TestNode[] = [];

  /** A process on the bucket. Sweeps only when told, unless its timing says otherwise. */
  startNode(options: NodeOptions = {}): TestNode {
    const node = new TestNode(this, this.#nodes.length + 1, options);
    this.#nodes.push(node);
    return node;
  }

  run<T>(promise: Promise<T>, limitMillis?: number): Promise<T> {
    return this.clock.runUntil(promise, limitMillis);
  }

  async content(queue: string): Promise<ManifestContent | undefined> {
    const found = await this.bucket.get(manifestKey(queue));
    if (found.kind !== 'done') return undefined;
    const decoded = decodeManifestObject(found.body);
    assert.equal(decoded.kind, 'ok', 'the manifest can be read');
    return decoded.kind === 'ok' ? decoded.content : undefined;
  }

  async state(queue: string): Promise<QueueState> {
    const content = await this.content(queue);
    assert.equal(content?.kind, 'queue', `${queue} exists`);
    return (content as ManifestContent & { readonly kind: 'queue' }).state;
  }

  /** What its pages hold, read from the bucket: none may be missing. */
  async pages(queue: string, state: QueueState) {
    const contents = new Map<PageId, PageContents[PageKind]>();
    for (const { kind, id, baseVersion, nonce } of pagesOf(state)) {
      const { incarnation } = state;
      const found = await this.bucket.get(objectKey({ name: queue, incarnation, kind, baseVersion, nonce }));
      assert.ok(found.kind === 'done', `the ${kind} page ${id} is there`);
      const decoded = decodePage(kind, found.body, incarnation);
      assert.ok(decoded.kind === 'ok', `the ${kind} page ${id} can be read`);
      contents.set(id, decoded.content);
    }
    return <K extends PageKind>(_kind: K, id: PageId) => contents.get(id) as PageContents[K];
  }

  /** Every segment that the queue names, directly or through a page, is in the bucket. */
  async checkSegments(queue: string): Promise<void> {
    const { incarnation, segments } = await this.whole(queue, await this.state(queue));
    const present = new Set(await this.keys('s/'));
    for (const { baseVersion, nonce } of segments.values()) {
      const key = objectKey({ name: queue, incarnation, kind: 'seg', baseVersion, nonce });
      assert.ok(present.has(key), `${key} is there`);
    }
  }

  async keys(prefix: string): Promise<string[]> {
    return (await this.bucket.list({ prefix })).objects.map(({ key }) => key);
  }

  async check(): Promise<void> {
    for (const key of await this.keys('m/')) {
      const queue = key.slice('m/'.length);
      const content = await this.content(queue);
      if (content?.kind !== 'queue') continue;
      const page = await this.pages(queue, content.state);
      assert.equal(brokenState(unfolded(content.state, page)), undefined, key);
      assert.equal(brokenPages(content.state, page), undefined, key);
    }
  }

  /** With what its pages hold; all of them are there and can be read. */
  async whole(name: string, state: QueueState): Promise<QueueState> {
    return unfolded(state, await this.pages(name, state));
  }

  end(): void {
    for (const node of this.#nodes) node.kill();
  }
}

export class TestNode {
  readonly store: ScriptedStore;
  readonly random: SeededRandom;
  readonly clock: SkewedClock;
  readonly engine: Engine;
  /** Warnings and errors it logged. */
  readonly complaints: string[] = [];
  readonly #world: World;

  constructor(world: World, seed: number, options: NodeOptions) {
    this.#world = world;
    this.store = new ScriptedStore(world.bucket, world.clock);
    this.random = new SeededRandom(seed);
    const { skewMillis = 0, timing, ...settings } = options;
    this.clock = new SkewedClock(world.clock, skewMillis);
    const complain = (message: string) => {
      this.complaints.push(message);
    };
    const log: Log = { debug: () => {}, info: () => {}, warn: complain, error: complain };
    this.engine = createQueueService(
      { clock: this.clock, random: this.random, store: this.store, log },
      {
        accountId,
        region,
        lingerMillis: 0,
        cooldowns: false,
        conditionalDelete: true,
        listTags: true,
        ...settings,
        timing: { sweepIntervalMillis: 1e9 * hour, taskListMillis: Number.POSITIVE_INFINITY, ...timing },
      },
    );
  }

  get service(): Engine['service'] {
    return this.engine.service;
  }

  /** Without a farewell: nothing of it takes effect any more. */
  kill(): void {
    this.store.kill();
  }

  create(queue: string, attributes: Readonly<Record<string, string>> = {}): Promise<string> {
    return this.#run(this.service.createQueue(queue, new Map(Object.entries(attributes))).then(kindOf));
  }

  /** Not waited for. */
  sending(queue: string, ...bodies: readonly string[]): ReturnType<Engine['service']['send']> {
    return this.service.send(queue, 'AIDATEST', bodies.map(entryOf));
  }

  async send(queue: string, ...bodies: readonly string[]): Promise<void> {
    const outcome = await this.#run(this.sending(queue, ...bodies));
    assert.deepEqual(
      outcome.kind === 'done' ? outcome.entries.map(kindOf) : outcome.kind,
      bodies.map(() => 'sent'),
    );
  }

  /** To one group of a FIFO queue. */
  async sendTo(queue: string, group: string, ...bodies: readonly string[]): Promise<void> {
    const entries = bodies.map((body) => fifoEntryOf(body, group));
    const outcome = await this.#run(this.service.send(queue, 'AIDATEST', entries));
    assert.deepEqual(
      outcome.kind === 'done' ? outcome.entries.map(kindOf) : outcome.kind,
      bodies.map(() => 'sent'),
    );
  }

  /** Not waited for. */
  async receiving(queue: string, request: Partial<ReceiveRequest> = {}): Promise<readonly ReceivedMessage[]> {
    const outcome = await this.service.receive(queue, { ...receiveDefaults(), ...request });
    assert.equal(outcome.kind, 'done');
    return outcome.kind === 'done' ? outcome.messages : [];
  }

  receive(queue: string, request: Partial<ReceiveRequest> = {}): Promise<readonly ReceivedMessage[]> {
    return this.#run(this.receiving(queue, request));
  }

  async receiveOne(queue: string, request: Partial<ReceiveRequest> = {}): Promise<ReceivedMessage> {
    const messages = await this.receive(queue, { maxMessages: 1, ...request });
    assert.equal(messages.length, 1, 'one message came');
    return messages[0]!;
  }

  /** Not waited for. */
  deleting(
    queue: string,
    ...messages: readonly ReceivedMessage[]
  ): ReturnType<Engine['service']['deleteMessages']> {
    return this.service.deleteMessages(
      queue,
      messages.map(({ receiptHandle }) => receiptHandle),
    );
  }

  async delete(queue: string, ...messages: readonly ReceivedMessage[]): Promise<void> {
    const outcome = await this.#run(this.deleting(queue, ...messages));
    assert.deepEqual(
      outcome.kind === 'done' ? outcome.entries.map(kindOf) : outcome.kind,
      messages.map(() => 'done'),
    );
  }

  async changeVisibility(queue: string, message: ReceivedMessage, seconds: number): Promise<string> {
    const entry = { receiptHandle: message.receiptHandle, visibilityTimeoutSeconds: seconds };
    const outcome = await this.#run(this.service.changeVisibility(queue, [entry]));
    return outcome.kind === 'done' ? outcome.entries[0]!.kind : outcome.kind;
  }

  /** Visible, in flight, delayed. */
  async counts(queue: string): Promise<readonly [number, number, number]> {
    const snapshot = await this.#run(this.service.getQueue(queue));
    assert.equal(snapshot.kind, 'queue');
    if (snapshot.kind !== 'queue') throw new Error('no queue');
    return [snapshot.visibleCount, snapshot.inFlightCount, snapshot.delayedCount];
  }

  #run<T>(promise: Promise<T>): Promise<T> {
    return this.#world.run(promise);
  }
}

export function entryOf(body: string): SendEntry {
  const content = { body, attributes: new Map(), traceHeader: undefined, groupId: undefined };
  return { content, contentBytes: body.length, delaySeconds: undefined };
}

/** For a FIFO queue; every send has an id of its own unless it is told one. */
export function fifoEntryOf(body: string, groupId = 'g', explicitId = `${groupId}/${body}`): SendEntry {
  const entry = entryOf(body);
  return { ...entry, content: { ...entry.content, groupId }, deduplication: { explicitId, bodyHash: '' } };
}

export function bodiesOf(messages: readonly ReceivedMessage[]): string[] {
  return messages.map(({ message }) => message.body).sort();
}

export function kindOf(outcome: { readonly kind: string }): string {
  return outcome.kind;
}

export function redrivePolicy(target: string, maxReceiveCount: number): string {
  const deadLetterTargetArn = `arn:aws:sqs:${region}:${accountId}:${target}`;
  return JSON.stringify({ deadLetterTargetArn, maxReceiveCount });
}

export function receiveDefaults(): ReceiveRequest {
  return {
    maxMessages: 10,
    waitSeconds: 0,
    visibilityTimeoutSeconds: undefined,
    signal: new AbortController().signal,
  };
}

/** A test on a fresh world. */
export function scenario(name: string, play: (world: World) => Promise<void>): void {
  it(name, async () => {
    const world = new World();
    try {
      await play(world);
      await world.check();
    } finally {
      world.end();
    }
  });
}
