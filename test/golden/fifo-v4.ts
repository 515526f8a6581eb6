/** What the golden bytes of FIFO queues (fifo-v4.json, format 4) say. Neither changes any more. */
import { deduplicationPageOf, deduplicationSummary } from '../../src/core/deduplication-page.ts';
import type { DeduplicationKey, GroupHash, Incarnation } from '../../src/core/ids.ts';
import type { StoredMessage } from '../../src/core/message.ts';
import { noFairness, pageIdOf, type QueueState } from '../../src/core/queue-state.ts';
import { fromPairs } from '../../src/core/range-set.ts';
import type { NewPage } from '../../src/core/resources.ts';
import { page as leasePage } from './lease-pages-v2.ts';
import { state as v1 } from './storage-v1.ts';

const group = '0123456789abcdef' as GroupHash;
const otherGroup = 'ffeeddccbbaa9988' as GroupHash;
const key = (digit: string) => digit.repeat(32) as DeduplicationKey;
const targetIncarnation = '0f'.repeat(16) as Incarnation;

const entries = [
  {
    sequence: 4,
    messageId: '00000000-0000-4000-8000-000000000004',
    acceptedAtMillis: 1_800_000_000_000,
  },
  {
    sequence: 3,
    messageId: '00000000-0000-4000-8000-000000000003',
    acceptedAtMillis: 1_800_000_000_500,
  },
];

export const pages: readonly (NewPage & { readonly kind: 'lease' | 'deduplication' })[] = [
  {
    kind: 'lease',
    content: {
      ...leasePage,
      deliveries: leasePage.deliveries.map((delivery, i) => ({
        ...delivery,
        group: i === 1 ? otherGroup : group,
      })),
    },
  },
  {
    kind: 'deduplication',
    content: deduplicationPageOf([
      [key('b'), entries[0]!],
      [key('a'), entries[1]!],
    ]),
  },
];

const deduplicationPage = {
  baseVersion: 299,
  nonce: '3123456789abcdef',
  ...deduplicationSummary(deduplicationPageOf(entries.map((entry, i) => [key(`${i}`), entry]))),
};

const sent: StoredMessage = {
  messageId: '11111111-2222-4333-8444-555555555555',
  senderId: 'AKIDEXAMPLE',
  sentAtMillis: 1_800_000_000_100,
  body: 'in order',
  attributes: new Map(),
  traceHeader: undefined,
  groupId: 'group-1',
  deadLetterSourceArn: undefined,
  deduplicationId: 'id-1',
};
const moved: StoredMessage = {
  ...sent,
  messageId: '11111111-2222-4333-8444-666666666666',
  sentAtMillis: 1_700_000_000_000,
  deadLetterSourceArn: 'arn:aws:sqs:us-east-1:000000000000:source.fifo',
  deduplicationId: '11111111-2222-4333-8444-666666666666',
  movedAtMillis: 1_800_000_000_200,
};
const bytesOf = (message: StoredMessage) =>
  'in order'.length + 11 + 64 + message.deduplicationId!.length + 'group-1'.length;

const delivery = {
  visibleAtMillis: 1_800_000_030_000,
  receiveCount: 1,
  firstReceivedAtMillis: 1_800_000_000_300,
  leasedAtMillis: 1_800_000_000_300,
  token: leasePage.deliveries[0]!.token,
  leaseVersion: 299,
  group: '5d8f0b6c8fd4f1c5' as GroupHash,
};

export const state: QueueState = {
  ...v1,
  attributes: new Map([
    ['ContentBasedDeduplication', 'true'],
    ['FifoQueue', 'true'],
  ]),
  nextSequence: 6,
  purgeWatermark: 0,
  ready: fromPairs([[5, 6]]),
  delayed: new Map(),
  deliveries: new Map([[4, delivery]]),
  tail: new Map([
    [3, { message: sent, bytes: bytesOf(sent) }],
    [4, { message: sent, bytes: bytesOf(sent) }],
    [5, { message: moved, bytes: bytesOf(moved) }],
  ]),
  segments: new Map(),
  intents: new Map([
    [
      3,
      {
        targetIncarnation,
        number: 7,
        receiveCount: 2,
        firstReceivedAtMillis: 1_800_000_000_000,
        group: otherGroup,
      },
    ],
  ]),
  outgoingLinks: new Map([[targetIncarnation, { queueName: 'dead.fifo', lastNumber: 7 }]]),
  incomingLinks: new Map(),
  fairness: noFairness,
  unknownFields: [],
  deduplication: new Map([
    [key('c'), { ...entries[1]!, sequence: 3 }],
    [key('1'), { ...entries[0]!, sequence: 4 }],
  ]),
  deduplicationPages: new Map([[pageIdOf(deduplicationPage), deduplicationPage]]),
};
