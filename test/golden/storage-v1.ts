/** What the golden bytes of format 1 (storage-v1.json) say. Neither changes any more: buckets hold such objects. */
import type { DeliveryToken, Incarnation, WriterId } from '../../src/core/ids.ts';
import type { StoredMessage } from '../../src/core/message.ts';
import { noFairness, type QueueState, segmentIdOf, type Tombstone } from '../../src/core/queue-state.ts';
import { fromPairs } from '../../src/core/range-set.ts';

export const nonce = Uint8Array.from({ length: 16 }, (_, i) => 0xa0 + i);
export const incarnation = '00112233445566778899aabbccddeeff' as Incarnation;

const plain: StoredMessage = {
  messageId: '5fea7756-0ea4-451a-a703-a558b933e274',
  body: 'This is a test message',
  attributes: new Map(),
  traceHeader: undefined,
  groupId: undefined,
  senderId: 'AKIDOKURICOMPOSEDEV',
  sentAtMillis: 1_800_000_000_123,
  deadLetterSourceArn: undefined,
};

const full: StoredMessage = {
  messageId: '219f8380-5770-4cc2-8c3e-5c715e145f5e',
  body: '\ufeffgrüße\r\n😀',
  attributes: new Map([
    ['timestamp', { kind: 'text', dataType: 'Number.java.lang.Long', text: '1' }],
    ['testname', { kind: 'binary', dataType: 'Binary', bytes: Uint8Array.of(0, 1, 2, 255) }],
  ]),
  traceHeader: 'Root=1-5759e988-bd862e3fe1be46a994272793',
  groupId: 'tenant-7',
  senderId: '000000000000',
  sentAtMillis: 1_800_000_000_456,
  deadLetterSourceArn: 'arn:aws:sqs:us-east-1:000000000000:source',
};

export const segmentMessages: readonly StoredMessage[] = [plain, full];

const segment = {
  baseVersion: 299,
  nonce: '0123456789abcdef',
  liveCount: 5,
  sentAtMaxMillis: 1_800_000_000_400,
  bytes: 1_048_576,
  runs: [
    { firstSequence: 10, firstOrdinal: 0, count: 4, sentAtShiftMillis: 0 },
    { firstSequence: 20, firstOrdinal: 4, count: 3, sentAtShiftMillis: 12 },
  ],
};

export const state: QueueState = {
  incarnation,
  version: 300,
  timeMillis: 1_800_000_001_000,
  createdAtMillis: 1_799_999_000_000,
  modifiedAtMillis: 1_799_999_500_000,
  attributes: new Map([
    ['DelaySeconds', '5'],
    ['VisibilityTimeout', '45'],
  ]),
  tags: new Map([['team', 'größe']]),
  writers: [
    { id: 'ffeeddccbbaa99887766554433221100' as WriterId, attempt: 17, version: 300, roundMillis: 57 },
    { id: '0f1e2d3c4b5a69788796a5b4c3d2e1f0' as WriterId, attempt: 1, version: 12, roundMillis: 0 },
  ],
  writersFloor: 3,
  nextSequence: 1_000_003,
  purgeWatermark: 9,
  purgedAtMillis: 1_799_999_900_000,
  collectedBelow: 250,
  ready: fromPairs([
    [10, 13],
    [1_000_000, 1_000_001],
  ]),
  delayed: new Map([[1_000_002, 1_800_000_060_000]]),
  delayedPages: new Map(),
  readyPages: new Map(),
  segmentsPages: new Map(),
  leasePages: new Map(),
  deduplication: new Map(),
  deduplicationPages: new Map(),
  deliveries: new Map([
    [
      20,
      {
        visibleAtMillis: 1_800_000_031_000,
        receiveCount: 3,
        firstReceivedAtMillis: 1_799_999_990_000,
        leasedAtMillis: 1_800_000_001_000,
        token: 'fedcba9876543210' as DeliveryToken,
        leaseVersion: 300,
      },
    ],
  ]),
  // `bytes` are what core/send.ts counts.
  tail: new Map([
    [1_000_000, { message: plain, bytes: 22 + 19 + 64 }],
    [1_000_002, { message: full, bytes: 16 + 12 + 64 + (9 + 21 + 1) + (8 + 6 + 4) }],
  ]),
  segments: new Map([[segmentIdOf(segment), segment]]),
  intents: new Map([
    [
      22,
      {
        targetIncarnation: '99999999999999999999999999999999' as Incarnation,
        number: 8,
        receiveCount: 6,
        firstReceivedAtMillis: 1_799_999_980_000,
      },
    ],
  ]),
  outgoingLinks: new Map([
    ['99999999999999999999999999999999' as Incarnation, { queueName: 'dead-letters', lastNumber: 8 }],
  ]),
  incomingLinks: new Map([
    ['88888888888888888888888888888888' as Incarnation, { queueName: 'source.fifo', lastNumber: 2 }],
  ]),
  fairness: noFairness,
  moveTasks: [],
  unknownFields: [],
};

export const tombstone: Tombstone = {
  buriedIncarnation: incarnation,
  buriedVersion: 41,
  closingWriter: 'ffeeddccbbaa99887766554433221100' as WriterId,
  closingAttempt: 18,
  deletedAtMillis: 1_800_000_002_000,
};
