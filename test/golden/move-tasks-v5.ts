/** What the golden bytes of a manifest with move tasks (move-tasks-v5.json) say: format 5, while one is under way. Neither changes any more. */
import type { Incarnation, WriterId } from '../../src/core/ids.ts';
import type { MoveTask } from '../../src/core/move-task.ts';
import type { QueueState } from '../../src/core/queue-state.ts';
import { state as v1 } from './storage-v1.ts';

const targetIncarnation = '99999999999999999999999999999999' as Incarnation;
const runner = 'ffeeddccbbaa99887766554433221100' as WriterId;

const ended: readonly MoveTask[] = [
  {
    id: '11111111-2222-4333-8444-000000000001',
    status: 'completed',
    startedAtMillis: 1_799_999_100_000,
    moved: 70_000,
    toMove: 70_001,
    through: 70_002,
    pacedUntilMillis: 1_799_999_099_000,
    runner,
  },
  {
    id: '11111111-2222-4333-8444-000000000002',
    status: 'failed',
    destinationArn: 'arn:aws:sqs:us-east-1:000000000000:gone',
    messagesPerSecond: 500,
    startedAtMillis: 1_799_999_200_000,
    moved: 0,
    toMove: 1,
    through: 70_003,
    failureReason: 'AWS.SimpleQueueService.NonExistentQueue',
    pacedUntilMillis: 1_799_999_199_998,
    runner,
  },
];

const underWay: MoveTask = {
  id: '11111111-2222-4333-8444-000000000003',
  status: 'running',
  destinationArn: 'arn:aws:sqs:us-east-1:000000000000:dead-letters',
  messagesPerSecond: 10,
  startedAtMillis: 1_800_000_000_900,
  moved: 5,
  toMove: 9,
  through: 1_000_003,
  pacedUntilMillis: 1_800_000_000_950,
  runner,
};

/** One letter and one message of the task are on their way to one queue. */
export const state: QueueState = {
  ...v1,
  intents: new Map([
    ...v1.intents,
    [
      23,
      {
        targetIncarnation,
        number: 9,
        receiveCount: 2,
        firstReceivedAtMillis: 1_799_999_990_500,
        receivedElsewhere: 1,
        redriven: true as const,
      },
    ],
  ]),
  deliveries: new Map(
    [...v1.deliveries].map(([sequence, delivery]) => [sequence, { ...delivery, receivedElsewhere: 2 }]),
  ),
  outgoingLinks: new Map([[targetIncarnation, { queueName: 'dead-letters', lastNumber: 9 }]]),
  moveTasks: [...ended, underWay],
};

/** The same when nothing is under way: of the first format again. */
export const afterwards: QueueState = { ...v1, moveTasks: ended };
