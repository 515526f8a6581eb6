/** Links of moves leave the manifest when the queue at the other end is gone, and no number is given twice for that. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Gate, refused } from '../../test/support/scripted-store.ts';
import {
  bodiesOf,
  hour,
  kindOf,
  minute,
  redrivePolicy,
  scenario,
  second,
  type TestNode,
  type World,
} from '../../test/support/world.ts';
import { manifestKey } from '../format/object-keys.ts';

const crowd = 20;

async function createSource(node: TestNode, name: string): Promise<void> {
  await node.create(name, { RedrivePolicy: redrivePolicy('dlq', 1), VisibilityTimeout: '0' });
}

/** One message goes from `name` to the dead-letter queue. */
async function oneLetter(world: World, node: TestNode, name: string): Promise<void> {
  await node.send(name, name);
  await node.receiveOne(name);
  assert.deepEqual(await node.receive(name), []);
  await world.clock.advance(second);
}

async function remove(world: World, node: TestNode, name: string): Promise<void> {
  assert.equal(await world.run(node.service.deleteQueue(name).then(kindOf)), 'done');
}

async function lettersOfShortLivedSources(world: World, node: TestNode, count = crowd): Promise<void> {
  for (let n = 0; n < count; n++) {
    await createSource(node, `job-${n}`);
    await oneLetter(world, node, `job-${n}`);
    await remove(world, node, `job-${n}`);
  }
}

async function incomingCount(world: World): Promise<number> {
  return (await world.state('dlq')).incomingLinks.size;
}

describe('the links of a dead-letter queue', () => {
  scenario('leave when its sources are gone, and its letters stay', async (world) => {
    const node = world.startNode();
    await node.create('dlq');
    await lettersOfShortLivedSources(world, node);
    await world.clock.advance(5 * minute);
    assert.equal(await incomingCount(world), 0);
    assert.deepEqual(await node.counts('dlq'), [crowd, 0, 0]);
  });

  scenario('stay few while hundreds of sources come and go', async (world) => {
    const node = world.startNode();
    await node.create('dlq');
    for (let round = 0; round < 8; round++) {
      await lettersOfShortLivedSources(world, node);
      await world.clock.advance(2 * minute);
      assert.ok((await incomingCount(world)) <= 16, 'the crowd of this round was forgotten');
    }
  });

  scenario(
    'stay while their sources live, and are looked at again only when they are twice as many',
    async (world) => {
      const node = world.startNode();
      await node.create('dlq');
      const names = Array.from({ length: crowd }, (_, n) => `live-${n}`);
      for (const name of names) {
        await createSource(node, name);
        await oneLetter(world, node, name);
      }
      await world.clock.advance(5 * minute);
      assert.equal(await incomingCount(world), crowd);
      const before = node.store.count('get m/live-');
      await lettersOfShortLivedSources(world, node, 16);
      const appends = node.store.count('get m/live-') - before;
      await world.clock.advance(hour);
      assert.equal(node.store.count('get m/live-') - before, appends, 'nobody looked');
      assert.equal(await incomingCount(world), crowd + 16);
      await lettersOfShortLivedSources(world, node, 5);
      await world.clock.advance(5 * minute);
      assert.equal(await incomingCount(world), crowd);
      // A link that stays goes on counting.
      await oneLetter(world, node, names[0]!);
      assert.equal((await node.counts('dlq'))[0], crowd + 16 + 5 + 1);
    },
  );

  scenario('leave by a process that finds them and has nothing to commit', async (world) => {
    const writer = world.startNode();
    await writer.create('dlq');
    await lettersOfShortLivedSources(world, writer);
    assert.equal(await world.run(writer.service.purgeQueue('dlq').then(kindOf)), 'done');
    writer.kill();
    assert.equal(await incomingCount(world), crowd);
    assert.deepEqual(await world.startNode().receive('dlq'), []);
    await world.clock.advance(5 * minute);
    assert.equal(await incomingCount(world), 0);
  });

  scenario('leave later when the store fails, which is asked at intervals only', async (world) => {
    const node = world.startNode();
    await node.create('dlq');
    await lettersOfShortLivedSources(world, node);
    node.store.script({ method: 'get', key: manifestKey('job-'), times: 1e6 }, refused);
    const before = node.store.count('get m/job-');
    await world.clock.advance(10 * minute);
    const asked = node.store.count('get m/job-') - before;
    assert.ok(asked > 0 && asked < 20 * crowd, `${asked} requests in ten minutes`);
    assert.ok((await incomingCount(world)) > 16);
    node.store.scriptsEnd();
    await world.clock.advance(5 * minute);
    assert.equal(await incomingCount(world), 0);
  });

  scenario('leave though one manifest cannot be read; its own link stays', async (world) => {
    const node = world.startNode();
    await node.create('dlq');
    await createSource(node, 'damaged');
    await oneLetter(world, node, 'damaged');
    await world.bucket.put(manifestKey('damaged'), new TextEncoder().encode('not a manifest'));
    await lettersOfShortLivedSources(world, node);
    await world.clock.advance(5 * minute);
    const { incomingLinks } = await world.state('dlq');
    assert.deepEqual(
      [...incomingLinks.values()].map(({ queueName }) => queueName),
      ['damaged'],
    );
    await world.bucket.delete(manifestKey('damaged'));
  });

  scenario('are left alone once the engine stops', async (world) => {
    const node = world.startNode();
    await node.create('dlq');
    await lettersOfShortLivedSources(world, node);
    await world.run(node.engine.stop());
    const before = node.store.count();
    await world.clock.advance(hour);
    assert.equal(node.store.count(), before);
  });
});

describe('the links of a source', () => {
  scenario('leave when its dead-letter queues are gone', async (world) => {
    const node = world.startNode();
    await node.create('dlq');
    await createSource(node, 'q');
    for (let n = 0; n < crowd; n++) {
      await oneLetter(world, node, 'q');
      await remove(world, node, 'dlq');
      await node.create('dlq');
    }
    await oneLetter(world, node, 'q');
    await world.clock.advance(5 * minute);
    const { incarnation } = await world.state('dlq');
    assert.deepEqual([...(await world.state('q')).outgoingLinks.keys()], [incarnation]);
    await oneLetter(world, node, 'q');
    assert.deepEqual(await node.counts('dlq'), [2, 0, 0]);
  });
});

describe('a mover that wakes after the link of its source was forgotten', () => {
  scenario('appends nothing: the source, read after the target, is gone', async (world) => {
    // 1. A stands before its append of number 1; 2. B appends it, removes it, the letter is consumed; 3. the source is
    // deleted, and in the crowd of others its link is forgotten; 4. A wakes: without a link number 1 would be next.
    const patient = { timing: { commandAgeMaxMillis: hour, unresolvedAgeMaxMillis: hour } } as const;
    const [a, b] = [world.startNode(patient), world.startNode()];
    await a.create('dlq');
    await createSource(a, 'q');
    await a.send('q', 'x');
    await a.receiveOne('q');
    const gate = new Gate();
    a.store.script({ method: 'putIfMatch', key: manifestKey('dlq') }, gate.before);
    assert.deepEqual(await a.receive('q'), []);
    await world.run(gate.reached);
    await b.receive('q');
    await world.clock.advance(10 * second);
    assert.equal((await world.state('q')).intents.size, 0, 'B moved it');
    await b.delete('dlq', await b.receiveOne('dlq', { waitSeconds: 3 }));
    await remove(world, b, 'q');
    await lettersOfShortLivedSources(world, b);
    await world.clock.advance(5 * minute);
    assert.equal(await incomingCount(world), 0, 'its link is forgotten');
    gate.open();
    await world.clock.advance(5 * minute);
    const letters: string[] = [];
    for (let n = 0; n < 3; n++) letters.push(...bodiesOf(await b.receive('dlq')));
    assert.equal(letters.length, crowd);
    assert.ok(!letters.includes('x'));
    assert.equal(await incomingCount(world), 0);
  });
});
