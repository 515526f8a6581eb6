/**
 * In which order things that wait happen. Everything in a race that could happen now stands in one line; fast-check
 * draws who is next. Two ways to draw:
 *
 * - `fc.scheduler()`: uniform, as long as the race lasts; it can be replayed but, as of fast-check 4.11, not shrunk.
 * - a drawn list of places in the line, then first come first served: shrinks to the few that have to jump it.
 */
import type fc from 'fast-check';

export interface Order {
  /** Resolves when it is that one's turn. */
  turn(label: string): Promise<void>;
  waiting(): number;
  /** Lets one go on. */
  next(): Promise<void>;
}

export function scheduledOrder(scheduler: fc.Scheduler): Order {
  return {
    turn: (label) => scheduler.schedule(Promise.resolve(), label),
    waiting: () => scheduler.count(),
    next: () => scheduler.waitNext(1),
  };
}

export function drawnOrder(places: readonly number[]): Order {
  const line: (() => void)[] = [];
  let drawn = 0;
  return {
    turn: () =>
      new Promise((resolve) => {
        line.push(resolve);
      }),
    waiting: () => line.length,
    next: async () => {
      const place = (places[drawn++] ?? 0) % line.length;
      for (const goOn of line.splice(place, 1)) goOn();
    },
  };
}
