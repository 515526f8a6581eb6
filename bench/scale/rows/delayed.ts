import { queue, type VirtualRow } from '../virtual-row.ts';

const latestSeconds = 900;
const earliestSeconds = 300;

/** Sent within a minute or two instead of fifteen, due one after the other from five to fifteen minutes later. */
export const delayed: VirtualRow = {
  name: 'delayed',
  title: '900,000 delayed',
  phases: [
    {
      name: 'delayed',
      prepare: async (world) => {
        const wanted = world.count(900_000);
        const span = latestSeconds - earliestSeconds;
        await world.fill(queue, wanted, {
          bodyBytes: 64,
          perCall: 2_000,
          delaySeconds: (n) => earliestSeconds + Math.floor((n * span) / wanted),
        });
      },
    },
    { name: 'due', prepare: (world) => world.scheduler.sleep((latestSeconds - 150) * 1000) },
  ],
};
