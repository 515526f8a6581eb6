/**
 * How far the nodes of a run may be from the store's true time: from what their requests took and what they were told.
 * Checkers judge leases, delays and stamps by it.
 */
import { wallSkewToleratedMillis } from '../../src/engine/store-clock.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import type { SimConfig } from './config.ts';
import type { Life } from './life.ts';
import type { Scheduler } from './scheduler.ts';

export class ClockError {
  liesTold = 0;
  /** The longest that the first answer with a clock took in any life: later ones only narrow a node's bounds. */
  #flightMillisMax = 0;
  #anyFlightMillisMax = 0;
  /** A process that heard a lie before anything else knows no better. */
  #lifeBeganWithLie = false;
  readonly #heard = new Set<Life>();
  /** Of what each life slept, how much lies before the request of an answer that told the time. */
  readonly #sleptBefore = new Map<Life, number>();
  #sleptUnheardMillisMax = 0;
  readonly #config: SimConfig;
  readonly #scheduler: Scheduler;

  constructor(config: SimConfig, scheduler: Scheduler) {
    this.#config = config;
    this.#scheduler = scheduler;
  }

  lied(life: Life): void {
    this.liesTold++;
    if (!this.#heard.has(life)) this.#lifeBeganWithLie = true;
  }

  /** A machine has slept: until the store tells the time again, its lower bound is too low by that. */
  slept(life: Life): void {
    const unheardMillis = life.sleptMillis - (this.#sleptBefore.get(life) ?? 0);
    this.#sleptUnheardMillisMax = Math.max(this.#sleptUnheardMillisMax, unheardMillis);
  }

  /** Measures how long the first answer takes that tells the time: how far a node's bounds may be apart. */
  timed(store: ObjectStore, life: Life): ObjectStore {
    const timed = async <O extends { readonly kind: string }>(write: () => Promise<O>): Promise<O> => {
      const sentAt = life.now;
      const sleptBefore = life.sleptMillis;
      const outcome = await write();
      if (!('time' in outcome && outcome.time)) return outcome;
      const flightMillis = life.now - sentAt;
      this.#anyFlightMillisMax = Math.max(this.#anyFlightMillisMax, flightMillis);
      if (!this.#heard.has(life)) this.#flightMillisMax = Math.max(this.#flightMillisMax, flightMillis);
      this.#heard.add(life);
      this.#sleptBefore.set(life, sleptBefore);
      return outcome;
    };
    return {
      get: (key, options) => store.get(key, options),
      list: (request) => store.list(request),
      delete: (key) => store.delete(key),
      deleteIfMatch: (key, etag) => store.deleteIfMatch(key, etag),
      put: (key, body) => timed(() => store.put(key, body)),
      putIfAbsent: (key, body) => timed(() => store.putIfAbsent(key, body)),
      putIfMatch: (key, body, etag) => timed(() => store.putIfMatch(key, body, etag)),
    };
  }

  /** How wrong a node's estimate of the store's time may be; undefined when nobody can say. */
  clockErrorMillis(): number | undefined {
    const config = this.#config;
    if (this.liesTold > 0 || config.nodes.some(({ stepsPerMinute }) => stepsPerMinute > 0)) return undefined;
    // So far a node goes by its own wall clock.
    const ownMillis = wallSkewToleratedMillis;
    const { now } = this.#scheduler;
    const knownMillis = this.#flightMillisMax + config.dateResolutionMillis + driftMillisAt(now) + ownMillis;
    // A wall clock that is behind passes for right within bounds that far apart.
    const behind = config.nodes.some(({ skewMillis }) => skewMillis < -ownMillis);
    return knownMillis + (behind ? this.#sleptUnheardMillisMax : 0);
  }

  /** A wall clock that was set back while its machine slept hides from everybody for how long that was. */
  sleepHidden(): boolean {
    return (
      this.#sleptUnheardMillisMax > 0 && this.#config.nodes.some(({ stepsPerMinute }) => stepsPerMinute > 0)
    );
  }

  /**
   * How far a stamp may lie before the truth: not at all, but that a lie within a node's bounds cuts them. One outside
   * displaces them, and then the upper bound still covers the truth. Undefined: a process began with a lie, or a wall
   * clock that was set back hides how long its machine slept.
   */
  stampErrorMillis(): number | undefined {
    if (this.sleepHidden()) return undefined;
    if (this.liesTold === 0) return 0;
    if (this.#lifeBeganWithLie) return undefined;
    const config = this.#config;
    return this.#anyFlightMillisMax + config.dateResolutionMillis + driftMillisAt(this.#scheduler.now);
  }
}

/** Clocks drift by what the engine allows for, on both sides; and milliseconds are whole. */
function driftMillisAt(now: number): number {
  return now * 1e-3 + 2;
}
