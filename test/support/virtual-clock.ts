/**
 * Time that stands still until everything is idle, then jumps to the next timer: a day passes in milliseconds, and a
 * run is the same each time.
 *
 * - `monotonicMillis` ticks a little with every look, as a real clock does: two requests never begin at one instant,
 *   so a rule that compares instants can't pass by equality.
 * - Idle means that one macrotask went by: every promise that could go on without a timer has gone on by then. The
 *   engine and the stores of these tests wait for nothing but promises and this clock.
 */
import { setMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers';
import type { Clock } from '../../src/engine/environment.ts';

/** Wall time when virtual time is 0; a whole second. */
export const originMillis = 1_800_000_000_000;

const tickMillis = 1 / 1024;

interface Timer {
  readonly dueAt: number;
  readonly resolve: () => void;
}

export class VirtualClock implements Clock {
  #now = 0;
  /** Ascending; equal ones in the order they were set. */
  readonly #timers: Timer[] = [];

  monotonicMillis(): number {
    this.#now += tickMillis;
    return this.#now;
  }

  wallMillis(): number {
    return Math.floor(originMillis + this.#now);
  }

  sleep(millis: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        signal?.removeEventListener('abort', cancelled);
        resolve();
      };
      const timer: Timer = { dueAt: this.#now + Math.max(0, millis), resolve: done };
      const cancelled = () => {
        this.#timers.splice(this.#timers.indexOf(timer), 1);
        resolve();
      };
      // As in src/runtime/clock.ts: a node has more than ten things asleep.
      if (signal) setMaxListeners(0, signal);
      signal?.addEventListener('abort', cancelled, { once: true });
      this.#insert(timer);
    });
  }

  /** As if the process had been stopped for that long: no timer fires in between. */
  jump(millis: number): void {
    this.#now += millis;
  }

  /** Lets time pass until the promise settles. @throws Error when nothing is left that could settle it in time. */
  async runUntil<T>(promise: Promise<T>, limitMillis = 10 * 60_000): Promise<T> {
    let settled = false;
    const note = () => {
      settled = true;
    };
    promise.then(note, note);
    const end = this.#now + limitMillis;
    for (;;) {
      await idle();
      if (settled) return promise;
      if (!this.#fire(end)) throw new Error(`nothing happened that was waited for in ${limitMillis} ms`);
    }
  }

  /** Lets that much time pass. */
  async advance(millis: number): Promise<void> {
    const end = this.#now + millis;
    for (;;) {
      await idle();
      if (this.#fire(end)) continue;
      this.#now = Math.max(this.#now, end);
      return;
    }
  }

  #fire(latest: number): boolean {
    const timer = this.#timers[0];
    if (!timer || timer.dueAt > latest) return false;
    this.#timers.shift();
    this.#now = Math.max(this.#now, timer.dueAt);
    timer.resolve();
    return true;
  }

  #insert(timer: Timer): void {
    let at = this.#timers.length;
    while (at > 0 && this.#timers[at - 1]!.dueAt > timer.dueAt) at--;
    this.#timers.splice(at, 0, timer);
  }
}

/** A node's own view of time: its wall clock may be wrong, its monotonic one is everybody's. */
export class SkewedClock implements Clock {
  readonly #clock: VirtualClock;
  skewMillis: number;
  constructor(clock: VirtualClock, skewMillis: number) {
    this.#clock = clock;
    this.skewMillis = skewMillis;
  }
  wallMillis(): number {
    return this.#clock.wallMillis() + this.skewMillis;
  }
  monotonicMillis(): number {
    return this.#clock.monotonicMillis();
  }
  sleep(millis: number, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(millis, signal);
  }
}

function idle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
