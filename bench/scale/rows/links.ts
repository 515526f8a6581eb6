import { entryOf, receive, senderId } from '../load.ts';
import type { ScaleWorld } from '../scale-world.ts';
import { queue, type VirtualRow } from '../virtual-row.ts';

const sourcesAtOnce = 20;
const redrivePolicy = JSON.stringify({
  deadLetterTargetArn: `arn:aws:sqs:us-east-1:000000000000:${queue}`,
  maxReceiveCount: 1,
});

/** A queue for one message, which is received once in vain and a second time to find that it is to be moved. */
async function sendLetter(world: ScaleWorld, name: string): Promise<void> {
  const { service } = world;
  await world.create(name, { RedrivePolicy: redrivePolicy });
  await service.send(name, senderId, [entryOf(256)]);
  await receive(service, name, 0);
  await receive(service, name, 0);
}

export const links: VirtualRow = {
  name: 'links',
  title: '1,000 queues that move dead letters to one',
  phases: [
    {
      name: 'links',
      prepare: async (world) => {
        const wanted = world.count(1_000);
        let next = 0;
        const source = async () => {
          while (next < wanted) await sendLetter(world, `source-${next++}`);
        };
        await Promise.all(Array.from({ length: sourcesAtOnce }, source));
        // Until the last has arrived.
        await world.scheduler.sleep(60_000);
        const { visibleCount } = await world.snapshot(queue);
        if (visibleCount !== wanted) throw new Error(`${visibleCount} of ${wanted} letters arrived`);
      },
    },
  ],
};
