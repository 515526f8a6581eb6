import { receive } from '../load.ts';
import type { ScaleWorld } from '../scale-world.ts';
import { queue, type VirtualRow } from '../virtual-row.ts';

/** One in so many, drawn, is due at once; the others later, by when those are gone. */
const oneIn = 10;
const laterSeconds = 900;
const consumers = 200;

/** Receives and deletes until nothing is visible. */
async function consume(world: ScaleWorld): Promise<number> {
  let deleted = 0;
  const consumer = async () => {
    for (;;) {
      const messages = await receive(world.service, queue);
      if (messages.length === 0) return;
      deleted += messages.length;
      const handles = messages.map(({ receiptHandle }) => receiptHandle);
      await world.service.deleteMessages(queue, handles);
    }
  };
  await Promise.all(Array.from({ length: consumers }, consumer));
  return deleted;
}

export const holes: VirtualRow = {
  name: 'holes',
  title: 'a million deletes scattered over 10,000,000',
  phases: [
    {
      name: 'holes',
      prepare: async (world) => {
        const wanted = world.count(10_000_000);
        let atOnce = 0;
        const delaySeconds = () => {
          if (world.draw.below(oneIn) > 0) return laterSeconds;
          atOnce++;
          return 0;
        };
        await world.fill(queue, wanted, { bodyBytes: 1, perCall: 3_600, delaySeconds });
        const deleted = await consume(world);
        if (deleted !== atOnce) throw new Error(`${deleted} of ${atOnce} were deleted`);
        await world.scheduler.sleep(laterSeconds * 1000);
      },
    },
  ],
};
