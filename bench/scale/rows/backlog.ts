import { queue, type VirtualRow } from '../virtual-row.ts';

/** Just over the tail's bound: each commit makes one segment of that size, as at a rate that a queue really has. */
const perCall = 3_600;

/** Bodies are one byte, for time: 100 million of 256 bytes would be 34 GB to encode. The references don't know. */
export const backlog: VirtualRow = {
  name: 'backlog',
  title: '100,000,000 messages of backlog, in segments of a full tail each',
  phases: [
    {
      name: 'backlog',
      prepare: async (world) => {
        await world.fill(queue, world.count(100_000_000), { bodyBytes: 1, perCall });
      },
    },
  ],
};
