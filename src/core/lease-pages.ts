/**
 * Pages of deliveries: when the manifest holds too many, those leased longest ago leave it, for what is still held
 * after so long is the least likely to be deleted next. They don't come back as a whole when one of them is
 * touched: its bit is set (lease-page.ts) and what becomes of it is kept in the manifest. A page with little left comes
 * back, so that pages don't pile up under heartbeats.
 *
 * Only deliveries whose bodies are in segments are folded: those in the tail end one by one (retention.ts), and their
 * number is bounded by the tail. Nor is any that this very transition made or changed: an attempt that is made again
 * draws another token and reads another time, and a page uploaded for it would never be true.
 */
import type { Draft } from './draft.ts';
import { type LeasePage, leasePageOf, summaryOf } from './lease-page.ts';
import type { PageWriter } from './pages.ts';
import type { Delivery } from './queue-state.ts';

/** A page with less than this part of its entries left comes back. */
const littleLeftPart = 1 / 4;

/** Call last: what is folded can't be looked at any more. */
export function foldLeases(draft: Draft, pages: PageWriter): void {
  bringBackRemnants(draft);
  const { leaseInlineMax, leasePageEntries } = draft.limits;
  const { inline } = draft.deliveries;
  for (const { id, baseVersion, nonce, content } of pages.prepared('lease')) {
    if (inline.current.size <= leaseInlineMax) return;
    if (!isStillTrue(draft, content)) continue;
    for (const sequence of content.sequences) inline.delete(sequence);
    draft.deliveries.addPage(id, { baseVersion, nonce, ...summaryOf(content) });
  }
  let excess = inline.current.size - leaseInlineMax;
  if (excess <= 0) return;
  const cold = [...inline.current].filter(([sequence]) => mayLeave(draft, sequence));
  if (cold.length < leasePageEntries) return;
  cold.sort(([a, one], [b, other]) => one.leasedAtMillis - other.leasedAtMillis || a - b);
  for (let from = 0; excess > 0 && from + leasePageEntries <= cold.length; from += leasePageEntries) {
    pages.want({ kind: 'lease', content: leasePageOf(cold.slice(from, from + leasePageEntries)) });
    excess -= leasePageEntries;
  }
}

/** At most one page's worth, the emptiest first: more would only be folded again. The others come another time. */
function bringBackRemnants({ deliveries, limits }: Draft): void {
  if (!deliveries.hasPages) return;
  let room = limits.leasePageEntries;
  const remnants = deliveries
    .touched()
    .map((page) => ({ page, reference: page.reference }))
    .filter(({ reference }) => reference.remaining < reference.count * littleLeftPart);
  remnants.sort((a, b) => a.reference.remaining - b.reference.remaining);
  for (const { page, reference } of remnants) {
    room -= reference.remaining;
    if (room < 0) return;
    deliveries.bringBack(page);
  }
}

function mayLeave(draft: Draft, sequence: number): boolean {
  return draft.deliveries.isSettled(sequence) && !draft.tail.current.has(sequence);
}

/** Somebody may have changed any of them between the upload and this attempt †: then the page is of no use. */
function isStillTrue(draft: Draft, { sequences, deliveries }: LeasePage): boolean {
  const { current } = draft.deliveries.inline;
  return sequences.every((sequence, ordinal) => {
    const now = current.get(sequence);
    return now !== undefined && mayLeave(draft, sequence) && isSame(now, deliveries[ordinal]!);
  });
}

function isSame(a: Delivery, b: Delivery): boolean {
  if (a === b) return true;
  return (
    a.visibleAtMillis === b.visibleAtMillis &&
    a.receiveCount === b.receiveCount &&
    a.firstReceivedAtMillis === b.firstReceivedAtMillis &&
    a.leasedAtMillis === b.leasedAtMillis &&
    a.token === b.token &&
    a.leaseVersion === b.leaseVersion &&
    a.group === b.group &&
    a.receivedElsewhere === b.receivedElsewhere &&
    a.turn === b.turn &&
    a.attempt?.id === b.attempt?.id &&
    a.attempt?.messages === b.attempt?.messages &&
    a.attempt?.repeated === b.attempt?.repeated &&
    // What a newer program wrote beside these can't be compared here.
    Object.getOwnPropertySymbols(a).length + Object.getOwnPropertySymbols(b).length === 0
  );
}
