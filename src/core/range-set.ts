/**
 * An immutable set of sequence numbers, kept as ranges: what is live in a queue is mostly one long run with a few
 * holes, so 100 million live messages cost as many bytes as the holes between them.
 *
 * Representation: one flat array of boundaries, start0, end0, start1, end1 …, each range half-open. Invariants
 * (`isWellFormed`): an even number of boundaries, non-negative safe integers, strictly ascending. Strictly ascending
 * says at once that no range is empty and that neighbours neither overlap nor touch, so equal sets are equal arrays.
 *
 * All questions rest on one number, how many boundaries lie at or below n: it is odd exactly inside a range.
 * An operation that changes nothing returns the very set it was given. Members go up to MAX_SAFE_INTEGER - 1, since
 * an end must itself be a safe integer.
 */

declare const brand: unique symbol;

/** Flat boundaries; see the module header. */
export type RangeSet = readonly number[] & { readonly [brand]: 'RangeSet' };

export const emptyRanges: RangeSet = sealed([]);

/** The set [start, end). */
export function rangesOf(start: number, end: number): RangeSet {
  return addRange(emptyRanges, start, end);
}

/** The union of [start, end) pairs in any order; they may overlap and touch. */
export function fromPairs(pairs: Iterable<readonly [start: number, end: number]>): RangeSet {
  const sorted = [...pairs].sort((left, right) => left[0] - right[0]);
  const flat: number[] = [];
  for (const [start, end] of sorted) {
    assertRange(start, end);
    appendRange(flat, start, end);
  }
  return sealed(flat);
}

/** Whether a flat array from elsewhere (a decoded manifest) may be taken as a set. */
export function isWellFormed(flat: readonly number[]): flat is RangeSet {
  if (flat.length % 2 !== 0) return false;
  let previous = -1;
  for (const boundary of flat) {
    if (!Number.isSafeInteger(boundary) || boundary <= previous) return false;
    previous = boundary;
  }
  return true;
}

export function has(set: RangeSet, n: number): boolean {
  return boundariesAtOrBelow(set, n) % 2 === 1;
}

/** How many numbers the set holds; O(ranges). */
export function size(set: RangeSet): number {
  let total = 0;
  for (let i = 0; i < set.length; i += 2) total += set[i + 1]! - set[i]!;
  return total;
}

export function rangeCount(set: RangeSet): number {
  return set.length / 2;
}

/** The smallest member. */
export function first(set: RangeSet): number | undefined {
  return set[0];
}

/** The smallest member at or above n, in O(log ranges). */
export function firstFrom(set: RangeSet, n: number): number | undefined {
  const at = firstRangeEndingAfter(set, n);
  return at < set.length ? Math.max(n, set[at]!) : undefined;
}

/** Adds [start, end). */
export function addRange(set: RangeSet, start: number, end: number): RangeSet {
  assertRange(start, end);
  if (start === end) return set;
  const at = boundariesAtOrBelow(set, start);
  if (at % 2 === 1 && set[at]! >= end) return set;
  const i = boundariesBelow(set, start);
  const j = boundariesAtOrBelow(set, end);
  const startsInside = i % 2 === 1;
  const endsInside = j % 2 === 1;
  return spliced(set, i, j, startsInside ? undefined : start, endsInside ? undefined : end);
}

/** Removes [start, end). */
export function removeRange(set: RangeSet, start: number, end: number): RangeSet {
  assertRange(start, end);
  if (start === end) return set;
  const at = boundariesAtOrBelow(set, start);
  if (at % 2 === 0 && (at === set.length || set[at]! >= end)) return set;
  const i = boundariesBelow(set, start);
  const j = boundariesAtOrBelow(set, end);
  const cutsStart = i % 2 === 1;
  const cutsEnd = j % 2 === 1;
  return spliced(set, i, j, cutsStart ? start : undefined, cutsEnd ? end : undefined);
}

export function add(set: RangeSet, n: number): RangeSet {
  return addRange(set, n, n + 1);
}

export function remove(set: RangeSet, n: number): RangeSet {
  return removeRange(set, n, n + 1);
}

/** Adds many numbers, in any order and with repeats, in O(ranges + n log n). */
export function addAll(set: RangeSet, numbers: Iterable<number>): RangeSet {
  const runs = runsOf(numbers);
  if (runs.length <= 2) return runs.length === 0 ? set : addRange(set, runs[0]!, runs[1]!);
  return union(set, sealed(runs));
}

/** The members of either, in O(ranges of both). */
export function union(set: RangeSet, other: RangeSet): RangeSet {
  if (set.length === 0) return other;
  const flat: number[] = [];
  let i = 0;
  for (let r = 0; r < other.length; r += 2) {
    for (; i < set.length && set[i]! <= other[r]!; i += 2) appendRange(flat, set[i]!, set[i + 1]!);
    appendRange(flat, other[r]!, other[r + 1]!);
  }
  for (; i < set.length; i += 2) appendRange(flat, set[i]!, set[i + 1]!);
  return sameOr(set, flat);
}

/** Removes many numbers, in any order, with repeats and non-members, in O(ranges + n log n). */
export function removeAll(set: RangeSet, numbers: Iterable<number>): RangeSet {
  const runs = runsOf(numbers);
  if (runs.length <= 2) return runs.length === 0 ? set : removeRange(set, runs[0]!, runs[1]!);
  return difference(set, sealed(runs));
}

/** The members of `set` that are not in `other`, in O(ranges of both). */
export function difference(set: RangeSet, other: RangeSet): RangeSet {
  const flat: number[] = [];
  let r = 0;
  for (let i = 0; i < set.length; i += 2) {
    let start = set[i]!;
    const end = set[i + 1]!;
    while (r < other.length && other[r + 1]! <= start) r += 2;
    for (; r < other.length && other[r]! < end; r += 2) {
      if (other[r]! > start) flat.push(start, other[r]!);
      start = other[r + 1]!;
      // The run may reach into the next range: it stays current.
      if (start >= end) break;
    }
    if (start < end) flat.push(start, end);
  }
  return sameOr(set, flat);
}

/** The members of both, in O(ranges of both). */
export function intersection(set: RangeSet, other: RangeSet): RangeSet {
  if (set.length === 0) return set;
  return difference(set, difference(set, other));
}

/** The lowest ranges, at most so many. */
export function lowestRanges(set: RangeSet, count: number): RangeSet {
  return rangeCount(set) <= count ? set : sealed(set.slice(0, 2 * count));
}

/** How many members lie in [start, end); a binary search, then O(ranges between). */
export function countWithin(set: RangeSet, start: number, end: number): number {
  assertRange(start, end);
  let total = 0;
  for (let i = firstRangeEndingAfter(set, start); i < set.length && set[i]! < end; i += 2) {
    total += Math.min(end, set[i + 1]!) - Math.max(start, set[i]!);
  }
  return total;
}

/** The members within [start, end). */
export function intersectRange(set: RangeSet, start: number, end: number): RangeSet {
  assertRange(start, end);
  if (set.length === 0 || (start <= set[0]! && end >= set[set.length - 1]!)) return set;
  if (start === end) return emptyRanges;
  const flat: number[] = [];
  for (let i = firstRangeEndingAfter(set, start); i < set.length && set[i]! < end; i += 2) {
    flat.push(Math.max(start, set[i]!), Math.min(end, set[i + 1]!));
  }
  return sealed(flat);
}

/** Members from `fromInclusive` on, ascending. */
export function* iterate(set: RangeSet, fromInclusive = 0): Generator<number, void, undefined> {
  for (let i = firstRangeEndingAfter(set, fromInclusive); i < set.length; i += 2) {
    const end = set[i + 1]!;
    for (let n = Math.max(fromInclusive, set[i]!); n < end; n += 1) yield n;
  }
}

function boundariesBelow(flat: readonly number[], n: number): number {
  let low = 0;
  let high = flat.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (flat[middle]! < n) low = middle + 1;
    else high = middle;
  }
  return low;
}

function boundariesAtOrBelow(flat: readonly number[], n: number): number {
  let low = 0;
  let high = flat.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (flat[middle]! <= n) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the start of the first range with a member at or above n. */
function firstRangeEndingAfter(set: RangeSet, n: number): number {
  return boundariesAtOrBelow(set, n) & ~1;
}

/** `set` with boundaries i..j replaced by the given ones. */
function spliced(
  set: RangeSet,
  i: number,
  j: number,
  left: number | undefined,
  right: number | undefined,
): RangeSet {
  const flat = set.slice(0, i);
  if (left !== undefined) flat.push(left);
  if (right !== undefined) flat.push(right);
  for (let k = j; k < set.length; k += 1) flat.push(set[k]!);
  return sealed(flat);
}

/** Appends a range that starts at or after the last one's start. */
function appendRange(flat: number[], start: number, end: number): void {
  if (start === end) return;
  const last = flat.length - 1;
  if (last < 0 || start > flat[last]!) flat.push(start, end);
  else if (end > flat[last]!) flat[last] = end;
}

/** Numbers as sorted, disjoint, non-adjacent runs. */
function runsOf(numbers: Iterable<number>): number[] {
  const sorted = Float64Array.from(numbers).sort();
  const runs: number[] = [];
  for (const n of sorted) {
    assertRange(n, n + 1);
    appendRange(runs, n, n + 1);
  }
  return runs;
}

function sameOr(set: RangeSet, flat: number[]): RangeSet {
  if (flat.length !== set.length) return sealed(flat);
  for (let i = 0; i < flat.length; i += 1) if (flat[i] !== set[i]) return sealed(flat);
  return set;
}

function assertRange(start: number, end: number): void {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start) {
    throw new RangeError(`[${start}, ${end}) is not a range of non-negative safe integers`);
  }
}

function sealed(flat: number[]): RangeSet {
  return flat as unknown as RangeSet;
}
