import { queue, type VirtualRow } from '../virtual-row.ts';
import { receiveEachOnce } from '../waves.ts';

/** At least once: while the last are received for the first time, the first come again. */
export const unacknowledged: VirtualRow = {
  name: 'unacknowledged',
  title: '1,000,000 messages received and never acknowledged',
  phases: [
    {
      name: 'unacknowledged',
      prepare: async (world) => {
        const wanted = world.count(1_000_000);
        await world.fill(queue, wanted, { bodyBytes: 64, perCall: 2_000 });
        await receiveEachOnce(world, queue, wanted, async () => {});
      },
    },
  ],
};
