/**
 * Where a race is run: one line for everything that can happen (order.ts), time that passes when its turn comes, and
 * ways to one bucket whose requests take effect and are answered each at a turn of their own, if at all.
 */
import { setImmediate } from 'node:timers';
import type { Clock } from '../../src/engine/environment.ts';
import { MemoryStore } from '../../src/store/memory-store.ts';
import { type ObjectStore, type PutIfMatchOutcome, StoreError } from '../../src/store/object-store.ts';
import { originMillis } from '../support/virtual-clock.ts';
import type { Order } from './order.ts';

/** What becomes of a request for the manifest. */
export const fates = [
  'plain',
  /** It took effect; the client hears of no answer. */
  'answer lost',
  'request lost',
  /** A proxy sent it twice and passes on the second answer. */
  'sent twice',
  /** The client gives up before it takes effect. */
  'late',
  /** 409, without effect. */
  'refused',
] as const;
export type Fate = (typeof fates)[number];

/** More turns than any race needs: somebody waits for ever. */
const turnsMax = 20_000;
/** Housekeeping that is due in an hour or a day has no part in a race. */
const sleepMillisMax = 60_000;
const tickMillis = 1 / 1024;

interface Timer {
  readonly dueAt: number;
  readonly wake: () => void;
}

export class RaceGround implements Clock {
  readonly history: string[] = [];
  /** Of the manifest requests from now on, in the order they are sent. */
  fates: readonly Fate[] = [];
  readonly #bucket = new MemoryStore({ nowMillis: () => this.wallMillis() });
  readonly #order: Order;
  #timers: Timer[] = [];
  #timeWaits = false;
  #now = 0;
  #turns = 0;
  #requests = 0;

  constructor(order: Order) {
    this.#order = order;
  }

  wallMillis(): number {
    return Math.floor(originMillis + this.#now);
  }

  monotonicMillis(): number {
    this.#now += tickMillis;
    return this.#now;
  }

  sleep(millis: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#timers = this.#timers.filter((timer) => timer.wake !== wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      signal?.addEventListener('abort', wake, { once: true });
      if (millis > sleepMillisMax) return;
      this.#timers.push({ dueAt: this.#now + Math.max(0, millis), wake });
      this.#timers.sort((a, b) => a.dueAt - b.dueAt);
      this.#letTimePass();
    });
  }

  turn(label: string): Promise<void> {
    return this.#order.turn(label).then(() => {
      this.history.push(`${this.#now.toFixed(0)} ms: ${label}`);
    });
  }

  /** Until that is settled. @throws Error when nothing is left that could settle it */
  async until<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const note = () => {
      settled = true;
    };
    promise.then(note, note);
    for (;;) {
      await idle();
      if (settled) return promise;
      if (this.#order.waiting() === 0 || ++this.#turns > turnsMax) throw new Error('a call gets no answer');
      await this.#order.next();
    }
  }

  /** A node's way to the bucket. */
  wire(node: number): ObjectStore {
    const bucket = this.#bucket;
    const plain = <O>(label: string, act: () => Promise<O>) => this.#send(`node ${node}: ${label}`, act);
    return {
      get: (key, options) => this.#read(`node ${node}: get ${key}`, () => bucket.get(key, options)),
      putIfMatch: (key, body, etag) =>
        this.#swap(`node ${node}: swap ${key}`, () => bucket.putIfMatch(key, body, etag)),
      put: (key, body) => plain(`put ${key}`, () => bucket.put(key, body)),
      putIfAbsent: (key, body) => plain(`create ${key}`, () => bucket.putIfAbsent(key, body)),
      list: (request) => plain(`list ${request.prefix}`, () => bucket.list(request)),
      delete: (key) => plain(`delete ${key}`, () => bucket.delete(key)),
      deleteIfMatch: (key, etag) => plain(`delete ${key}`, () => bucket.deleteIfMatch(key, etag)),
    };
  }

  async #send<O>(label: string, act: () => Promise<O>): Promise<O> {
    await this.turn(`${label} arrives`);
    const outcome = await act();
    await this.turn(`${label} is answered`);
    return outcome;
  }

  async #read<O>(label: string, act: () => Promise<O>): Promise<O> {
    const fate = this.fates[this.#requests++] ?? 'plain';
    if (fate !== 'request lost' && fate !== 'answer lost') return this.#send(label, act);
    await this.turn(`${label} fails`);
    throw new StoreError('drawn: no answer', { retryable: true });
  }

  async #swap(label: string, act: () => Promise<PutIfMatchOutcome>): Promise<PutIfMatchOutcome> {
    const fate = this.fates[this.#requests++] ?? 'plain';
    const unknown: PutIfMatchOutcome = { kind: 'unknown', throttled: false, reason: `drawn: ${fate}` };
    const land = async () => {
      const outcome = await act();
      this.history.push(`  ${outcome.kind}`);
      return outcome;
    };
    switch (fate) {
      case 'plain':
        return this.#send(label, land);
      case 'sent twice':
        return this.#send(`${label}, twice,`, async () => {
          await land();
          return land();
        });
      case 'answer lost':
        await this.#send(`${label}, its answer lost,`, land);
        return unknown;
      case 'request lost':
        await this.turn(`${label} is lost`);
        return unknown;
      case 'late':
        void this.turn(`${label} arrives late`).then(land);
        await this.turn(`${label} is given up`);
        return unknown;
      case 'refused':
        await this.turn(`${label} is refused`);
        return { kind: 'conflict' };
    }
  }

  /** One turn for the next timer, whichever that will be then. */
  #letTimePass(): void {
    if (this.#timeWaits || this.#timers.length === 0) return;
    this.#timeWaits = true;
    void this.#order.turn('time passes').then(() => {
      this.#timeWaits = false;
      const timer = this.#timers[0];
      if (timer) this.#now = Math.max(this.#now, timer.dueAt);
      timer?.wake();
      this.#letTimePass();
    });
  }
}

/** Every promise that can go on has gone on. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
