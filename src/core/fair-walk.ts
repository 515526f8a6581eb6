/**
 * The never received in the order in which receives of a standard queue hand them out: quiet ones first (fairness.ts),
 * but every fourth time the oldest of all. So a message that would be the n-th by its age is at most the 4n-th.
 */
import { dueOf } from './delayed-pages.ts';
import type { Draft } from './draft.ts';
import { QUIET_IN_A_ROW_MAX } from './limits.ts';
import type { PageReader } from './pages.ts';
import { firstFrom, has, intersection, type RangeSet } from './range-set.ts';
import { ReadyWalk } from './ready-pages.ts';

export class FairWalk {
  readonly #oldest: ReadyWalk;
  readonly #quietReady: RangeSet;
  /** Quiet ones whose delay is over, the oldest last. */
  readonly #quietDue: number[] = [];
  readonly #isDue: ReadonlySet<number>;
  #inARow: number;
  /** The next quiet ready one is at or above. */
  #quietFrom = 0;
  /** Where the walk over the oldest is. */
  #oldestFrom = 0;

  constructor(draft: Draft, pages: PageReader) {
    this.#oldest = new ReadyWalk(draft, pages);
    const quiet = draft.fairness.quiet(draft);
    this.#quietReady = intersection(quiet, draft.ready);
    if (quiet.length > 0)
      for (const { sequence } of dueOf(draft.delayed.current, draft.time.nowMillis))
        if (has(quiet, sequence)) this.#quietDue.push(sequence);
    this.#quietDue.sort((a, b) => b - a);
    this.#isDue = new Set(this.#quietDue);
    this.#inARow = draft.fairness.quietInARow;
  }

  /** How many quiet ones were handed out since the oldest was. */
  get quietInARow(): number {
    return this.#inARow;
  }

  /** A delayed message that has its turn here. */
  claims(sequence: number): boolean {
    return this.#isDue.has(sequence);
  }

  /** `undefined` also while a page is needed: what follows is not known. */
  next(): number | undefined {
    if (this.#inARow < QUIET_IN_A_ROW_MAX) {
      const quiet = this.#nextQuiet();
      if (quiet !== undefined) {
        this.#inARow++;
        return quiet;
      }
    }
    this.#inARow = 0;
    for (let oldest = this.#oldest.next(); oldest !== undefined; oldest = this.#oldest.next()) {
      this.#oldestFrom = oldest + 1;
      const handedOut = oldest < this.#quietFrom && has(this.#quietReady, oldest);
      if (!handedOut) return oldest;
    }
    return this.#nextQuiet();
  }

  /** Of what is never quiet. */
  skipTo(sequence: number): void {
    this.#oldest.skipTo(sequence);
  }

  #nextQuiet(): number | undefined {
    const ready = firstFrom(this.#quietReady, Math.max(this.#quietFrom, this.#oldestFrom));
    const due = this.#quietDue.at(-1);
    if (due !== undefined && (ready === undefined || due < ready)) return this.#quietDue.pop();
    if (ready !== undefined) this.#quietFrom = ready + 1;
    return ready;
  }
}
