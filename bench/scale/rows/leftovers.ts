import { queue, type VirtualRow } from '../virtual-row.ts';
import { receiveEachOnce } from '../waves.ts';

/** Of what comes for the first time; what comes again is left. In places a segment keeps less than a quarter. */
const deletedShares = [0.5, 0.9];
const regionMessages = 50_000;

export const leftovers: VirtualRow = {
  name: 'leftovers',
  title: '3,300,000 received, seven in ten deleted, the others left: a million that each have a count',
  phases: [
    {
      name: 'leftovers',
      prepare: async (world) => {
        const wanted = world.count(3_300_000);
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
