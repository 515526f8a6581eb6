/**
 * When to look for work of other nodes while a receive waits: 50 ms doubling to 2 s, jittered. Only a poll that
 * finds visible work starts it over; own commits refresh the state for free (DESIGN.md section 3).
 */
import type { Random } from './environment.ts';
import type { EngineTiming } from './settings.ts';

/** Nodes and queues that began together must not go on together. */
export function drawJitter(random: Random): number {
  return 0.8 + 0.4 * random.unit();
}

export class PollSchedule {
  readonly #timing: EngineTiming;
  readonly #random: Random;
  #intervalMillis: number;
  #jitter: number;
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(timing: EngineTiming, random: Random) {
    this.#timing = timing;
    this.#random = random;
    this.#intervalMillis = timing.pollMinMillis;
    this.#jitter = 1;
  }

  /** Without the jitter. */
  get intervalMillis(): number {
    return this.#intervalMillis;
  }

  /** When a state observed at that time is due for another look. */
  dueAt(observedFrom: number): number {
    return observedFrom + this.#intervalMillis * this.#jitter;
  }

  /** The same for a look of nobody's own, which also waits after one that failed. */
  pollAt(observedFrom: number): number {
    return Math.max(this.dueAt(observedFrom), this.#notBefore);
  }

  /** The store did not answer: what was observed gets no younger, so the next look counts from now. */
  failed(monotonicMillis: number): void {
    this.polled(false);
    this.#notBefore = this.dueAt(monotonicMillis);
  }

  polled(foundWork: boolean, jitter = drawJitter(this.#random)): void {
    const { pollMinMillis, pollMaxMillis } = this.#timing;
    this.#intervalMillis = foundWork ? pollMinMillis : Math.min(pollMaxMillis, this.#intervalMillis * 2);
    this.#jitter = jitter;
  }
}
