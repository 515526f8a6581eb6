/**
 * A store that takes a commit in a millisecond, and clients that send as fast as they get answers: what each commit
 * writes again (the tail) must not become the disk's whole work.
 */
import type { Distance } from '../../simulated-store.ts';
import { bounds, type RowFigures } from '../figures.ts';
import { entryOf, senderId } from '../load.ts';
import { ScaleWorld } from '../scale-world.ts';

const queue = 'jobs';
const senders = 4;
const seconds = 5;
const bodyBytes = 256;
const localDisk: Distance = {
  put: { medianMillis: 0.8, p99Millis: 2 },
  get: { medianMillis: 0.2, p99Millis: 1 },
};

export async function runFastStore(): Promise<RowFigures> {
  const world = new ScaleWorld(1, { distance: localDisk, lingerMillis: 0 });
  try {
    return await world.settle(play(world));
  } finally {
    world.bucket.close();
  }
}

async function play(world: ScaleWorld): Promise<RowFigures> {
  await world.create(queue);
  world.bucket.watch();
  const storedBefore = world.bucket.storedBytes;
  const end = world.scheduler.now + seconds * 1000;
  let sent = 0;
  const sender = async () => {
    while (world.scheduler.now < end) {
      await world.service.send(queue, senderId, [entryOf(bodyBytes)]);
      sent++;
    }
  };
  await Promise.all(Array.from({ length: senders }, sender));
  const { manifests } = world.bucket;
  return {
    row: 'fast-store',
    figures: [
      { name: 'messages a second', unit: 'count', value: sent / seconds },
      { name: 'commits a second', unit: 'count', value: manifests.count / seconds },
      { name: 'manifest, max', unit: 'bytes', value: manifests.max, most: bounds.manifestBytes },
      { name: 'manifest, median', unit: 'bytes', value: manifests.median },
      {
        name: 'bytes of manifests a second',
        unit: 'bytes',
        value: manifests.sum / seconds,
        most: bounds.fastStoreBytes,
      },
      {
        name: 'bytes of segments a second',
        unit: 'bytes',
        value: (world.bucket.storedBytes - storedBefore) / seconds,
      },
    ],
  };
}
