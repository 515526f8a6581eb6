/** What the reference to a page of each kind tells; field numbers of storage.proto. */
import { bitmapBytes, countLeft } from '../core/lease-page.ts';
import type {
  DeduplicationPageReference,
  DelayedPageReference,
  LeasePageReference,
  ReadyPageReference,
  SegmentsPageReference,
} from '../core/queue-state.ts';
import { bitsOfRanges, leftRangesOf } from './left-codec.ts';
import { pageReferenceCodec } from './page-reference-codec.ts';
import { Malformed } from './wire.ts';

export const delayedPages = pageReferenceCodec<DelayedPageReference>({
  numbers: { count: 3, firstSequence: 4, lastSequence: 5, firstDueAtMillis: 6, lastDueAtMillis: 7 },
  complete: ({ count }) => {
    if (count === 0) throw new Malformed('a page reference counts no entry');
  },
});

export const readyPages = pageReferenceCodec<ReadyPageReference>({
  numbers: { count: 3, firstSequence: 4, lastSequence: 5 },
  complete: checkHull,
});

export const segmentsPages = pageReferenceCodec<SegmentsPageReference>({
  numbers: {
    count: 3,
    liveCount: 4,
    firstSequence: 5,
    lastSequence: 6,
    sentAtMinMillis: 7,
    sentAtMaxMillis: 8,
    bytes: 9,
  },
  complete: checkHull,
});

export const deduplicationPages = pageReferenceCodec<DeduplicationPageReference>({
  numbers: { count: 3, lastAcceptedAtMillis: 4 },
  complete: ({ count }) => {
    if (count === 0) throw new Malformed('a page reference counts no entry');
  },
});

/** With a bit for every entry that has left. */
export const leasePages = pageReferenceCodec<LeasePageReference>({
  numbers: { count: 3, firstSequence: 4, lastSequence: 5, firstVisibleAtMillis: 6, lastVisibleAtMillis: 7 },
  bytes: { left: 8 },
  otherForm: {
    of: 'left',
    field: 9,
    encode: ({ left }) => leftRangesOf(left),
    decode: (ranges, { count }) => bitsOfRanges(ranges, count),
  },
  complete: (page) => {
    const { count, left, firstSequence, lastSequence, firstVisibleAtMillis, lastVisibleAtMillis } = page;
    page.remaining = count - countLeft(left);
    if (firstSequence === 0 || lastSequence - firstSequence + 1 < count)
      throw new Malformed('a page reference counts more entries than it has room for');
    if (left.length > 0 && left.length !== bitmapBytes(count))
      throw new Malformed('a page reference has not one bit for each entry');
    if (left.length > 0 && left.at(-1)! >>> (((count - 1) & 7) + 1) !== 0)
      throw new Malformed('more than what there is has left a page');
    if (page.remaining <= 0) throw new Malformed('a page reference counts no entry');
    if (firstVisibleAtMillis > lastVisibleAtMillis)
      throw new Malformed('the first of a page is visible after the last');
  },
});

/** Whether the manifest tells what has left one of them by ranges, which programs of format 2 don't know. */
export function haveLeftRanges(pages: Iterable<LeasePageReference>): boolean {
  for (const { left } of pages) if (leftRangesOf(left)) return true;
  return false;
}

function checkHull({ count, firstSequence, lastSequence }: ReadyPageReference): void {
  if (count === 0) throw new Malformed('a page reference counts nothing');
  if (lastSequence < firstSequence) throw new Malformed('a page reference ends before it begins');
}
