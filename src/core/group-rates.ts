/**
 * How much each message group of a standard queue has sent of late, for a bounded number of groups: a new one takes the
 * place and the count of the one that sent least ("space saving"), so a group that sends more than its part of all the
 * traffic is never missed, and a count is never too low. Counts halve at each full minute of manifest time.
 */
import type { GroupHash } from './ids.ts';
import { GROUP_RATE_HALF_MILLIS } from './limits.ts';

export type Rates = ReadonlyMap<GroupHash, number>;

/** After the time from one manifest time to another. Those of nothing go. */
export function halved(rates: Rates, fromMillis: number, toMillis: number): Rates {
  const times =
    Math.floor(toMillis / GROUP_RATE_HALF_MILLIS) - Math.floor(fromMillis / GROUP_RATE_HALF_MILLIS);
  if (rates.size === 0 || times <= 0) return rates;
  const next = new Map<GroupHash, number>();
  for (const [group, count] of rates) {
    const left = Math.floor(count / 2 ** times);
    if (left > 0) next.set(group, left);
  }
  return next;
}

/** Counts one message of each; what each group has then. */
export function counted(
  rates: Rates,
  groups: readonly GroupHash[],
  groupsMax: number,
): { readonly rates: Rates; readonly counts: Rates } {
  const next = new Map(rates);
  const counts = new Map<GroupHash, number>();
  for (const group of groups) {
    const count = (next.get(group) ?? (next.size < groupsMax ? 0 : makeRoom(next))) + 1;
    next.set(group, count);
    counts.set(group, count);
  }
  return { rates: next, counts };
}

/** The count of the one that went. Of equal ones the lowest hash: the order of a map is not part of the state. */
function makeRoom(rates: Map<GroupHash, number>): number {
  let least: GroupHash | undefined;
  let leastCount = Number.POSITIVE_INFINITY;
  for (const [group, count] of rates)
    if (count < leastCount || (count === leastCount && group < least!)) {
      least = group;
      leastCount = count;
    }
  rates.delete(least!);
  return leastCount;
}
