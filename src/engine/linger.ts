/**
 * How long a commit waits for company. Two rules (docs/design/0004-tuning.md):
 *
 * - Pacing: a queue that was silent commits soon after the first command; while commits follow each other, the first
 *   command after one begins a window, which ends with the linger.
 * - A crowd: writers that swap at the same object lose to each other when their windows are short. With others about,
 *   the window grows with their number and with the slowest one's read and swap, and it is counted from the swap that
 *   landed. So a writer that lost, and landed a round later, stays a round behind the winner from then on: after a few
 *   losses the writers take turns, without knowing of it. Random windows would undo that each time.
 */
import type { Clock } from './environment.ts';
import { batchBytesMax } from './settings.ts';

/** After silence: what was sent together arrives together. */
const gatherMillis = 5;
/** Windows after the last commit in which a command waits as if more were to come; after these the queue was silent. */
const quietWindows = 1.5;
/** Half of the time is then free of anybody's swap: room for writers to settle in. */
const roundsPerWriter = 2;
/** However large the crowd: below, a client would wait longer than it must. Losing some swaps is cheaper. */
const crowdWindowMaxMillis = 2_000;

export interface CrowdPace {
  /** Active writers besides this one. */
  readonly others: number;
  /** Of the slowest writer, this one included: a read and a swap. */
  readonly roundMillis: number;
}

export function windowMillis(lingerMillis: number, { others, roundMillis }: CrowdPace): number {
  if (others === 0) return lingerMillis;
  const crowdMillis = Math.min(roundsPerWriter * roundMillis * (others + 1), crowdWindowMaxMillis);
  return Math.max(lingerMillis, crowdMillis);
}

export interface Pace {
  /** When this loop's last swap began, as a rule the one that landed; all times here are monotonic. */
  readonly lastSwapBegan: number;
  readonly windowMillis: number;
  readonly crowded: boolean;
}

/** When to commit for a first command that arrived then. */
export function commitAt(arrivedAt: number, { lastSwapBegan, windowMillis, crowded }: Pace): number {
  const soonest = arrivedAt + Math.min(gatherMillis, windowMillis);
  const windowEnds = Math.min(arrivedAt + windowMillis, lastSwapBegan + quietWindows * windowMillis);
  const turnComes = crowded ? lastSwapBegan + windowMillis : Number.NEGATIVE_INFINITY;
  return Math.max(soonest, windowEnds, turnComes);
}

export class Linger {
  readonly #clock: Clock;
  #cut: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async until(monotonicMillis: number, pendingBytes: () => number): Promise<void> {
    const restMillis = monotonicMillis - this.#clock.monotonicMillis();
    if (restMillis <= 0 || pendingBytes() >= batchBytesMax) return;
    this.#cut = new AbortController();
    await this.#clock.sleep(restMillis, this.#cut.signal);
    this.#cut = undefined;
  }

  /** A batch is full, or the process stops. */
  cut(): void {
    // Without a reason an exception with a stack would be made.
    this.#cut?.abort('cut');
  }
}
