import { batch, groupName, receive } from '../load.ts';
import type { ScaleWorld } from '../scale-world.ts';
import { fifoQueue, type VirtualRow } from '../virtual-row.ts';

const groupCount = 10_000;
const hotGroup = 'hot';
/** Longer than the row takes. */
const timeoutSeconds = 43_200;

/**
 * The hot group is at the head, and whoever comes next takes ten of it; everybody else passes over the rest. Of the other groups half
 * are held by slow consumers, ten each.
 */
async function hold(world: ScaleWorld): Promise<void> {
  const groups = world.count(groupCount);
  await world.fill(fifoQueue, 2 * groups, { bodyBytes: 256, perCall: 2_000, groupId: () => hotGroup });
  await world.fill(fifoQueue, 10 * groups, {
    bodyBytes: 256,
    perCall: 2_000,
    groupId: (n) => groupName(n % groups),
  });
  let held = 0;
  const consumer = async () => {
    while (held < groups / 2) {
      const messages = await receive(world.service, fifoQueue, timeoutSeconds);
      const hot = messages.filter(({ message }) => message.groupId === hotGroup);
      held += messages.length - hot.length;
      const handles = hot.map(({ receiptHandle }) => receiptHandle);
      if (handles.length > 0) await world.service.deleteMessages(fifoQueue, handles);
    }
  };
  await Promise.all(Array.from({ length: Math.ceil(groups / 20 / batch) }, consumer));
}

export const groups: VirtualRow = {
  name: 'groups',
  title: 'FIFO: 10,000 groups, half of them held, a hot one of 20,000 messages at the head',
  groups: { count: groupCount, hotShare: 0.2 },
  phases: [{ name: 'groups', prepare: hold }],
};
