import { entryOf, receive, senderId } from '../load.ts';
import type { ScaleWorld } from '../scale-world.ts';
import type { VirtualRow } from '../virtual-row.ts';

const creators = 100;
const visitEveryMillis = 100;
const names: string[] = [];

async function createAll(world: ScaleWorld): Promise<void> {
  const wanted = world.count(10_000);
  let next = 0;
  const creator = async () => {
    while (next < wanted) {
      const name = `queue-${next++}`;
      await world.create(name);
      names.push(name);
    }
  };
  await Promise.all(Array.from({ length: creators }, creator));
  for (let n = 0; n < world.count(1_000); n++) void park(world, `queue-${n}`);
  // Until their intervals have grown.
  await world.scheduler.sleep(60_000);
}

async function park(world: ScaleWorld, name: string): Promise<void> {
  const { service } = world;
  const signal = new AbortController().signal;
  for (;;) {
    const outcome = await service.receive(name, {
      maxMessages: 10,
      waitSeconds: 20,
      visibilityTimeoutSeconds: undefined,
      signal,
    });
    if (outcome.kind !== 'done') throw new Error(`${name}: ${outcome.kind}`);
    await service.deleteMessages(
      name,
      outcome.messages.map(({ receiptHandle }) => receiptHandle),
    );
  }
}

/** Ten queues a second, each drawn anew: most of them were not in memory. */
async function visit(world: ScaleWorld, ended: () => boolean): Promise<void> {
  const visits: Promise<void>[] = [];
  const one = async (name: string) => {
    await world.service.send(name, senderId, [entryOf(256)]);
    const messages = await receive(world.service, name);
    await world.service.deleteMessages(
      name,
      messages.map(({ receiptHandle }) => receiptHandle),
    );
  };
  while (!ended()) {
    visits.push(one(names[world.draw.below(names.length)]!));
    await world.scheduler.sleep(visitEveryMillis);
  }
  await Promise.all(visits);
}

export const queues: VirtualRow = {
  name: 'queues',
  title: '10,000 queues on one node with 1,000 parked polls',
  phases: [{ name: 'queues', prepare: createAll, during: visit }],
};
