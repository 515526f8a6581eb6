/**
 * How long a commit waits for company. Two times bound it (`commitAt`):
 *
 * - Pacing: a queue that was silent commits soon after the first command; while commits follow each other, the first
 *   command after one begins a window, which the linger ends.
 * - Crowd linger: writers that swap at the same object lose to each other when their windows are short. With others
 *   about, the window grows with their number and with the slowest one's read and swap, and is drawn anew for each
 *   commit, so that two writers never fall into step.
 */
import type { Clock } from './environment.ts';
import { batchBytesMax } from './settings.ts';

/** After silence: what was sent together arrives together. */
const gatherMillis = 5;
/**
 * Windows since the last commit began after which a queue counts as silent. At 1 every command of a busy queue would be
 * committed a window after the last commit instead of after the first command: 6 % more commits at 100 messages/s.
 */
const quietWindows = 1.5;
/**
 * Windows of two rounds leave half of a writer's time free of any other's swap; a tenth more costs 10 ms of the median
 * at two nodes and saves 9 % of the requests (docs/design/0004-tuning.md).
 */
const roundsPerWriter = 2.2;
/** However large the crowd: below, a client would wait longer than it must. Losing some swaps is cheaper. */
const crowdLingerMaxMillis = 2_000;

export interface CrowdPace {
  /** Active writers besides this one. */
  readonly others: number;
  /** Of the slowest writer, this one included: a read and a swap. */
  readonly roundMillis: number;
}

/** `draw`: uniform in [0, 1). */
export function windowMillis(lingerMillis: number, { others, roundMillis }: CrowdPace, draw: number): number {
  if (others === 0) return lingerMillis;
  const crowdMillis = Math.min(roundsPerWriter * roundMillis * (others + 1), crowdLingerMaxMillis);
  return Math.max(lingerMillis, crowdMillis) * (0.8 + 0.4 * draw);
}

/**
 * When to commit for a first command that arrived then. `lastBegan`: the beginning of the last commit. Between the
 * end of a window after that and one and a half, a command waits only for its own company: the longer it has been
 * quiet, the less is to come.
 */
export function commitAt(arrivedAt: number, lastBegan: number, window: number): number {
  const soon = arrivedAt + Math.min(gatherMillis, window);
  return Math.max(soon, Math.min(arrivedAt + window, lastBegan + quietWindows * window));
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
    this.#cut?.abort();
  }
}
