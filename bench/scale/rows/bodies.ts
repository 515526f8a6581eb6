import { queue, type VirtualRow } from '../virtual-row.ts';

const bodyBytes = 10 * 1024;

/** Each receive is of messages that no cache holds any more: they were sent 10 GiB ago. */
export const bodies: VirtualRow = {
  name: 'bodies',
  title: '10 GiB of bodies of 10 KiB, received through the cache',
  phases: [
    {
      name: 'messages of 256 B come',
      prepare: async (world) => {
        await world.fill(queue, world.count(1_048_576), { bodyBytes, perCall: 400 });
      },
    },
    { name: 'messages of 10 KiB come', bodyBytes, prepare: async () => {} },
  ],
};
