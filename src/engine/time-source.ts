/**
 * The store's time for this process: feeds every write's answer to the StoreClock and turns its bounds into the three
 * times a transition needs. One per process, shared by all queues.
 */
import type { TransitionTime } from '../core/draft.ts';
import { advanceManifestTime } from '../core/time.ts';
import { clockObjectKey } from '../format/object-keys.ts';
import { type ObjectStore, StoreError, type StoreTime } from '../store/object-store.ts';
import type { Environment } from './environment.ts';
import { confirmationMillis, StoreClock, type StoreTimeReading } from './store-clock.ts';

/** Where a loop first met its queue's manifest time (core/time.ts). */
export interface TimeAnchor {
  readonly manifestMillis: number;
  readonly monotonicMillis: number;
}

/** An answer that came by a cache (`Age`) tells no time: so many in a row, and the store has no clock to tell. */
const clocklessAnswersMax = 5;

export class TimeSource {
  readonly #environment: Environment;
  readonly #clock = new StoreClock();
  #primed: Promise<void> | undefined;
  #saidSkew = false;
  /** Monotonic. */
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** The same store, listened to. */
  listen(store: ObjectStore): ObjectStore {
    const heard = <O extends { readonly kind: string }>(write: () => Promise<O>): Promise<O> =>
      this.#listenTo(write);
    return {
      get: (key, options) => store.get(key, options),
      list: (request) => store.list(request),
      delete: (key) => store.delete(key),
      deleteIfMatch: (key, etag) => store.deleteIfMatch(key, etag),
      put: (key, body) => heard(() => store.put(key, body)),
      putIfAbsent: (key, body) => heard(() => store.putIfAbsent(key, body)),
      putIfMatch: (key, body, etag) => heard(() => store.putIfMatch(key, body, etag)),
    };
  }

  async #listenTo<O extends { readonly kind: string }>(write: () => Promise<O>): Promise<O> {
    const { clock } = this.#environment;
    const sentMonotonic = clock.monotonicMillis();
    const sentWall = clock.wallMillis();
    const outcome = await write();
    const time = 'time' in outcome ? (outcome.time as StoreTime | undefined) : undefined;
    if (time)
      this.#clock.observe({
        sentMonotonic,
        sentWall,
        receivedMonotonic: clock.monotonicMillis(),
        receivedWall: clock.wallMillis(),
        time,
      });
    return outcome;
  }

  /**
   * A process that only reads would never have its bounds confirmed: asks again in the background, when somebody wants
   * the time and the last question is old enough for its answer to confirm.
   */
  #confirmLater(): void {
    const { clock, store } = this.#environment;
    const now = clock.monotonicMillis();
    if (now - this.#askedAt < confirmationMillis) return;
    this.#askedAt = now;
    void this.ask(this.listen(store)).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
    });
  }

  /**
   * Makes sure that there are bounds: one small write when nothing was written yet, and more while the store's answers
   * tell no time, since a stamp by a clock of our own that is behind would end lives early †. @throws StoreError
   */
  prime(store: ObjectStore): Promise<void> {
    this.#primed ??= this.#prime(store).catch((error: unknown) => {
      this.#primed = undefined;
      throw error;
    });
    return this.#primed;
  }

  async #prime(store: ObjectStore): Promise<void> {
    for (let asked = 0; asked < clocklessAnswersMax && !this.#read(); asked++) await this.ask(store);
  }

  /** Asks the store for its time by a small write: a second answer a minute later confirms the bounds. @throws StoreError */
  async ask(store: ObjectStore): Promise<void> {
    this.#askedAt = this.#environment.clock.monotonicMillis();
    const key = clockObjectKey(this.#environment.random.bytes(8));
    const outcome = await store.put(key, new Uint8Array());
    // Without an answer there are no bounds, and the local clock may be an hour off.
    if (outcome.kind === 'unknown')
      throw new StoreError(`the store did not tell its time: ${outcome.reason}`, {
        retryable: true,
        throttled: outcome.throttled,
      });
    await store.delete(key);
  }

  /** For a look from outside a commit. `lowerMillis` is 0 until it is confirmed: nothing may be destroyed by it. */
  bounds(): { readonly lowerMillis: number; readonly stampMillis: number; readonly nowMillis: number } {
    const reading = this.#reading();
    return {
      lowerMillis: reading.confirmed ? reading.lowerMillis : 0,
      stampMillis: reading.upperMillis,
      nowMillis: reading.nowMillis,
    };
  }

  transitionTime(manifestMillis: number, anchor: TimeAnchor): TransitionTime {
    const reading = this.#reading();
    const nextMillis = advanceManifestTime({
      manifestMillis,
      lowerMillis: reading.lowerMillis,
      confirmed: reading.confirmed,
      anchorMillis: anchor.manifestMillis,
      elapsedSinceAnchorMillis: this.#environment.clock.monotonicMillis() - anchor.monotonicMillis,
    });
    // Were manifest time ever ahead of the store's, a new message would still live its whole retention.
    const stampMillis = Math.max(reading.upperMillis, reading.nowMillis, nextMillis);
    return { nowMillis: reading.nowMillis, stampMillis, manifestMillis: nextMillis };
  }

  #read(): StoreTimeReading | undefined {
    const { clock } = this.#environment;
    return this.#clock.read(clock.monotonicMillis(), clock.wallMillis());
  }

  #reading(): StoreTimeReading {
    const reading = this.#read();
    // A store that sends no clock at all: the local one is all there is, and never confirmed.
    if (!reading) {
      const wallMillis = Math.floor(this.#environment.clock.wallMillis());
      const bounds = { lowerMillis: wallMillis, upperMillis: wallMillis, nowMillis: wallMillis };
      return { ...bounds, confirmed: false, wallSkewMillis: 0, wallIsOff: false };
    }
    if (!reading.confirmed) this.#confirmLater();
    if (reading.wallIsOff && !this.#saidSkew)
      this.#environment.log.warn('the clock of this machine differs from the time of the store', {
        aheadMillis: reading.wallSkewMillis,
      });
    this.#saidSkew = reading.wallIsOff;
    return reading;
  }
}
