/**
 * One page of deliveries: what it holds, and which of that has left since. The page never changes; the reference to it
 * has a bit for each entry, set when its message was deleted, redelivered, moved, or leased anew. An entry's ordinal
 * is its place in ascending order of sequence.
 */
import type { GroupHash } from './ids.ts';
import type { Delivery, LeasePageReference } from './queue-state.ts';

/** Two arrays of one length, ascending by sequence: half the memory of a map. */
export interface LeasePage {
  readonly sequences: readonly number[];
  readonly deliveries: readonly Delivery[];
}

/** What is known of a page without reading it, as long as nothing has left. */
export type LeasePageSummary = Omit<LeasePageReference, 'baseVersion' | 'nonce'>;

const nothingLeft = new Uint8Array(0);

export function leasePageOf(entries: Iterable<readonly [number, Delivery]>): LeasePage {
  const sorted = [...entries].sort(([a], [b]) => a - b);
  return { sequences: sorted.map(([sequence]) => sequence), deliveries: sorted.map(([, entry]) => entry) };
}

export function summaryOf(page: LeasePage): LeasePageSummary {
  const count = page.sequences.length;
  return {
    count,
    remaining: count,
    firstSequence: page.sequences[0]!,
    lastSequence: page.sequences[count - 1]!,
    ...visibilityOf(page, nothingLeft),
    left: nothingLeft,
  };
}

/** When the first and the last of what is still there become visible. */
export function visibilityOf(
  { deliveries }: LeasePage,
  left: Uint8Array,
): Pick<LeasePageReference, 'firstVisibleAtMillis' | 'lastVisibleAtMillis'> {
  let firstVisibleAtMillis = Number.POSITIVE_INFINITY;
  let lastVisibleAtMillis = 0;
  for (let ordinal = 0; ordinal < deliveries.length; ordinal++) {
    if (hasLeft(left, ordinal)) continue;
    const { visibleAtMillis } = deliveries[ordinal]!;
    if (visibleAtMillis < firstVisibleAtMillis) firstVisibleAtMillis = visibleAtMillis;
    if (visibleAtMillis > lastVisibleAtMillis) lastVisibleAtMillis = visibleAtMillis;
  }
  return { firstVisibleAtMillis, lastVisibleAtMillis };
}

export function hasLeft(left: Uint8Array, ordinal: number): boolean {
  return left.length > 0 && (left[ordinal >>> 3]! & (1 << (ordinal & 7))) !== 0;
}

/** How many have left. */
export function countLeft(left: Uint8Array): number {
  let total = 0;
  for (const byte of left) for (let rest = byte; rest !== 0; rest &= rest - 1) total++;
  return total;
}

export function bitmapBytes(count: number): number {
  return Math.ceil(count / 8);
}

/** Whether the page is the one that the reference was made for: else its bits would say something else. */
export function belongsTo(
  { sequences }: LeasePage,
  { count, firstSequence, lastSequence }: LeasePageReference,
): boolean {
  return (
    sequences.length === count && sequences[0] === firstSequence && sequences[count - 1] === lastSequence
  );
}

/** The first ordinal whose sequence is not below. */
export function firstOrdinalFrom({ sequences }: LeasePage, sequence: number): number {
  let low = 0;
  let high = sequences.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sequences[middle]! < sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function ordinalOf(page: LeasePage, sequence: number): number | undefined {
  const ordinal = firstOrdinalFrom(page, sequence);
  return page.sequences[ordinal] === sequence ? ordinal : undefined;
}

const orders = new WeakMap<LeasePage, readonly number[]>();

/** Ordinals by the time they become visible, then by sequence. Kept beside the page, which is read many times. */
export function byVisibility(page: LeasePage): readonly number[] {
  const known = orders.get(page);
  if (known) return known;
  const { deliveries } = page;
  const order = deliveries.map((_, ordinal) => ordinal);
  order.sort((a, b) => deliveries[a]!.visibleAtMillis - deliveries[b]!.visibleAtMillis || a - b);
  orders.set(page, order);
  return order;
}

const groups = new WeakMap<LeasePage, ReadonlyMap<GroupHash, readonly number[]>>();
const none: readonly number[] = [];

/** Ordinals of one message group, ascending. Kept beside the page, too. */
export function ordinalsOfGroup(page: LeasePage, group: GroupHash): readonly number[] {
  let index = groups.get(page);
  if (!index) {
    const built = new Map<GroupHash, number[]>();
    page.deliveries.forEach((delivery, ordinal) => {
      if (delivery.group === undefined) return;
      const ordinals = built.get(delivery.group);
      if (ordinals) ordinals.push(ordinal);
      else built.set(delivery.group, [ordinal]);
    });
    groups.set(page, built);
    index = built;
  }
  return index.get(group) ?? none;
}
