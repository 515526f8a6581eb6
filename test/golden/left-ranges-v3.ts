/** What the golden bytes of left-ranges-v3.json (format 3) say. Neither changes any more. */
import { bitmapBytes } from '../../src/core/lease-page.ts';
import { type LeasePageReference, pageIdOf, type QueueState } from '../../src/core/queue-state.ts';
import { state as v2 } from './lease-pages-v2.ts';

/** The first ten have left, five in the middle, and the last. */
const left = new Uint8Array(bitmapBytes(301));
for (const [start, end] of [
  [0, 10],
  [147, 152],
  [300, 301],
] as const)
  for (let ordinal = start; ordinal < end; ordinal++) left[ordinal >>> 3]! |= 1 << (ordinal & 7);

const reference: LeasePageReference = {
  baseVersion: 299,
  nonce: '2123456789abcdef',
  count: 301,
  remaining: 285,
  firstSequence: 1_000,
  lastSequence: 1_400,
  firstVisibleAtMillis: 1_799_999_999_000,
  lastVisibleAtMillis: 1_800_000_032_000,
  left,
};

export const state: QueueState = {
  ...v2,
  leasePages: new Map([...v2.leasePages, [pageIdOf(reference), reference]]),
};
