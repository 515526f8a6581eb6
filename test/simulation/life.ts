/**
 * One life of a node's process: its clock, its timers, and whether it still lives.
 *
 * - Killed: nothing of it leaves any more and nothing reaches it; what it waits for never comes. Requests that were
 *   on their way may still land in the bucket.
 * - Paused: from that very point in its code on, its own time is the end of the pause. So a pause falls between two
 *   statements (apply and swap, say): what it looks at and sends afterwards has the later time, and what arrives
 *   meanwhile waits for it.
 * - Asleep: paused with the whole machine, whose monotonic clock and timers stand still meanwhile (Linux in suspend)
 *   while its wall clock goes on.
 */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../../src/engine/environment.ts';
import type { NodeConfig } from './config.ts';
import type { Prng } from './prng.ts';
import { never, type Scheduler, type SimEvent } from './scheduler.ts';

/** Store time when the simulation begins. Not a whole second. */
export const originMillis = 1_800_000_000_437;

/** The store's true clock, milliseconds since the epoch. */
export function storeMillisAt(now: number): number {
  return Math.floor(originMillis + now);
}

export interface LifeFaults {
  readonly kill: number;
  readonly pause: number;
  readonly pauseMillisMax: number;
  /** The share of pauses in which the machine sleeps. */
  readonly sleeps: number;
  /** Off in the liveness phase. */
  active(): boolean;
}

export interface LifeEvents {
  killed(): void;
  paused(millis: number, asleep: boolean): void;
}

export class Life implements Clock {
  alive = true;
  readonly #scheduler: Scheduler;
  readonly #config: NodeConfig;
  readonly #draw: Prng;
  readonly #faults: LifeFaults;
  readonly #events: LifeEvents;
  readonly #bornAt: number;
  #resumesAt = 0;
  #looks = 0;
  #wallStepMillis = 0;
  readonly #sleeps: Prng;
  /** How long the monotonic clock stood still so far. */
  sleptMillis = 0;

  constructor(scheduler: Scheduler, config: NodeConfig, draw: Prng, faults: LifeFaults, events: LifeEvents) {
    this.#scheduler = scheduler;
    this.#config = config;
    this.#draw = draw;
    this.#faults = faults;
    this.#events = events;
    this.#bornAt = scheduler.now;
    this.#sleeps = draw.stream('sleeps');
  }

  /** True time as this process lives it. */
  get now(): number {
    return Math.max(this.#scheduler.now, this.#resumesAt);
  }

  /** What the clocks that stop in sleep go by. */
  get #awakeMillis(): number {
    return this.now - this.sleptMillis;
  }

  monotonicMillis(): number {
    // Two looks never show the same instant, so a rule that compares instants can't pass by equality.
    this.#looks++;
    const elapsed = (this.#awakeMillis - this.#bornAt) * (1 + this.#config.driftPpm / 1e6);
    return 1_000 + elapsed + this.#looks * 1e-6;
  }

  wallMillis(): number {
    const drift = this.now * (this.#config.driftPpm / 1e6);
    return Math.floor(originMillis + this.now + drift + this.#config.skewMillis + this.#wallStepMillis);
  }

  stepWall(millis: number): void {
    this.#wallStepMillis += millis;
  }

  sleep(millis: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    this.touch();
    if (!this.alive) return never();
    return new Promise((resolve) => {
      const until = this.#awakeMillis + Math.max(0, millis);
      const set = () => this.at(until + this.sleptMillis, ring);
      const ring = () => {
        // Slept through: the rest of it. Sums of fractions may miss by their last digit.
        if (this.#awakeMillis < until - 1e-6) {
          timer = set();
          return;
        }
        signal?.removeEventListener('abort', cancelled);
        resolve();
      };
      let timer = set();
      const cancelled = () => {
        this.#scheduler.cancel(timer);
        resolve();
      };
      if (!signal) return;
      // Any number of sleeps may wait on one signal: the engine's own stop ends them all.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', cancelled, { once: true });
    });
  }

  /** Something that happens to this process: later when it is paused then, never when it is dead. */
  at(millis: number, act: () => void): SimEvent {
    const event = this.#scheduler.at(millis, () => {
      if (!this.alive) return 'quiet';
      if (this.#resumesAt > this.#scheduler.now) {
        this.at(this.#resumesAt, act);
        return 'quiet';
      }
      return act();
    });
    return event;
  }

  /** At an await on the environment: here a process may die or stall. */
  touch(): void {
    const { kill, pause, pauseMillisMax } = this.#faults;
    if (!this.alive || !this.#faults.active()) return;
    if (this.#draw.chance(kill)) this.#die();
    else if (this.#draw.chance(pause)) {
      const millis = pauseMillisMax * this.#draw.unit() * this.#draw.unit();
      this.#resumesAt = this.now + millis;
      const asleep = this.#sleeps.chance(this.#faults.sleeps);
      if (asleep) this.sleptMillis += millis;
      this.#events.paused(millis, asleep);
    }
  }

  /** At once, or a little later: while it waits, with requests under way. */
  #die(): void {
    if (this.#draw.chance(0.5)) {
      this.kill();
      return;
    }
    this.#scheduler.at(this.#scheduler.now + this.#draw.real(0, 100), () => {
      if (this.#faults.active()) this.kill();
      return 'quiet';
    });
  }

  kill(): void {
    if (!this.alive) return;
    this.alive = false;
    this.#events.killed();
  }
}
