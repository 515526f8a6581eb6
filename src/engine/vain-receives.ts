/**
 * Receives that found nothing although messages are visible: their bodies can't be read, the queue is at its in-flight
 * bound, or, on a FIFO queue, their groups are locked. The same state must not wake them again at once.
 *
 * On a FIFO queue that is the ordinary case: a consumer holds a group, and thousands wait behind it. What unlocks it
 * without a commit is time, which `nextVisibleAt` knows; everything else makes a new version.
 */
import { nextVisibleAt } from '../core/counts.ts';
import type { QueueState } from '../core/queue-state.ts';

export class VainReceives {
  /** They are tried again after this long whatever is known: what can't be read may be readable then. */
  readonly #restMillisMax: number;
  #version = 0;
  /** Monotonic. */
  #until = 0;

  constructor(restMillisMax: number) {
    this.#restMillisMax = restMillisMax;
  }

  /** `now` is monotonic. What has become visible since they were tried was not there for them. */
  note(state: QueueState, at: { triedMillisAgo: number; nowMillis: number; now: number }): void {
    const { triedMillisAgo, nowMillis, now } = at;
    const nextAt = nextVisibleAt(state, nowMillis - triedMillisAgo) ?? Number.POSITIVE_INFINITY;
    this.#version = state.version;
    this.#until = now + Math.min(nextAt - nowMillis, this.#restMillisMax);
  }

  /** How long there is nothing to be had of that state, milliseconds; not positive: it may be tried. */
  restMillis({ version }: QueueState, now: number): number {
    return this.#version === version ? this.#until - now : 0;
  }
}
