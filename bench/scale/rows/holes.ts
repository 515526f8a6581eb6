import { queue, type VirtualRow } from '../virtual-row.ts';
import { receiveEachOnce } from '../waves.ts';

/**
 * Of what comes for the first time; what comes again is left. Nine in ten altogether: a million stay that each have a
 * count, as many as a queue is built for (DESIGN.md section 4), and nearly every segment keeps less than a quarter.
 */
const deletedShares = [0.85, 0.95];
const regionMessages = 50_000;

export const holes: VirtualRow = {
  name: 'holes',
  title: 'deletes scattered over 10,000,000: nine in ten, the others left behind',
  phases: [
    {
      name: 'holes',
      prepare: async (world) => {
        const wanted = world.count(10_000_000);
        await world.fill(queue, wanted, { bodyBytes: 1, perCall: 3_600 });
        let seen = 0;
        await receiveEachOnce(world, queue, wanted, async (messages) => {
          seen += messages.length;
          const share = deletedShares[Math.floor(seen / regionMessages) % deletedShares.length]!;
          const handles = messages
            .filter(({ receiveCount }) => receiveCount === 1 && world.draw.unit() < share)
            .map(({ receiptHandle }) => receiptHandle);
          if (handles.length > 0) await world.service.deleteMessages(queue, handles);
        });
      },
    },
  ],
};
