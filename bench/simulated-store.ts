/**
 * One process's way to a shared bucket in virtual time: lognormal latencies, plus the body at the bandwidth of one
 * stream. A write is decided at a uniform point in the last half of its latency, a read sees the state at half of
 * it. No faults: those are the simulator's (test/simulation); here the price of the plain run is measured.
 */
import type { ETag, ListRequest, ObjectStore } from '../src/store/object-store.ts';
import type { Scheduler } from '../test/simulation/scheduler.ts';
import type { Draw, Latency } from './draw.ts';

export interface Distance {
  readonly put: Latency;
  readonly get: Latency;
}

/** What AWS shows from within its region. */
export const nearS3: Distance = {
  put: { medianMillis: 35, p99Millis: 120 },
  get: { medianMillis: 15, p99Millis: 60 },
};

/** Of one stream. */
export const bytesPerMilli = 80_000;

export class SimulatedStore implements ObjectStore {
  readonly #bucket: ObjectStore;
  readonly #scheduler: Scheduler;
  readonly #draw: Draw;
  readonly #distance: Distance;

  constructor(bucket: ObjectStore, scheduler: Scheduler, draw: Draw, distance: Distance) {
    this.#bucket = bucket;
    this.#scheduler = scheduler;
    this.#draw = draw;
    this.#distance = distance;
  }

  get(key: string, options?: { readonly ifNoneMatch?: ETag }) {
    const bodyMillis = (outcome: Awaited<ReturnType<ObjectStore['get']>>) =>
      outcome.kind === 'done' ? outcome.body.length / bytesPerMilli : 0;
    return this.#read(() => this.#bucket.get(key, options), bodyMillis);
  }
  list(request: ListRequest) {
    return this.#read(
      () => this.#bucket.list(request),
      () => 0,
    );
  }
  put(key: string, body: Uint8Array) {
    return this.#write(body.length, () => this.#bucket.put(key, body));
  }
  putIfAbsent(key: string, body: Uint8Array) {
    return this.#write(body.length, () => this.#bucket.putIfAbsent(key, body));
  }
  putIfMatch(key: string, body: Uint8Array, etag: ETag) {
    return this.#write(body.length, () => this.#bucket.putIfMatch(key, body, etag));
  }
  delete(key: string) {
    return this.#write(0, () => this.#bucket.delete(key));
  }
  deleteIfMatch(key: string, etag: ETag) {
    return this.#write(0, () => this.#bucket.deleteIfMatch(key, etag));
  }

  #read<O>(act: () => Promise<O>, bodyMillis: (outcome: O) => number): Promise<O> {
    const half = this.#draw.lognormal(this.#distance.get) / 2;
    return this.#travel(half, act, (outcome) => half + bodyMillis(outcome));
  }

  #write<O>(bytes: number, act: () => Promise<O>): Promise<O> {
    const whole = this.#draw.lognormal(this.#distance.put) + bytes / bytesPerMilli;
    const there = whole * this.#draw.between(0.5, 1);
    return this.#travel(there, act, () => whole - there);
  }

  #travel<O>(thereMillis: number, act: () => Promise<O>, backMillis: (outcome: O) => number): Promise<O> {
    const scheduler = this.#scheduler;
    return new Promise((resolve, reject) => {
      scheduler.at(scheduler.now + thereMillis, () => {
        // It takes effect here, at the call; its promise settles within this instant.
        act().then((outcome) => {
          scheduler.at(scheduler.now + backMillis(outcome), () => resolve(outcome));
        }, reject);
      });
    });
  }
}
