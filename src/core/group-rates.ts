/**
 * How much each message group of a standard queue has sent of late, for a bounded number of groups: a new one takes the
 * place and the count of the one that sent least ("space saving"), so a group that sends more than its part of all the
 * traffic is never missed, and a count is never too low. Counts halve at each full minute of the deciding clock:
 * manifest time may stand far back in the first minutes of a queue, and then leap.
 */
import type { GroupHash } from './ids.ts';
import { BUSY_COUNT_MIN, GROUP_RATE_BACK_MINUTES, GROUP_RATE_HALF_MILLIS } from './limits.ts';
import type { Fairness, GroupRate } from './queue-state.ts';

type Rates = Fairness['rates'];

export class GroupRates {
  readonly minute: number;
  readonly #groupsMax: number;
  #rates: Rates;

  constructor({ rates, minute }: Pick<Fairness, 'rates' | 'minute'>, nowMillis: number, groupsMax: number) {
    this.#groupsMax = groupsMax;
    this.#rates = rates;
    const now = Math.max(0, Math.floor(nowMillis / GROUP_RATE_HALF_MILLIS));
    if (now > minute)
      this.#rates = changed(rates, ({ count, peak }) => ({ count: half(count, now - minute), peak }));
    this.minute = now > minute || now < minute - GROUP_RATE_BACK_MINUTES ? now : minute;
  }

  get current(): Rates {
    return this.#rates;
  }

  /** Of the busiest group that has messages waiting; 0: none has. */
  get highestPeak(): number {
    let highest = 0;
    for (const { peak } of this.#rates.values()) highest = Math.max(highest, peak);
    return highest;
  }

  /** One message of each. What the group counts as for it: its count or, while messages of it wait, its peak. */
  count(groups: readonly GroupHash[]): ReadonlyMap<GroupHash, GroupRate> {
    const rates = new Map(this.#rates);
    const counted = new Map<GroupHash, GroupRate>();
    for (const group of groups) {
      const known = rates.get(group);
      const before = known ?? { count: rates.size < this.#groupsMax ? 0 : makeRoom(rates), peak: 0 };
      const after = { ...before, count: before.count + 1 };
      rates.set(group, after);
      counted.set(group, after);
    }
    this.#rates = rates;
    return counted;
  }

  /** Messages of these busy groups wait from now on. */
  wait(groups: ReadonlySet<GroupHash>): void {
    this.#rates = changed(this.#rates, (rate, group) =>
      groups.has(group) && rate.count > rate.peak ? { ...rate, peak: rate.count } : rate,
    );
  }

  /** Nothing of any busy group waits. */
  forgetPeaks(): void {
    if (this.highestPeak > 0) this.#rates = changed(this.#rates, ({ count }) => ({ count, peak: 0 }));
  }
}

/** What a group with these counts is worth when groups are compared. */
export function weightOf({ count, peak }: GroupRate): number {
  return Math.max(count, peak);
}

export function isBusy(rate: GroupRate): boolean {
  return weightOf(rate) >= BUSY_COUNT_MIN;
}

function half(count: number, times: number): number {
  return Math.floor(count / 2 ** times);
}

/** Those of nothing go. */
function changed(rates: Rates, change: (rate: GroupRate, group: GroupHash) => GroupRate): Rates {
  const next = new Map<GroupHash, GroupRate>();
  for (const [group, rate] of rates) {
    const after = change(rate, group);
    if (weightOf(after) > 0) next.set(group, after);
  }
  return next;
}

/** The count of the one that went. Of equal ones the lowest hash: the order of a map is not part of the state. */
function makeRoom(rates: Map<GroupHash, GroupRate>): number {
  let least: GroupHash | undefined;
  let leastWeight = Number.POSITIVE_INFINITY;
  for (const [group, rate] of rates) {
    const weight = weightOf(rate);
    if (weight < leastWeight || (weight === leastWeight && group < least!)) {
      least = group;
      leastWeight = weight;
    }
  }
  const { count } = rates.get(least!)!;
  rates.delete(least!);
  return count;
}
