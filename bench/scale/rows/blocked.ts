import { batch, groupName, receive } from '../load.ts';
import type { ScaleWorld } from '../scale-world.ts';
import { fifoQueue, type VirtualRow } from '../virtual-row.ts';

const blockedMessages = 100_000;
const blockedGroup = 'blocked';
/** Longer than the row takes. */
const holdSeconds = 43_200;
const receivers = 100;
const load = { count: 10_000, hotShare: 0 };

async function takeFirst(world: ScaleWorld): Promise<void> {
  const outcome = await world.service.receive(fifoQueue, {
    maxMessages: 1,
    waitSeconds: 0,
    visibilityTimeoutSeconds: holdSeconds,
    signal: new AbortController().signal,
  });
  if (outcome.kind !== 'done' || outcome.messages[0]?.message.groupId !== blockedGroup)
    throw new Error('the head of the queue is not of the group to block');
}

export const blocked: VirtualRow = {
  name: 'blocked',
  title: 'FIFO: a blocked group of 100,000 messages at the head',
  groups: load,
  phases: [
    {
      name: 'blocked',
      prepare: async (world) => {
        const wanted = world.count(blockedMessages);
        await world.fill(fifoQueue, wanted, { bodyBytes: 256, perCall: 2_000, groupId: () => blockedGroup });
        await takeFirst(world);
      },
    },
  ],
};

/** Takes and deletes so many of what lies between the blocked messages. */
async function takeOthers(world: ScaleWorld, count: number): Promise<void> {
  let left = count;
  const receiver = async () => {
    while (left > 0 && !world.givesUp(count - left, count)) {
      left -= batch;
      const messages = await receive(world.service, fifoQueue);
      const handles = messages.map(({ receiptHandle }) => receiptHandle);
      if (handles.length > 0) await world.service.deleteMessages(fifoQueue, handles);
      left += batch - handles.length;
    }
  };
  await Promise.all(Array.from({ length: Math.min(receivers, Math.ceil(left / batch)) }, receiver));
}

/** Each blocked message that consumers have passed has a range of its own among the ready ones. */
export const scattered: VirtualRow = {
  name: 'scattered',
  title: 'FIFO: a blocked group of 100,000 messages, as many of other groups between them',
  groups: load,
  phases: [
    {
      name: 'half way',
      prepare: async (world) => {
        const blockedCount = world.count(blockedMessages);
        const groupId = (n: number) => (n % 2 === 0 ? blockedGroup : groupName(n % load.count));
        await world.fill(fifoQueue, 2 * blockedCount, { bodyBytes: 64, perCall: 2_000, groupId });
        await takeFirst(world);
        await takeOthers(world, blockedCount / 2);
      },
    },
    { name: 'all passed', prepare: (world) => takeOthers(world, world.count(blockedMessages) / 2) },
  ],
};
