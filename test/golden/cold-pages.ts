/** What the golden bytes of format 2 with pages of ready messages and of segments (cold-pages.json) say. */

import { pageIdOf, type QueueState, segmentIdOf } from '../../src/core/queue-state.ts';
import { fromPairs } from '../../src/core/range-set.ts';
import type { NewPage } from '../../src/core/resources.ts';
import { state as withoutPages } from './storage-v1.ts';

const [segment] = withoutPages.segments.values();
const other = {
  ...segment!,
  baseVersion: 290,
  nonce: 'fedcba9876543210',
  liveCount: 700,
  runs: [{ firstSequence: 900_000, firstOrdinal: 3, count: 800, sentAtShiftMillis: 0 }],
};

export const pages: readonly (NewPage & { readonly kind: 'ready' | 'segments' })[] = [
  {
    kind: 'ready',
    content: fromPairs([
      [100, 101],
      [900_000, 900_700],
    ]),
  },
  {
    kind: 'segments',
    content: new Map([
      [segmentIdOf(segment!), segment!],
      [segmentIdOf(other), other],
    ]),
  },
];

const readyPage = {
  baseVersion: 291,
  nonce: '0011223344556677',
  count: 701,
  firstSequence: 100,
  lastSequence: 900_699,
};
const segmentsPage = {
  baseVersion: 295,
  nonce: '8899aabbccddeeff',
  count: 512,
  liveCount: 2_000_000,
  firstSequence: 500_000,
  lastSequence: 999_999,
  sentAtMinMillis: 1_800_000_000_100,
  sentAtMaxMillis: 1_800_000_000_400,
  bytes: 536_870_912,
};

export const state: QueueState = {
  ...withoutPages,
  readyPages: new Map([[pageIdOf(readyPage), readyPage]]),
  segmentsPages: new Map([[pageIdOf(segmentsPage), segmentsPage]]),
};
