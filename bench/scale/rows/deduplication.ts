import { fifoEntryOf, groupName, senderId } from '../load.ts';
import type { ScaleWorld } from '../scale-world.ts';
import { fifoQueue, type VirtualRow } from '../virtual-row.ts';

const groupCount = 10_000;
const messages = 900_000;
const seconds = 300;
const everyMillis = 100;

/** At a steady rate over the five minutes for which an id counts, whatever a commit takes; nobody receives. */
async function send(world: ScaleWorld): Promise<void> {
  const { scheduler, service } = world;
  const wanted = world.count(messages);
  const perCall = Math.ceil((wanted * everyMillis) / (seconds * 1_000));
  const began = scheduler.now;
  const calls: Promise<void>[] = [];
  const call = async (from: number) => {
    const entries = Array.from({ length: perCall }, (_, n) =>
      fifoEntryOf(1, groupName((from + n) % groupCount)),
    );
    const outcome = await service.send(fifoQueue, senderId, entries);
    if (outcome.kind !== 'done') throw new Error(`a send was answered ${outcome.kind}`);
  };
  for (let sent = 0; sent < wanted && !world.givesUp(sent, wanted); sent += perCall) {
    calls.push(call(sent));
    await scheduler.sleep(Math.max(0, began + calls.length * everyMillis - scheduler.now));
  }
  await Promise.all(calls);
}

export const deduplication: VirtualRow = {
  name: 'deduplication',
  title: 'FIFO: 900,000 deduplication ids, of 3,000 messages/s for five minutes',
  groups: { count: groupCount, hotShare: 0 },
  phases: [{ name: 'deduplication', prepare: send }],
};
