/** What the golden bytes of lease pages (lease-pages-v2.json, format 2) say. Neither changes any more. */
import type { DeliveryToken } from '../../src/core/ids.ts';
import type { LeasePage } from '../../src/core/lease-page.ts';
import { type LeasePageReference, pageIdOf, type QueueState } from '../../src/core/queue-state.ts';
import { state as v1 } from './storage-v1.ts';

export const page: LeasePage = {
  sequences: [10, 11, 12],
  deliveries: [
    {
      visibleAtMillis: 1_800_000_031_000,
      receiveCount: 1,
      firstReceivedAtMillis: 1_800_000_001_000,
      leasedAtMillis: 1_800_000_001_000,
      token: 'fedcba9876543211' as DeliveryToken,
      leaseVersion: 290,
    },
    {
      visibleAtMillis: 1_800_000_032_000,
      receiveCount: 2,
      firstReceivedAtMillis: 1_800_000_001_001,
      leasedAtMillis: 1_800_000_002_001,
      token: 'fedcba9876543212' as DeliveryToken,
      leaseVersion: 291,
    },
    {
      visibleAtMillis: 1_799_999_999_000,
      receiveCount: 300,
      firstReceivedAtMillis: 1_799_999_001_002,
      leasedAtMillis: 1_799_999_998_000,
      token: '0000000000000001' as DeliveryToken,
      leaseVersion: 1,
    },
  ],
};

const whole: LeasePageReference = {
  baseVersion: 297,
  nonce: '00000000000000ff',
  count: 4,
  remaining: 4,
  firstSequence: 2_000,
  lastSequence: 2_003,
  firstVisibleAtMillis: 1_800_000_031_000,
  lastVisibleAtMillis: 1_800_000_031_000,
  left: new Uint8Array(0),
};

/** Of the page above: 11 has left. */
const reference: LeasePageReference = {
  baseVersion: 298,
  nonce: '1123456789abcdef',
  count: 3,
  remaining: 2,
  firstSequence: 10,
  lastSequence: 12,
  firstVisibleAtMillis: 1_799_999_999_000,
  lastVisibleAtMillis: 1_800_000_031_000,
  left: Uint8Array.of(0b010),
};

export const state: QueueState = {
  ...v1,
  leasePages: new Map([whole, reference].map((each) => [pageIdOf(each), each])),
};
