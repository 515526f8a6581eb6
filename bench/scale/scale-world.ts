/**
 * One node on a bucket of its own in virtual time, as in `just cost`: the real engine and codecs, latencies of S3. The
 * harness knows the façade, the bucket's bytes, the store's request meter and this process's memory; how the state is
 * kept inside is none of its business.
 */

import type { QueueService, QueueSnapshot, SendEntry } from '../../src/engine/queue-api.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { never, Scheduler } from '../../test/simulation/scheduler.ts';
import { Draw } from '../draw.ts';
import { originMillis, type SimulatedNode, simulatedNode } from '../simulated-node.ts';
import { type Distance, nearS3 } from '../simulated-store.ts';
import { entryOf, fifoEntryOf, Load, type LoadShape, receive, senderId } from './load.ts';
import { ScaleBucket } from './scale-bucket.ts';
import type { Sizes } from './sizes.ts';

/** A row stops growing when its manifest is that large: it has failed, and every commit takes a second of CPU. */
const giveUpBytes = 8 * 1024 * 1024;
const usual: WorldOptions = { distance: nearS3, lingerMillis: 100 };
const measuredSeconds = 30;
/** Of a row that gave up: what it costs is seen at once. */
const shortlySeconds = 5;
const tellEveryMillis = 60_000;

export interface WorldOptions {
  readonly distance: Distance;
  readonly lingerMillis: number;
}

export interface Measured {
  readonly load: Load;
  readonly manifests: Sizes;
  readonly commits: Sizes;
  readonly requests: number;
  readonly dollars: number;
  readonly cpuMillis: number;
}

/** What `process` takes now, this harness and the handles it holds included; garbage is not. */
export function heapBytes(): number {
  const collect = (globalThis as { readonly gc?: () => void }).gc;
  if (collect === undefined) throw new Error('run with --expose-gc');
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

export class ScaleWorld {
  readonly scheduler = new Scheduler();
  readonly draw = new Draw(1);
  readonly bucket = new ScaleBucket(() => Math.floor(originMillis + this.scheduler.now));
  /** Set when a row could not be brought to its size. */
  stopped: string | undefined;
  readonly #part: number;
  readonly #options: WorldOptions;
  #toldAt = performance.now();
  #seed = 1;
  #node: SimulatedNode;
  #way: Way;

  constructor(part: number, options = usual) {
    this.#part = part;
    this.#options = options;
    this.#way = wayTo(this.bucket);
    this.#node = this.#start();
  }

  get service(): QueueService {
    return this.#node.engine.service;
  }

  /** As many as this run wants of `full`. */
  count(full: number): number {
    return Math.max(1, Math.round(full * this.#part));
  }

  /** Lets time pass until the promise settles. */
  async settle<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const note = () => {
      settled = true;
    };
    promise.then(note, note);
    while (!settled) {
      const before = this.scheduler.events;
      await this.scheduler.run(() => settled, Number.POSITIVE_INFINITY);
      if (!settled && this.scheduler.events === before) throw new Error('nothing is left to happen');
    }
    return promise;
  }

  async create(name: string, attributes: Readonly<Record<string, string>> = {}): Promise<void> {
    const outcome = await this.service.createQueue(name, new Map(Object.entries(attributes)));
    if (outcome.kind !== 'created') throw new Error(`${name}: ${outcome.kind}`);
  }

  async snapshot(queue: string): Promise<QueueSnapshot> {
    const snapshot = await this.service.getQueue(queue);
    if (snapshot.kind !== 'queue') throw new Error(`${queue}: ${snapshot.kind}`);
    return snapshot;
  }

  /** True once it makes no sense to go on; how far a row has come is told now and then. */
  givesUp(done: number, wanted: number): boolean {
    if (performance.now() - this.#toldAt > tellEveryMillis) {
      this.#toldAt = performance.now();
      console.error(`   … ${done.toLocaleString('en')} of ${wanted.toLocaleString('en')}`);
    }
    if (this.bucket.lastManifestBytes <= giveUpBytes) return false;
    const megabytes = giveUpBytes / 1024 / 1024;
    this.stopped = `the manifest reached ${megabytes} MiB at ${done.toLocaleString('en')} of ${wanted.toLocaleString('en')}`;
    return true;
  }

  /** One call after the other, so that each is a commit. */
  async fill(
    queue: string,
    wanted: number,
    options: {
      readonly bodyBytes: number;
      readonly perCall: number;
      readonly delaySeconds?: (n: number) => number;
      /** On a FIFO queue: each with an id of its own. */
      readonly groupId?: (n: number) => string;
    },
  ): Promise<number> {
    const { bodyBytes, perCall, delaySeconds, groupId } = options;
    const same: SendEntry[] = Array.from({ length: perCall }, () => entryOf(bodyBytes));
    const entry = (n: number) =>
      groupId ? fifoEntryOf(bodyBytes, groupId(n)) : entryOf(bodyBytes, delaySeconds?.(n));
    let sent = 0;
    while (sent < wanted && !this.givesUp(sent, wanted)) {
      const count = Math.min(perCall, wanted - sent);
      const entries =
        delaySeconds || groupId
          ? Array.from({ length: count }, (_, n) => entry(sent + n))
          : same.slice(0, count);
      const outcome = await this.service.send(queue, senderId, entries);
      if (outcome.kind !== 'done') throw new Error(`a send was answered ${outcome.kind}`);
      sent += count;
    }
    return sent;
  }

  async measure(
    queue: string,
    shape: LoadShape,
    during?: (ended: () => boolean) => Promise<void>,
  ): Promise<Measured> {
    const load = new Load(
      { service: this.service, scheduler: this.scheduler, draw: this.draw },
      queue,
      shape,
    );
    this.bucket.watch();
    const { manifests, commits } = this.bucket;
    const before = this.#node.meter.snapshot();
    const cpu = process.cpuUsage();
    let ended = false;
    const beside = during?.(() => ended);
    await load.run(this.stopped === undefined ? measuredSeconds : shortlySeconds);
    const used = process.cpuUsage(cpu);
    const after = this.#node.meter.snapshot();
    ended = true;
    await beside;
    // What is written from here on belongs to nobody's measuring.
    this.bucket.watch();
    const requests = (snapshot: typeof after) =>
      Object.values(snapshot.classes).reduce((sum, each) => sum + each.requests, 0);
    return {
      load,
      manifests,
      commits,
      requests: requests(after) - requests(before),
      dollars: after.dollars - before.dollars,
      cpuMillis: (used.user + used.system) / 1000,
    };
  }

  /** Kills the node, starts another and waits for its first message: virtual time and CPU, together. */
  async recover(queue: string): Promise<number> {
    await this.service.send(queue, senderId, [queue.endsWith('.fifo') ? fifoEntryOf(1, 'last') : entryOf(1)]);
    this.#way.open = false;
    const cpu = process.cpuUsage();
    const began = this.scheduler.now;
    this.#way = wayTo(this.bucket);
    this.#node = this.#start();
    const messages = await receive(this.service, queue);
    if (messages.length === 0) throw new Error('a new node found no message');
    const used = process.cpuUsage(cpu);
    return this.scheduler.now - began + (used.user + used.system) / 1000;
  }

  #start(): SimulatedNode {
    const { distance, lingerMillis } = this.#options;
    return simulatedNode(this.#way.store, this.scheduler, this.#seed++, distance, { lingerMillis });
  }
}

interface Way {
  readonly store: ObjectStore;
  /** False: its node is dead, nothing of it takes effect or returns any more. */
  open: boolean;
}

function wayTo(bucket: ObjectStore): Way {
  const through = <T>(act: () => Promise<T>) => (way.open ? act() : never());
  const way: Way = {
    open: true,
    store: {
      get: (key, options) => through(() => bucket.get(key, options)),
      put: (key, body) => through(() => bucket.put(key, body)),
      putIfAbsent: (key, body) => through(() => bucket.putIfAbsent(key, body)),
      putIfMatch: (key, body, etag) => through(() => bucket.putIfMatch(key, body, etag)),
      list: (request) => through(() => bucket.list(request)),
      delete: (key) => through(() => bucket.delete(key)),
      deleteIfMatch: (key, etag) => through(() => bucket.deleteIfMatch(key, etag)),
    },
  };
  return way;
}
