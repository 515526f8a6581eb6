/**
 * Fair queues: in a standard queue with message groups those of a busy group don't keep the others waiting
 * (docs/design/0009-fair-queues.md). At its send a message is called quiet if its group has sent less than a quarter of
 * what the busiest group had sent whose messages wait; receives take quiet ones first, but every fourth time the oldest
 * of all (fair-walk.ts). While nothing of a busy group waits, nothing is quiet and the order is that of the sends. A group
 * that was busy stays so as long as that.
 *
 * Invariants, of what `seal` gives
 * - A quiet message is ready or delayed, and no page has it: to hand one out costs no page. The folds leave them in the
 *   manifest while they can. Only of a delayed message its page may have it.
 * - Everything is bounded: ranges of quiet messages, groups that are counted.
 * - A queue of whose messages none has a group keeps nothing.
 * It is a hint. Who goes on from a stale one (an older node has committed meanwhile) hands out in another order.
 */
import type { Draft } from './draft.ts';
import { GroupRates, isBusy, weightOf } from './group-rates.ts';
import type { GroupHash } from './ids.ts';
import { BUSY_COUNT_MIN, QUIET_PART } from './limits.ts';
import { type Fairness, type GroupRate, noFairness } from './queue-state.ts';
import {
  addAll,
  addRange,
  difference,
  emptyRanges,
  first,
  intersection,
  lowestRanges,
  type RangeSet,
  removeAll,
  removeRange,
  union,
} from './range-set.ts';

interface Sent {
  readonly sequence: number;
  /** Undefined: of none, so of one of its own. */
  readonly group: GroupHash | undefined;
}

/** Of a message without a group. */
const alone: GroupRate = { count: 1, peak: 0 };

export class FairnessUnderChange {
  readonly #rates: GroupRates;
  readonly #rangesMax: number;
  #sent: Sent[] = [];
  readonly #left: number[] = [];
  #quiet: RangeSet;
  #busyBelow: number;
  #quietInARow: number;

  constructor(
    base: Fairness,
    nowMillis: number,
    limits: { readonly groupRatesMax: number; readonly quietRangesMax: number },
  ) {
    this.#rangesMax = limits.quietRangesMax;
    this.#rates = new GroupRates(base, nowMillis, limits.groupRatesMax);
    this.#quiet = base.quiet;
    this.#busyBelow = base.busyBelow;
    this.#quietInARow = base.quietInARow;
  }

  get quietInARow(): number {
    return this.#quietInARow;
  }

  sent(sequence: number, group: GroupHash | undefined): void {
    this.#sent.push({ sequence, group });
  }

  /** Who was given back unseen had had its turn, and comes first again. */
  givenBack(sequences: readonly number[]): void {
    if (this.#busyBelow > 0) this.#quiet = addAll(this.#quiet, sequences);
  }

  /** It was handed out, or has ended. */
  left(sequence: number): void {
    this.#left.push(sequence);
  }

  handedOut(quietInARow: number): void {
    this.#quietInARow = quietInARow;
  }

  /** Those that may be handed out first now. */
  quiet(draft: Draft): RangeSet {
    this.#settleSends();
    if (this.#quiet.length === 0) return emptyRanges;
    const waiting = intersection(removeAll(this.#quiet, this.#left), waitingOutsidePages(draft));
    return lowestRanges(waiting, this.#rangesMax);
  }

  seal(draft: Draft): Fairness {
    const quiet = this.quiet(draft);
    const busyBelow = busyOnesWait(draft, quiet, this.#busyBelow) ? this.#busyBelow : 0;
    if (busyBelow === 0) this.#rates.forgetPeaks();
    const { current: rates, minute } = this.#rates;
    if (rates.size === 0) return noFairness;
    return {
      rates,
      minute,
      quiet: busyBelow === 0 ? emptyRanges : quiet,
      busyBelow,
      quietInARow: this.#quietInARow,
    };
  }

  /** All of a transition at once: the order of its commands says nothing about who is busy. */
  #settleSends(): void {
    const sent = this.#sent;
    if (sent.length === 0) return;
    this.#sent = [];
    const groups = sent.flatMap(({ group }) => (group === undefined ? [] : [group]));
    if (groups.length === 0 && this.#busyBelow === 0) return;
    const counts = this.#rates.count(groups);
    let busiest = this.#rates.highestPeak;
    for (const rate of counts.values()) busiest = Math.max(busiest, weightOf(rate));
    if (busiest < BUSY_COUNT_MIN) return;
    const quiet: number[] = [];
    const busy = new Set<GroupHash>();
    for (const { sequence, group } of sent) {
      const rate = group === undefined ? alone : counts.get(group)!;
      if (weightOf(rate) < busiest * QUIET_PART) quiet.push(sequence);
      else if (group !== undefined && isBusy(rate)) {
        busy.add(group);
        this.#busyBelow = sequence + 1;
      }
    }
    this.#rates.wait(busy);
    this.#quiet = addAll(this.#quiet, quiet);
  }
}

/** Ready or delayed. Pages of ready messages and of segments would have to be brought back for one of them. */
function waitingOutsidePages(draft: Draft): RangeSet {
  let waiting = draft.ready;
  const { delayed, delayedPages, segmentsPages } = draft;
  if (delayed.current.size > 0) waiting = union(waiting, addAll(emptyRanges, delayed.current.keys()));
  for (const { firstSequence, lastSequence } of delayedPages.current.values())
    waiting = addRange(waiting, firstSequence, lastSequence + 1);
  for (const { firstSequence, lastSequence } of segmentsPages.current.values())
    waiting = removeRange(waiting, firstSequence, lastSequence + 1);
  return waiting;
}

/** Whether anything waits, wherever it is, that is not quiet and was sent when a group was busy, or before. */
function busyOnesWait(draft: Draft, quiet: RangeSet, busyBelow: number): boolean {
  if (busyBelow === 0) return false;
  for (const pages of [draft.readyPages, draft.delayedPages])
    for (const { firstSequence } of pages.current.values()) if (firstSequence < busyBelow) return true;
  const ready = first(difference(draft.ready, quiet));
  if (ready !== undefined && ready < busyBelow) return true;
  const delayed = first(difference(addAll(emptyRanges, draft.delayed.current.keys()), quiet));
  return delayed !== undefined && delayed < busyBelow;
}
