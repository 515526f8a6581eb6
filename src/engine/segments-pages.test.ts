/**
 * Segments that only a page names: on every way into a page and out of it no collector takes one for garbage
 * (DESIGN.md section 5 †), and what ended with its page goes.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { messageOfInlineBytes, OneQueue, sendOf } from '../../test/model/one-queue.ts';
import { answerLost, Gate } from '../../test/support/scripted-store.ts';
import {
  bodiesOf,
  hour,
  minute,
  receiveDefaults,
  scenario,
  second,
  type TestNode,
  type World,
} from '../../test/support/world.ts';
import { queueLimits } from '../core/limits.ts';
import { pagesOf } from '../core/pages.ts';
import type { NewPage } from '../core/resources.ts';
import { encodeManifest } from '../format/manifest-codec.ts';
import {
  manifestKey,
  type ObjectKind,
  objectKey,
  objectsPrefix,
  parseObjectKey,
} from '../format/object-keys.ts';
import { encodePage } from '../format/page-codec.ts';
import { encodeSegment } from '../format/segment-codec.ts';
import { Unavailable } from './queue-api.ts';

/** Every message has a segment of its own; three segments make a page. */
const tiny = {
  limits: { ...queueLimits, tailBytesMax: 400, segmentsInlineMax: 4, segmentPageEntries: 3 },
} as const;
const roomy = { limits: { ...tiny.limits, segmentsInlineMax: 1_000 } } as const;
const patient = { timing: { commandAgeMaxMillis: hour, unresolvedAgeMaxMillis: hour } } as const;
const swapOf = { method: 'putIfMatch', key: manifestKey('q') } as const;

const body = (n: number) => `${n} `.padEnd(450, 'x');
const bodies = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => body(from + i)).sort();
async function sendEach(node: TestNode, from: number, to: number): Promise<void> {
  for (let n = from; n <= to; n++) await node.send('q', body(n));
}
async function keysOf(world: World, kind: string): Promise<string[]> {
  return (await world.keys(objectsPrefix)).filter((key) => parseObjectKey(key)?.kind === kind);
}
const paged = async (world: World) => [...(await world.state('q')).segmentsPages.values()];

/** Longer than any lag, with a commit now and then. */
async function traffic(world: World, node: TestNode): Promise<void> {
  for (let n = 0; n < 12; n++) {
    await node.send('q', 'traffic');
    await world.clock.advance(30 * second);
  }
}

/** All that was sent comes out of the queue, and no segment was lost on the way. */
async function drained(world: World, node: TestNode, from: number, to: number): Promise<void> {
  await world.checkSegments('q');
  const received: string[] = [];
  for (let n = 0; n < 20; n++) {
    const messages = await node.receive('q', { waitSeconds: 1, visibilityTimeoutSeconds: 3600 });
    received.push(...bodiesOf(messages).filter((text) => text !== 'traffic'));
  }
  assert.deepEqual(received.sort(), bodies(from, to));
}

/** The same queue in the bucket. */
async function laidDown(world: World, { state, pages, segments }: OneQueue): Promise<void> {
  const { incarnation } = state;
  const put = (kind: ObjectKind, id: string, bytes: Uint8Array) => {
    const [baseVersion, nonce] = id.split('-') as [string, string];
    const parts = { name: 'q', incarnation, kind, baseVersion: Number(baseVersion), nonce };
    return world.bucket.put(objectKey(parts), bytes);
  };
  for (const { kind, id } of pagesOf(state))
    await put(kind, id, encodePage(incarnation, { kind, content: pages.get(id) } as NewPage));
  for (const [id, messages] of segments) await put('seg', id, encodeSegment(incarnation, messages));
  await world.bucket.put(manifestKey('q'), encodeManifest(state, new Uint8Array(16)));
}

async function queueWith(world: World, count: number): Promise<TestNode> {
  const node = world.startNode(tiny);
  await node.create('q');
  await sendEach(node, 1, count);
  assert.ok((await paged(world)).length > 0);
  return node;
}

describe('a segment that moves into a page', () => {
  scenario('is not garbage to the node that moved it', async (world) => {
    const node = await queueWith(world, 8);
    await traffic(world, node);
    assert.ok((await world.state('q')).collectedBelow > 10);
    await drained(world, node, 1, 8);
  });

  scenario('is not garbage to another node that knew it from before', async (world) => {
    // 1. A knows the segments from the manifest; 2. B's commit moves them to a page; 3. A's swap fails, its next lands.
    const [a, b] = [world.startNode(roomy), world.startNode(tiny)];
    await a.create('q');
    await sendEach(a, 1, 4);
    await b.send('q', body(5));
    assert.equal((await paged(world)).length, 1);
    await traffic(world, a);
    await drained(world, a, 1, 5);
  });

  scenario('is not garbage when the answer of the swap that moved it is lost', async (world) => {
    // 1. A's swap moves S to page P and lands, the answer is lost; 2. B's commit brings P back, another moves S to P2;
    // 3. A finds that its attempt landed, long ago.
    const [a, b] = [world.startNode({ ...tiny, ...patient }), world.startNode(tiny)];
    await a.create('q');
    await sendEach(a, 1, 4);
    const gate = new Gate();
    a.store.script(swapOf, answerLost);
    a.store.script({ method: 'get', key: manifestKey('q') }, gate.before);
    const sent = a.sending('q', body(5));
    await world.run(gate.reached);
    const [first] = await paged(world);
    const held = await b.receive('q', { maxMessages: 2, visibilityTimeoutSeconds: 1, waitSeconds: 3 });
    assert.equal(held.length, 2);
    await sendEach(b, 6, 9);
    assert.ok((await paged(world)).every(({ nonce }) => nonce !== first!.nonce));
    assert.ok((await paged(world)).length > 0);
    gate.open();
    assert.equal((await world.run(sent)).kind, 'done');
    await traffic(world, a);
    await traffic(world, b);
    await drained(world, b, 1, 9);
  });

  scenario('is not garbage when the node crashes between upload and swap of the page', async (world) => {
    const crashed = world.startNode({ ...tiny, ...patient });
    const other = world.startNode(roomy);
    await crashed.create('q');
    await sendEach(crashed, 1, 4);
    const gate = new Gate();
    crashed.store.script(swapOf, gate.before);
    void crashed.sending('q', body(5));
    await world.run(gate.reached);
    crashed.kill();
    assert.deepEqual([(await keysOf(world, 'segments')).length, (await paged(world)).length], [1, 0]);
    await other.send('q', 'traffic');
    assert.equal(await world.run(other.engine.sweep()), 2, 'the page and the fifth segment');
    await drained(world, other, 1, 4);
  });

  scenario('is uploaded in a new page when the old one may have been collected', async (world) => {
    // 1. W uploads P, based on version v, and stalls before its swap; 2. a sweep raises collectedBelow above v and
    // deletes P; 3. W wakes: P is still true, but may not be named.
    const [writer, other] = [world.startNode({ ...tiny, ...patient }), world.startNode(roomy)];
    await writer.create('q');
    await sendEach(writer, 1, 4);
    const gate = new Gate();
    writer.store.script(swapOf, gate.before);
    const sent = writer.sending('q', body(5));
    await world.run(gate.reached);
    const [stalled] = await keysOf(world, 'segments');
    await other.send('q', 'traffic');
    await world.run(other.engine.sweep());
    assert.deepEqual(await keysOf(world, 'segments'), []);
    gate.open();
    assert.equal((await world.run(sent)).kind, 'done');
    const now = await keysOf(world, 'segments');
    assert.ok(now.length === 1 && now[0] !== stalled);
    await drained(world, other, 1, 5);
  });
});

describe('a sweep', () => {
  scenario('leaves what only pages name, and the pages', async (world) => {
    const node = await queueWith(world, 12);
    await node.send('q', 'traffic');
    const before = await world.keys(objectsPrefix);
    assert.equal(await world.run(world.startNode(tiny).engine.sweep()), 0);
    assert.deepEqual(await world.keys(objectsPrefix), before);
    await drained(world, node, 1, 12);
  });

  for (const [moment, method, key] of [
    ['its LIST', 'list', objectsPrefix],
    ['its first look at the manifest', 'get', manifestKey('q')],
    ['its tidy commit', 'putIfMatch', manifestKey('q')],
  ] as const)
    scenario(`loses nothing that moves into a page after ${moment}`, async (world) => {
      const [sweeper, other] = [world.startNode({ ...roomy, ...patient }), world.startNode(tiny)];
      await other.create('q');
      await sendEach(other, 1, 4);
      const gate = new Gate();
      sweeper.store.script({ method, key }, gate.after);
      const swept = sweeper.engine.sweep();
      await world.run(gate.reached);
      await other.send('q', body(5));
      assert.equal((await paged(world)).length, 1);
      gate.open();
      await world.run(swept);
      await drained(world, other, 1, 5);
    });

  scenario('loses nothing that comes back from a page before it has read it', async (world) => {
    // 1. the sweep reads a manifest that names P; 2. P comes back, and is deleted; 3. the sweep reads P: missing.
    const [sweeper, other] = [world.startNode({ ...tiny, ...patient }), world.startNode(tiny)];
    await other.create('q');
    await sendEach(other, 1, 5);
    const [page] = await keysOf(world, 'segments');
    const gate = new Gate();
    sweeper.store.script({ method: 'get', key: page! }, gate.before);
    const swept = sweeper.engine.sweep();
    await world.run(gate.reached);
    await other.receive('q', { maxMessages: 3, visibilityTimeoutSeconds: 1 });
    assert.deepEqual(await paged(world), []);
    await traffic(world, other);
    assert.ok(!(await keysOf(world, 'segments')).includes(page!));
    gate.open();
    assert.equal(await world.run(swept), 0);
    await drained(world, other, 1, 5);
  });

  scenario('deletes nothing of a queue with a page that cannot be read, and says so', async (world) => {
    const node = await queueWith(world, 8);
    const { incarnation } = await world.state('q');
    const lost = objectKey({ name: 'q', incarnation, kind: 'seg', baseVersion: 1, nonce: 'f'.repeat(16) });
    await world.bucket.put(lost, new Uint8Array(9));
    const [page] = await keysOf(world, 'segments');
    const found = await world.bucket.get(page!);
    assert.ok(found.kind === 'done');
    await world.bucket.put(page!, found.body.with(40, found.body[40]! ^ 1));
    const sweeper = world.startNode(tiny);
    assert.equal(await world.run(sweeper.engine.sweep()), 0);
    assert.ok(sweeper.complaints.some((complaint) => /nothing of its queue is collected/.test(complaint)));
    await world.bucket.put(page!, found.body);
    assert.equal(await world.run(sweeper.engine.sweep()), 1);
    assert.ok(!(await world.keys(objectsPrefix)).includes(lost));
    await drained(world, node, 1, 8);
  });
});

describe('a page of segments', () => {
  scenario('that came back goes, and its segments stay', async (world) => {
    const node = await queueWith(world, 8);
    const before = await keysOf(world, 'segments');
    await node.receive('q', { maxMessages: 10, visibilityTimeoutSeconds: 1 });
    assert.deepEqual(await paged(world), []);
    await world.clock.advance(10 * minute);
    const left = await keysOf(world, 'segments');
    assert.ok(before.every((key) => !left.includes(key)));
    assert.equal((await keysOf(world, 'seg')).length, 8);
    assert.equal(node.store.count('list'), 0);
    await drained(world, node, 1, 8);
  });

  scenario('goes with all its segments by a purge, without a LIST', async (world) => {
    const node = await queueWith(world, 12);
    await world.run(node.service.purgeQueue('q'));
    assert.equal((await keysOf(world, 'seg')).length, 12);
    await world.clock.advance(10 * minute);
    assert.deepEqual(await world.keys(objectsPrefix), []);
    assert.equal(node.store.count('list'), 0);
  });

  scenario('goes with all its segments by retention, without a LIST', async (world) => {
    const node = await queueWith(world, 12);
    await world.run(node.service.setQueueAttributes('q', new Map([['MessageRetentionPeriod', '60']])));
    for (let n = 0; n < 8; n++) {
      await node.send('q', 'traffic');
      await world.clock.advance(30 * second);
    }
    await world.clock.advance(10 * minute);
    assert.deepEqual(await world.keys(objectsPrefix), []);
    assert.equal(node.store.count('list'), 0);
  });

  scenario('goes with all its segments when the queue is deleted, without a LIST', async (world) => {
    const node = await queueWith(world, 12);
    await world.run(node.service.deleteQueue('q'));
    await world.clock.advance(second);
    assert.deepEqual(await world.keys(objectsPrefix), []);
    assert.equal(node.store.count('list'), 0);
  });

  scenario('that came back when all in it had expired keeps what cannot end yet', async (world) => {
    // 1. P has expired, but some of its messages are in a page of ready ones that reaches further and can't be read: P
    // stays; 2. a receive takes another of its messages: P comes back; 3. its page goes, as if it had ended whole.
    const node = world.startNode(roomy);
    await node.create('other');
    for (let n = 0; n < 5; n++) {
      await world.clock.advance(minute);
      await node.send('other', 'confirms the time');
    }
    const queue = new OneQueue({ MessageRetentionPeriod: '60' });
    queue.nowMillis = world.clock.wallMillis() - minute;
    queue.limits = { ...tiny.limits, segmentsInlineMax: 1_000, readyRangesMax: 2, readyPageRanges: 2 };
    for (let n = 0; n < 20; n++) {
      queue.nowMillis += second;
      queue.commit(sendOf(messageOfInlineBytes(450)));
    }
    const held = [...queue.receive(10, 600), ...queue.receive(10, 600)].map(({ handle }) => handle);
    queue.commit({ kind: 'delete', handles: held.filter((_, i) => i % 2 === 1) });
    queue.commit({ kind: 'release', handles: held.filter((_, i) => i % 2 === 0) });
    queue.limits = { ...queue.limits, segmentsInlineMax: 4 };
    queue.send('more');
    await laidDown(world, queue);
    const across = [...queue.state.readyPages].find(([, page]) => page.firstSequence === 5)![0];
    const key = (await keysOf(world, 'ready')).find((candidate) => candidate.endsWith(across.slice(-16)))!;
    const spoiled = await world.bucket.get(key);
    assert.ok(spoiled.kind === 'done');
    await world.bucket.put(key, new Uint8Array(9));
    await world.clock.advance(12 * second);
    await node.send('other', 'confirms the time');
    assert.ok((await node.receive('q')).length > 0);
    assert.ok((await paged(world)).every(({ firstSequence }) => firstSequence !== 7));
    const pagesLeft = await keysOf(world, 'segments');
    await world.clock.advance(10 * minute);
    assert.ok((await keysOf(world, 'segments')).length < pagesLeft.length);
    await world.bucket.put(key, spoiled.body);
    await world.checkSegments('q');
  });

  scenario('that ended unreadable leaves its segments to the sweep', async (world) => {
    await queueWith(world, 8);
    const node = world.startNode(tiny);
    const [page] = await keysOf(world, 'segments');
    await world.bucket.put(page!, new Uint8Array(100));
    await world.run(node.service.purgeQueue('q'));
    await traffic(world, node);
    assert.ok((await keysOf(world, 'seg')).length >= 3);
    await world.run(node.engine.sweep());
    assert.deepEqual(await keysOf(world, 'segments'), []);
    await world.checkSegments('q');
  });

  scenario('that a stale view names and another node deleted is read about anew', async (world) => {
    const [a, b] = [await queueWith(world, 5), world.startNode(tiny)];
    await b.receive('q', { maxMessages: 1, visibilityTimeoutSeconds: 600 });
    await a.delete(
      'q',
      ...(await a.receive('q', { maxMessages: 4, visibilityTimeoutSeconds: 600, waitSeconds: 3 })),
    );
    await traffic(world, a);
    assert.deepEqual(await keysOf(world, 'segments'), []);
    await b.send('q', 'small');
    assert.deepEqual(b.complaints, []);
  });

  scenario('that cannot be read is reported and passed over, and nothing in it is dropped', async (world) => {
    await queueWith(world, 8);
    const [page] = await keysOf(world, 'segments');
    const found = await world.bucket.get(page!);
    assert.ok(found.kind === 'done');
    for (const spoil of [
      () => world.bucket.delete(page!),
      () => world.bucket.put(page!, found.body.with(40, found.body[40]! ^ 1)),
    ]) {
      await spoil();
      const b = world.startNode(tiny);
      const got = await b.receive('q', { visibilityTimeoutSeconds: 5 });
      assert.deepEqual(bodiesOf(got), [body(1), body(5), body(6), body(7), body(8)].sort());
      assert.ok(b.complaints.some((complaint) => /page cannot be read/.test(complaint)));
      await assert.rejects(world.run(b.service.receive('q', receiveDefaults())), Unavailable);
      assert.deepEqual(await b.counts('q'), [3, 5, 0]);
      await world.clock.advance(10 * second);
      await world.bucket.put(page!, found.body);
    }
    await drained(world, world.startNode(tiny), 1, 8);
  });
});
