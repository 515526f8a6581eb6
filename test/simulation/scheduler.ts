/**
 * Virtual time: events in the order of their time (equal ones in the order they were set), and between two events
 * every promise that can go on does.
 *
 * The code under test waits for nothing but promises and this scheduler, so one turn of the macrotask queue (about a
 * microsecond) is enough to know that all of it stands still; counting microtask turns would depend on how deep an
 * engine's awaits are nested. An event that wakes nobody (a write that lands) says `quiet` and saves the turn.
 */
import { setImmediate } from 'node:timers';

/** Answers `quiet` when it has woken nobody; anything else counts for nothing. */
export type Act = () => unknown;

export interface SimEvent {
  readonly at: number;
  readonly order: number;
  act: Act | undefined;
}

export class Scheduler {
  /** Milliseconds since the start of the run. */
  now = 0;
  events = 0;
  #order = 0;
  readonly #heap: SimEvent[] = [];

  at(millis: number, act: Act): SimEvent {
    const event: SimEvent = { at: Math.max(millis, this.now), order: this.#order++, act };
    this.#push(event);
    return event;
  }

  cancel(event: SimEvent): void {
    event.act = undefined;
  }

  sleep(millis: number): Promise<void> {
    return new Promise((resolve) => {
      this.at(this.now + millis, resolve);
    });
  }

  /** Runs until `done`, or until nothing is left to happen by `untilMillis`. */
  async run(done: () => boolean, untilMillis: number): Promise<void> {
    await idle();
    while (!done()) {
      const event = this.#heap[0];
      if (!event || event.at > untilMillis) return;
      this.#pop();
      const { act } = event;
      if (!act) continue;
      this.now = event.at;
      this.events++;
      if (act() !== 'quiet') await idle();
    }
  }

  #push(event: SimEvent): void {
    const heap = this.#heap;
    let index = heap.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!before(event, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}

function before(a: SimEvent, b: SimEvent): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function idle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** What a dead process waits for: one promise for each, or one would keep every dead world in memory. */
export function never(): Promise<never> {
  return new Promise(() => undefined);
}
