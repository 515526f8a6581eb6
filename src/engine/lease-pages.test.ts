/** Pages of deliveries on several nodes: uploads that lose, objects that are gone, and what cannot be read. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Gate, refused } from '../../test/support/scripted-store.ts';
import {
  bodiesOf,
  hour,
  minute,
  type NodeOptions,
  scenario,
  second,
  type TestNode,
  type World,
} from '../../test/support/world.ts';
import { hasLeft } from '../core/lease-page.ts';
import { queueLimits } from '../core/limits.ts';
import { manifestKey, objectsPrefix, parseObjectKey } from '../format/object-keys.ts';
import { type ReceivedMessage, Unavailable } from './queue-api.ts';

const small: NodeOptions = {
  limits: { ...queueLimits, leaseInlineMax: 4, leasePageEntries: 3, tailBytesMax: 100 },
};
const patient: NodeOptions = {
  ...small,
  timing: { commandAgeMaxMillis: hour, unresolvedAgeMaxMillis: hour },
};
const long = { visibilityTimeoutSeconds: 600 };

async function leasePages(world: World): Promise<string[]> {
  return (await world.keys(objectsPrefix)).filter((key) => parseObjectKey(key)?.kind === 'lease');
}

/** Four messages in flight, and a fifth that is still to be received: that takes the first three to a page. */
async function fullQueue(node: TestNode): Promise<ReceivedMessage[]> {
  await node.create('q');
  await node.send('q', 'one', 'two');
  await node.send('q', 'three', 'four');
  await node.send('q', 'five', 'six');
  const leased: ReceivedMessage[] = [];
  for (let n = 0; n < 4; n++) leased.push(await node.receiveOne('q', long));
  return leased;
}

/** The same, with the page. */
async function pagedQueue(world: World, node: TestNode): Promise<ReceivedMessage[]> {
  const leased = await fullQueue(node);
  leased.push(await node.receiveOne('q', long));
  assert.equal((await world.state('q')).leasePages.size, 1);
  return leased;
}

async function onlyPage(world: World): Promise<string> {
  const [key, ...more] = await leasePages(world);
  assert.ok(key !== undefined && more.length === 0);
  return key;
}

async function bytesOf(world: World, key: string): Promise<Uint8Array> {
  const found = await world.bucket.get(key);
  assert.ok(found.kind === 'done');
  return found.body;
}

describe('pages of deliveries', () => {
  scenario('serve every node, are read once, and go with the last of what they hold', async (world) => {
    const [a, b] = [world.startNode(small), world.startNode(small)];
    const leased = await pagedQueue(world, a);
    assert.deepEqual(await b.counts('q'), [1, 5, 0]);
    await b.delete('q', leased[0]!);
    assert.equal(await b.changeVisibility('q', leased[1]!, 900), 'done');
    await b.delete('q', leased[2]!, leased[3]!);
    assert.equal(b.engine.counters().loadedPages, 1);
    assert.equal(a.engine.counters().loadedPages, 0, 'whoever wrote it need not read it');
    assert.equal((await world.state('q')).leasePages.size, 0);
    await world.clock.advance(10 * minute);
    assert.deepEqual(await leasePages(world), []);
    assert.deepEqual(bodiesOf(await a.receive('q')), ['five', 'six']);
    await world.clock.advance(10 * minute);
    assert.deepEqual(bodiesOf(await a.receive('q')), ['five', 'six', 'two']);
  });

  scenario('are not named when what they cover has changed since the upload', async (world) => {
    // 1. A uploads page P of one, two and three, and stalls before its swap; 2. B deletes one and extends two; 3. A's
    // swap is refused. With P it would bring back one, and end the lease of two too early.
    const [a, b] = [world.startNode(patient), world.startNode(small)];
    const leased = await fullQueue(a);
    const gate = new Gate();
    a.store.script({ method: 'putIfMatch', key: manifestKey('q') }, gate.before);
    const receiving = a.receiving('q', { ...long, maxMessages: 2 });
    await world.run(gate.reached);
    const uploaded = await onlyPage(world);
    await b.delete('q', leased[0]!);
    assert.equal(await b.changeVisibility('q', leased[1]!, 1_200), 'done');
    gate.open();
    assert.deepEqual(bodiesOf(await world.run(receiving)), ['five', 'six']);
    const state = await world.state('q');
    const { nonce } = parseObjectKey(uploaded)!;
    assert.ok([...state.leasePages.values()].every((page) => page.nonce !== nonce));
    await world.clock.advance(11 * minute);
    assert.deepEqual(bodiesOf(await b.receive('q')), ['five', 'four', 'six', 'three']);
    await world.run(b.engine.sweep());
    assert.ok(!(await leasePages(world)).includes(uploaded));
  });

  scenario('are named by a later attempt when nothing that they cover has changed', async (world) => {
    const [a, b] = [world.startNode(patient), world.startNode(small)];
    await fullQueue(a);
    const gate = new Gate();
    a.store.script({ method: 'putIfMatch', key: manifestKey('q') }, gate.before);
    const receiving = a.receiving('q', { ...long, maxMessages: 1 });
    await world.run(gate.reached);
    await b.send('q', 'seven');
    gate.open();
    assert.equal((await world.run(receiving)).length, 1);
    assert.equal((await world.state('q')).leasePages.size, 1);
    assert.equal((await leasePages(world)).length, 1, 'one upload');
  });

  scenario('are written anew when the collector may have taken them', async (world) => {
    // 1. A uploads P, based on version v, and stalls before its swap; 2. B commits; 3. a sweep raises collectedBelow
    // above v and deletes P, which no manifest names; 4. A's swap is refused, and it may not name P.
    const [a, b] = [world.startNode(patient), world.startNode(small)];
    const leased = await fullQueue(a);
    const gate = new Gate();
    a.store.script({ method: 'putIfMatch', key: manifestKey('q') }, gate.before);
    const receiving = a.receiving('q', { ...long, maxMessages: 1 });
    await world.run(gate.reached);
    const uploaded = await onlyPage(world);
    await b.send('q', 'seven');
    await world.run(b.engine.sweep());
    assert.deepEqual(await leasePages(world), []);
    assert.ok((await world.state('q')).collectedBelow > parseObjectKey(uploaded)!.baseVersion);
    gate.open();
    assert.equal((await world.run(receiving)).length, 1);
    assert.equal((await world.state('q')).leasePages.size, 1);
    assert.notEqual(await onlyPage(world), uploaded);
    await b.delete('q', ...leased);
    assert.deepEqual((await b.counts('q')).slice(0, 2), [2, 1]);
  });

  scenario('uploaded by a process that then died are of nobody, and are swept', async (world) => {
    const [a, b] = [world.startNode(patient), world.startNode(small)];
    const leased = await fullQueue(a);
    const gate = new Gate();
    a.store.script({ method: 'putIfMatch', key: manifestKey('q') }, gate.before);
    void a.receiving('q', { ...long, maxMessages: 1 }).catch(() => undefined);
    await world.run(gate.reached);
    a.kill();
    assert.equal((await leasePages(world)).length, 1);
    assert.equal((await world.state('q')).leasePages.size, 0);
    await b.delete('q', leased[1]!);
    assert.deepEqual(bodiesOf(await b.receive('q', long)), ['five', 'six']);
    await world.run(b.engine.sweep());
    assert.equal((await leasePages(world)).length, (await world.state('q')).leasePages.size);
    await world.clock.advance(11 * minute);
    assert.deepEqual(bodiesOf(await b.receive('q')), ['five', 'four', 'one', 'six', 'three']);
  });

  scenario('that a stale view names and another node collected are no damage', async (world) => {
    // 1. B sees P named; 2. A deletes what P holds, P goes; 3. B is asked to delete by a handle of P: 404. The manifest
    // read after it doesn't name P.
    const [a, b] = [world.startNode(small), world.startNode(small)];
    const leased = await pagedQueue(world, a);
    await b.send('q', 'seven');
    await a.delete('q', ...leased.slice(0, 3));
    await world.clock.advance(10 * minute);
    assert.deepEqual(await leasePages(world), []);
    await b.delete('q', leased[0]!);
    assert.deepEqual(b.complaints, []);
  });
});

describe('a page of deliveries that cannot be read', () => {
  scenario('makes a delete by a handle of it fail, and not look done', async (world) => {
    const [a, b] = [world.startNode(small), world.startNode(small)];
    const leased = await pagedQueue(world, a);
    const key = await onlyPage(world);
    const body = await bytesOf(world, key);
    await world.bucket.delete(key);
    await assert.rejects(world.run(b.deleting('q', leased[0]!)), Unavailable);
    // Others of the same call take effect all the same.
    await assert.rejects(world.run(b.deleting('q', leased[3]!, leased[1]!)), Unavailable);
    await assert.rejects(
      world.run(
        b.service.changeVisibility('q', [
          { receiptHandle: leased[2]!.receiptHandle, visibilityTimeoutSeconds: 9 },
        ]),
      ),
      Unavailable,
    );
    await b.delete('q', leased[4]!);
    assert.deepEqual(await b.counts('q'), [1, 3, 0]);
    assert.ok(b.complaints.length > 0);
    await world.bucket.put(key, body);
    await b.delete('q', leased[0]!, leased[1]!);
    await world.clock.advance(11 * minute);
    assert.deepEqual(bodiesOf(await b.receive('q')), ['six', 'three']);
  });

  scenario('damaged, keeps its messages from receives, which go round them', async (world) => {
    const [a, b] = [world.startNode(small), world.startNode(small)];
    await pagedQueue(world, a);
    const key = await onlyPage(world);
    const body = await bytesOf(world, key);
    await world.bucket.put(key, body.slice(0, -1));
    await world.clock.advance(11 * minute);
    assert.deepEqual(bodiesOf(await b.receive('q', long)), ['five', 'four', 'six']);
    await assert.rejects(world.run(b.receiving('q')), Unavailable);
    await world.bucket.put(key, body);
    assert.deepEqual(bodiesOf(await b.receive('q')), ['one', 'three', 'two']);
  });

  scenario('for a moment, delays a delete by that moment', async (world) => {
    const [a, b] = [world.startNode(small), world.startNode(small)];
    const leased = await pagedQueue(world, a);
    b.store.script({ method: 'get', key: await onlyPage(world) }, refused);
    await assert.rejects(world.run(b.deleting('q', leased[0]!)), Unavailable);
    await b.delete('q', leased[0]!);
    const [page] = (await world.state('q')).leasePages.values();
    assert.equal(hasLeft(page!.left, 0), true);
    await world.clock.advance(second);
  });
});
