/** Collection without losing anything: DESIGN.md section 5 †, and tombstones. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Gate } from '../../test/support/scripted-store.ts';
import {
  bodiesOf,
  hour,
  kindOf,
  minute,
  scenario,
  second,
  type TestNode,
  type World,
} from '../../test/support/world.ts';
import { incarnationFrom } from '../core/ids.ts';
import { manifestKey, objectKey, objectsPrefix, parseObjectKey } from '../format/object-keys.ts';

const large = 'x'.repeat(100_000);
const patient = { timing: { commandAgeMaxMillis: hour, unresolvedAgeMaxMillis: hour } } as const;
const segments = (world: World) => world.keys(objectsPrefix);
/** Its lag included. */
const sweep = (world: World, node: TestNode) => world.run(node.engine.sweep());

async function consume(node: TestNode): Promise<void> {
  await node.delete('q', ...(await node.receive('q')));
}

describe('a dropped segment', () => {
  scenario('stays until collectedBelow has passed it, then goes without a LIST', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', large);
    const [key] = await segments(world);
    await consume(node);
    assert.equal((await world.state('q')).segments.size, 0);
    for (let seconds = 0; seconds < 50; seconds += 10) {
      await node.send('q', 'traffic');
      await consume(node);
      assert.deepEqual(await segments(world), [key], `after ${seconds} s`);
      await world.clock.advance(10 * second);
    }
    await world.clock.advance(5 * minute);
    assert.deepEqual(await segments(world), []);
    assert.ok((await world.state('q')).collectedBelow > parseObjectKey(key!)!.baseVersion);
    assert.equal(node.store.count('list'), 0);
  });

  scenario('goes from a queue that fell silent at once, and silence then costs nothing', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', large);
    await consume(node);
    await world.clock.advance(10 * minute);
    assert.deepEqual(await segments(world), []);
    const before = node.store.count();
    await world.clock.advance(hour);
    assert.equal(node.store.count(), before);
  });

  scenario('goes by a purge too', async (world) => {
    const node = world.startNode();
    await node.create('q');
    for (let n = 0; n < 3; n++) await node.send('q', large);
    await world.run(node.service.purgeQueue('q'));
    assert.equal((await segments(world)).length, 3);
    await world.clock.advance(10 * minute);
    assert.deepEqual(await segments(world), []);
  });
});

describe('a writer that stalls between upload and swap', () => {
  scenario('uploads again when its segment may have been collected', async (world) => {
    // 1. W uploads S, based on version v, and stalls before its swap; 2. others commit; 3. a sweep raises collectedBelow
    // above v and deletes S, which no manifest names; 4. W wakes, conflicts, and may not name S: it uploads anew.
    const [writer, other] = [world.startNode(patient), world.startNode()];
    await writer.create('q');
    const gate = new Gate();
    writer.store.script({ method: 'putIfMatch', key: manifestKey('q') }, gate.before);
    const sent = writer.sending('q', large);
    await world.run(gate.reached);
    const [stalled] = await segments(world);
    await other.send('q', 'a');
    await sweep(world, other);
    assert.deepEqual(await segments(world), [], 'the unnamed segment is gone');
    gate.open();
    assert.equal((await world.run(sent)).kind, 'done');
    const now = await segments(world);
    assert.equal(now.length, 1);
    assert.notEqual(now[0], stalled);
    assert.deepEqual(bodiesOf(await other.receive('q')), ['a', large]);
  });

  scenario('keeps its segment after a conflict when nothing was collected', async (world) => {
    const [writer, other] = [world.startNode(), world.startNode()];
    await writer.create('q');
    await other.send('q', 'a');
    await writer.send('q', large);
    assert.equal(writer.store.count(`put ${objectsPrefix}`), 1, 'one upload in spite of the conflict');
    assert.deepEqual(bodiesOf(await other.receive('q', { waitSeconds: 3 })), ['a', large]);
  });

  scenario('loses nothing to a sweep that listed its segment before its swap', async (world) => {
    // 1. W uploads S and stalls; 2. the sweep lists S; 3. W's swap lands and names S; 4. the sweep goes on: it reads
    // the manifest after its LIST.
    const [writer, other] = [world.startNode(patient), world.startNode()];
    await writer.create('q');
    const gate = new Gate();
    writer.store.script({ method: 'putIfMatch', key: manifestKey('q') }, gate.before);
    const sent = writer.sending('q', large);
    await world.run(gate.reached);
    const listing = new Gate();
    other.store.script({ method: 'list', key: objectsPrefix }, listing.after);
    const swept = other.engine.sweep();
    await world.run(listing.reached);
    gate.open();
    await world.run(sent);
    listing.open();
    assert.equal(await world.run(swept), 0);
    assert.deepEqual(bodiesOf(await other.receive('q')), [large]);
  });
});

describe('a sweep', () => {
  scenario('removes what a crash left between upload and swap, and keeps what is named', async (world) => {
    const [crashed, other] = [world.startNode(), world.startNode()];
    await crashed.create('q');
    await crashed.send('q', large);
    const [named] = await segments(world);
    const gate = new Gate();
    crashed.store.script({ method: 'putIfMatch', key: manifestKey('q') }, gate.before);
    void crashed.sending('q', large);
    await world.run(gate.reached);
    crashed.kill();
    assert.equal((await segments(world)).length, 2);
    assert.equal(await sweep(world, other), 0, 'a writer on this version may still come');
    await other.send('q', 'a');
    assert.equal(await sweep(world, other), 1);
    assert.deepEqual(await segments(world), [named]);
    assert.deepEqual(bodiesOf(await other.receive('q')), ['a', large]);
  });

  scenario('removes what belongs to a deleted or another incarnation', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    const { incarnation } = await world.state('q');
    await world.run(a.service.deleteQueue('q'));
    await a.create('q');
    await a.send('q', large);
    const never = incarnationFrom(new Uint8Array(16));
    for (const lost of [incarnation, never]) {
      const key = objectKey({
        name: 'q',
        incarnation: lost,
        kind: 'seg',
        baseVersion: 1,
        nonce: 'f'.repeat(16),
      });
      await world.bucket.put(key, new Uint8Array(10));
    }
    assert.equal(await sweep(world, b), 2);
    assert.deepEqual(bodiesOf(await a.receive('q')), [large]);
  });

  scenario('does not take the first segment of a queue created while it began', async (world) => {
    // 1. the sweep begins; had it read m/q now, there would be none; 2. q is created and spills S; 3. S is listed; 4. a
    // GET begun after the LIST shows q.
    const [sweeper, other] = [world.startNode(), world.startNode()];
    const gate = new Gate();
    sweeper.store.script({ method: 'list', key: objectsPrefix }, gate.before);
    const swept = sweeper.engine.sweep();
    await world.run(gate.reached);
    await other.create('q');
    await other.send('q', large);
    gate.open();
    assert.equal(await world.run(swept), 0);
    assert.deepEqual(bodiesOf(await other.receive('q')), [large]);
  });

  scenario('goes on where one queue cannot be read, and takes nothing of that one', async (world) => {
    const node = world.startNode();
    await node.create('damaged');
    const orphans = ['damaged', 'deleted'].map((name) => {
      const incarnation = incarnationFrom(new Uint8Array(16));
      return objectKey({ name, incarnation, kind: 'seg', baseVersion: 1, nonce: '0'.repeat(16) });
    });
    for (const key of orphans) await world.bucket.put(key, new Uint8Array(1));
    await world.bucket.put(manifestKey('damaged'), Uint8Array.of(1, 2, 3));
    await sweep(world, node);
    assert.deepEqual(await segments(world), [orphans[0]]);
    for (const key of [manifestKey('damaged'), orphans[0]!]) await world.bucket.delete(key);
  });

  scenario('touches no key that it cannot read, and not the manifests of queues', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'a');
    const strange = 's/something-else/of/another/program';
    await world.bucket.put(strange, new Uint8Array(1));
    await world.clock.advance(2 * hour);
    assert.equal(await sweep(world, node), 0);
    assert.deepEqual(await segments(world), [strange]);
    assert.deepEqual(bodiesOf(await node.receive('q')), ['a']);
  });
});

describe('a throw-away object', () => {
  scenario('that a crash left goes after an hour, a fresh one stays', async (world) => {
    const node = world.startNode();
    const left = ['probe/clock-0123456789abcdef', 'probe/0123456789abcdef0123456789abcdef/swap'];
    // What others keep there, among it another okuri with that prefix, is not ours to judge.
    const foreign = [
      'probe/results-2026.csv',
      'probe/m/orders',
      'probe/clock-tower',
      'probe/clock-0123456789abcdef/x',
    ];
    for (const key of [...left, ...foreign]) await world.run(world.bucket.put(key, new Uint8Array()));
    await sweep(world, node);
    await world.clock.advance(61 * minute);
    const fresh = 'probe/clock-fedcba9876543210';
    await world.run(world.bucket.put(fresh, new Uint8Array()));
    await sweep(world, node);
    assert.deepEqual(await world.keys('probe/'), [...foreign, fresh].sort());
  });
});

describe('a tombstone', () => {
  scenario('goes an hour after its deletion, by conditional DELETE', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await world.run(a.service.deleteQueue('q'));
    await sweep(world, b);
    await world.clock.advance(58 * minute);
    assert.equal(await sweep(world, b), 0);
    assert.equal((await world.content('q'))?.kind, 'tombstone');
    await world.clock.advance(3 * minute);
    assert.equal(await sweep(world, b), 1);
    assert.equal(await world.content('q'), undefined);
    assert.equal(b.store.count(`delete ${manifestKey('q')}`), 0);
    assert.equal(b.store.count(`deleteIfMatch ${manifestKey('q')}`), 1);
  });

  scenario('is not taken for the queue created in its place meanwhile', async (world) => {
    // 1. the sweep lists the tombstone; 2. its DELETE is on the way; 3. B creates the queue; 4. the tag is another.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await world.run(a.service.deleteQueue('q'));
    await sweep(world, a);
    await world.clock.advance(2 * hour);
    const gate = new Gate();
    a.store.script({ method: 'deleteIfMatch', key: manifestKey('q') }, gate.before);
    const swept = a.engine.sweep();
    await world.run(gate.reached);
    assert.equal(await b.create('q'), 'created');
    gate.open();
    assert.equal(await world.run(swept), 0);
    assert.equal(await world.run(b.service.queueExists('q')), true);
  });

  scenario('stays where the store has no honest conditional DELETE', async (world) => {
    const node = world.startNode({ conditionalDelete: false });
    await node.create('q');
    assert.equal(await world.run(node.service.deleteQueue('q').then(kindOf)), 'done');
    await world.clock.advance(2 * hour);
    assert.equal(await sweep(world, node), 0);
    assert.equal((await world.content('q'))?.kind, 'tombstone');
  });
});
