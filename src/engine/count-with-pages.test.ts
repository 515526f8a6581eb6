/** Counts of a queue whose pages tell when messages become visible: read, not readable, and gone since. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { type Fault, refused } from '../../test/support/scripted-store.ts';
import {
  entryOf,
  type NodeOptions,
  scenario,
  second,
  type TestNode,
  type World,
} from '../../test/support/world.ts';
import { queueLimits } from '../core/limits.ts';
import { objectsPrefix, parseObjectKey } from '../format/object-keys.ts';

const small: NodeOptions = {
  limits: { ...queueLimits, leaseInlineMax: 4, leasePageEntries: 3, tailBytesMax: 100 },
};
const warning = 'a page cannot be read; the counts of its queue are estimates';

/** Five in flight, three of them in a page, of which the first is visible again; a sixth was never received. */
async function mixedPage(world: World, node: TestNode): Promise<string> {
  await node.create('q');
  for (const body of ['one', 'two', 'three', 'four', 'five', 'six']) await node.send('q', body);
  for (const visibilityTimeoutSeconds of [60, 600, 600, 600, 600])
    await node.receiveOne('q', { visibilityTimeoutSeconds });
  await world.clock.advance(90 * second);
  const pages = (await world.keys(objectsPrefix)).filter((key) => parseObjectKey(key)?.kind === 'lease');
  assert.equal(pages.length, 1);
  return pages[0]!;
}

async function counted(world: World, node: TestNode): Promise<readonly [number, number, boolean]> {
  const queue = await world.run(node.service.getQueue('q'));
  assert.ok(queue.kind === 'queue');
  return [queue.visibleCount, queue.inFlightCount, queue.countsEstimated];
}

describe('counts with pages', () => {
  scenario('are exact when the page can be read', async (world) => {
    const [a, b] = [world.startNode(small), world.startNode(small)];
    await mixedPage(world, a);
    assert.deepEqual(await counted(world, b), [2, 4, false]);
    assert.deepEqual(b.complaints, []);
  });

  scenario(
    'are estimates, and say so, when the store fails for a moment; the next are exact',
    async (world) => {
      const [a, b] = [world.startNode(small), world.startNode(small)];
      const page = await mixedPage(world, a);
      b.store.script({ method: 'get', key: page }, refused);
      assert.deepEqual(await counted(world, b), [1, 5, true]);
      assert.deepEqual(b.complaints, [warning]);
      assert.deepEqual(await counted(world, b), [2, 4, false]);
    },
  );

  scenario('are estimates when the page is damaged or lost', async (world) => {
    const [a, b] = [world.startNode(small), world.startNode(small)];
    const page = await mixedPage(world, a);
    const found = await world.bucket.get(page);
    assert.ok(found.kind === 'done');
    await world.bucket.put(page, found.body.slice(0, -1));
    assert.deepEqual(await counted(world, b), [1, 5, true]);
    assert.equal(b.engine.counters().unreadablePages, 1);
    await world.bucket.delete(page);
    assert.deepEqual(await counted(world, world.startNode(small)), [1, 5, true]);
    await world.bucket.put(page, found.body);
  });

  scenario('of a page that goes while it is read are those of the manifest after it', async (world) => {
    // 1. B reads the manifest; 2. A purges, and the collector takes the page; 3. B finds no page.
    const [a, b] = [world.startNode(small), world.startNode(small)];
    const page = await mixedPage(world, a);
    b.store.script({ method: 'get', key: page }, async ({ land }) => {
      await a.service.purgeQueue('q');
      await world.bucket.delete(page);
      return land();
    });
    assert.deepEqual(await counted(world, b), [0, 0, false]);
    assert.deepEqual(b.complaints, []);
  });

  scenario('of a lost page end though other nodes commit all the time', async (world) => {
    const [a, b] = [world.startNode(small), world.startNode(small)];
    const page = await mixedPage(world, a);
    const found = await world.bucket.get(page);
    assert.ok(found.kind === 'done');
    await world.bucket.delete(page);
    let reads = 0;
    const commitFirst: Fault = async ({ land }) => {
      reads++;
      await a.service.send('q', 'sender', [entryOf(`more ${reads}`)]);
      return land();
    };
    b.store.script({ method: 'get', key: page, times: 100 }, commitFirst);
    const [, , estimated] = await counted(world, b);
    assert.equal(estimated, true);
    assert.equal(reads, 2, 'the second manifest still names it');
    await world.bucket.put(page, found.body);
  });

  scenario('of a page that holds what is not its own are estimates', async (world) => {
    const [a, b] = [world.startNode(small), world.startNode(small)];
    await a.create('q');
    for (let n = 0; n < 9; n++) await a.send('q', `body ${n}`);
    for (const visibilityTimeoutSeconds of [60, 600, 600, 60, 600, 600, 600, 600])
      await a.receiveOne('q', { visibilityTimeoutSeconds });
    await world.clock.advance(90 * second);
    const pages = (await world.keys(objectsPrefix)).filter((key) => parseObjectKey(key)?.kind === 'lease');
    assert.equal(pages.length, 2);
    const [one, other] = await Promise.all(pages.map((key) => world.bucket.get(key)));
    assert.ok(one?.kind === 'done' && other?.kind === 'done');
    await world.bucket.put(pages[0]!, other.body);
    await world.bucket.put(pages[1]!, one.body);
    const [visible, inFlight, estimated] = await counted(world, b);
    assert.deepEqual([visible + inFlight, estimated], [9, true]);
    assert.equal(b.complaints.length, 2);
    await world.bucket.put(pages[0]!, one.body);
    await world.bucket.put(pages[1]!, other.body);
  });
});
