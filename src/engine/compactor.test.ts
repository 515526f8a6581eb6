/** Compaction on the running engine: what it does to a backlog, and what may come between its read and its swap. */
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
import { queueLimits } from '../core/limits.ts';
import type { QueueState } from '../core/queue-state.ts';
import { manifestKey, objectsPrefix } from '../format/object-keys.ts';

/** Segments of two large bodies, four to a compacted object; five are the head. */
const options: NodeOptions = { limits: { ...queueLimits, compactedBytesMax: 600_000 } };
const patient: NodeOptions = {
  ...options,
  timing: { commandAgeMaxMillis: hour, unresolvedAgeMaxMillis: hour },
};
const bodyOf = (n: number) => `${n} `.padEnd(70_000, 'x');
const numberOf = (body: string) => Number(body.split(' ')[0]);
const put = { method: 'put', key: objectsPrefix } as const;

/** Sends two bodies for each segment, numbered from 0. */
async function backlog(node: TestNode, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await node.send('q', bodyOf(2 * n), bodyOf(2 * n + 1));
}

async function drain(node: TestNode, world: World): Promise<number[]> {
  const numbers: number[] = [];
  for (;;) {
    const messages = await node.receive('q', { waitSeconds: 3 });
    if (messages.length === 0) break;
    numbers.push(...bodiesOf(messages).map(numberOf));
    await node.delete('q', ...messages);
  }
  assert.equal((await world.state('q')).segments.size, 0);
  return numbers.sort((a, b) => a - b);
}

const upTo = (from: number, end: number) => Array.from({ length: end - from }, (_, n) => from + n);
const sizesOf = ({ segments }: QueueState) => [...segments.values()].map(({ liveCount }) => liveCount).sort();
const compactions = (node: TestNode) => node.engine.counters().compactions;

/** Nine segments, the last four about to be put together by A, which is held up at the given step. */
async function heldUp(world: World, method: 'put' | 'putIfMatch', more: NodeOptions = patient) {
  const [a, b] = [world.startNode(more), world.startNode(more)];
  await a.create('q');
  await backlog(a, 9);
  const gate = new Gate();
  if (method === 'put') a.store.script(put, gate.before);
  else {
    const uploaded = new Gate();
    a.store.script(put, uploaded.after);
    await world.run(uploaded.reached);
    a.store.script({ method, key: manifestKey('q') }, gate.before);
    uploaded.open();
  }
  await world.run(gate.reached);
  return { a, b, gate };
}

describe('a backlog', () => {
  scenario(
    'is put together behind its head, every message once, and what it lay in is collected',
    async (world) => {
      const node = world.startNode(options);
      await node.create('q');
      await backlog(node, 20);
      await world.clock.advance(minute);
      assert.deepEqual(sizesOf(await world.state('q')), [2, 2, 2, 2, 2, 2, 2, 2, 8, 8, 8]);
      assert.equal(compactions(node), 3);
      assert.equal(node.store.count(`put ${objectsPrefix}`), 23, '20 spills and 3 copies');
      const requests = node.store.count();
      await world.clock.advance(10 * minute);
      assert.equal((await world.keys(objectsPrefix)).length, 11);
      assert.equal(compactions(node), 3);
      await world.clock.advance(hour);
      assert.ok(node.store.count() - requests < 25, 'the collection of 12 objects and its commits');
      assert.deepEqual(await drain(node, world), upTo(0, 40));
      assert.deepEqual(node.complaints, []);
    },
  );

  scenario('that consumers keep short costs not one request more', async (world) => {
    const node = world.startNode(options);
    await node.create('q');
    await backlog(node, 5);
    for (let round = 0; round < 30; round++) {
      await node.send('q', bodyOf(100 + 2 * round), bodyOf(101 + 2 * round));
      await node.delete('q', ...(await node.receive('q', { maxMessages: 2 })));
      await world.clock.advance(second);
    }
    assert.equal((await world.state('q')).segments.size, 5);
    assert.equal(compactions(node), 0);
    assert.equal(
      node.store.count('get '),
      node.store.count(`get ${objectsPrefix}`) + 1,
      'one look at the manifest, the first',
    );
    assert.equal(node.store.count(`put ${objectsPrefix}`), 35);
  });

  scenario('that is mostly deleted is rewritten without its dead', async (world) => {
    const node = world.startNode({ ...options, limits: { ...queueLimits, compactedBytesMax: 400_000 } });
    await node.create('q');
    // Tails that spill: eight bodies each.
    for (let n = 0; n < 64; n += 8)
      await node.send('q', ...upTo(n, n + 8).map((m) => `${m} `.padEnd(40_000, 'x')));
    const kept: number[] = [];
    for (let n = 0; n < 64; n++) {
      const message = await node.receiveOne('q', { visibilityTimeoutSeconds: hour / second });
      if (n % 8 === 3) kept.push(numberOf(message.message.body));
      else await node.delete('q', message);
    }
    assert.equal((await world.state('q')).segments.size, 8);
    await world.clock.advance(10 * minute);
    const state = await world.state('q');
    assert.deepEqual(sizesOf(state), [4, 4]);
    for (const { runs, bodyCount, liveCount } of state.segments.values()) {
      assert.equal(runs.length, 1);
      assert.equal(bodyCount, liveCount);
    }
    await world.clock.advance(hour);
    assert.deepEqual(await drain(node, world), kept);
  });

  scenario('that cannot be read is reported once and left alone; the rest is put together', async (world) => {
    const node = world.startNode(options);
    await node.create('q');
    await backlog(node, 8);
    const keys = await world.keys(objectsPrefix);
    const broken = await world.bucket.get(keys[5]!);
    assert.ok(broken.kind === 'done');
    await world.bucket.put(keys[5]!, broken.body.with(50_000, broken.body[50_000]! ^ 1));
    await backlog(node, 2);
    await world.clock.advance(10 * minute);
    assert.deepEqual(node.complaints, ['a segment cannot be read; it is not compacted']);
    assert.equal(compactions(node), 1);
    await world.bucket.put(keys[5]!, broken.body);
    assert.equal((await drain(node, world)).length, 20);
  });

  scenario('is tried again when a read fails or an upload is lost', async (world) => {
    const node = world.startNode(options);
    await node.create('q');
    await backlog(node, 9);
    node.store.script({ method: 'get', key: objectsPrefix, times: 1 }, refused);
    await world.clock.advance(15 * second);
    node.store.script({ ...put, times: 1 }, refused);
    await world.clock.advance(minute);
    assert.equal(compactions(node), 1);
    assert.deepEqual(await drain(node, world), upTo(0, 18));
  });
});

describe('between the read of a compaction and its swap', () => {
  scenario('a delete may land', async (world) => {
    // 1. A reads S6 … S9 and uploads their copy; 2. B deletes message 10 of S6; 3. A's swap fails; 4. on the fresh state
    // the copy counts seven live messages of eight.
    const { a, b, gate } = await heldUp(world, 'putIfMatch');
    const taken = [...(await b.receive('q')), ...(await b.receive('q', { maxMessages: 1 }))];
    await b.delete('q', taken.find(({ message }) => numberOf(message.body) === 10)!);
    gate.open();
    await world.clock.advance(minute);
    assert.equal(compactions(a), 1);
    assert.deepEqual(sizesOf(await world.state('q')), [2, 2, 2, 2, 2, 7]);
    assert.deepEqual(
      await drain(a, world),
      upTo(0, 18).filter((n) => n !== 10),
    );
  });

  scenario('a purge may land: the copy is not named, and collected', async (world) => {
    const { a, b, gate } = await heldUp(world, 'putIfMatch');
    await world.run(b.service.purgeQueue('q'));
    gate.open();
    await world.clock.advance(10 * minute);
    assert.equal(compactions(a), 0);
    assert.equal((await world.state('q')).segments.size, 0);
    await world.run(a.engine.sweep());
    await b.send('q', '99 small');
    await world.run(a.engine.sweep());
    assert.deepEqual(await world.keys(objectsPrefix), []);
  });

  scenario('retention may end what was copied', async (world) => {
    const { a, b, gate } = await heldUp(world, 'putIfMatch');
    await world.run(b.service.setQueueAttributes('q', new Map([['MessageRetentionPeriod', '60']])));
    await world.clock.advance(5 * minute);
    await b.send('q', '99 small');
    await world.clock.advance(2 * minute);
    await b.send('q', '99 small');
    gate.open();
    await world.clock.advance(minute);
    assert.equal((await world.state('q')).segments.size, 0);
    assert.equal(compactions(a), 0);
  });

  scenario('a receive may take some of it, and finds each body under its number', async (world) => {
    const { a, b, gate } = await heldUp(world, 'putIfMatch');
    const long = { visibilityTimeoutSeconds: 600 };
    const taken = [...(await b.receive('q', long)), ...(await b.receive('q', long))];
    assert.deepEqual(
      taken.map(({ message }) => numberOf(message.body)),
      upTo(0, 18),
    );
    gate.open();
    await world.clock.advance(minute);
    assert.equal(compactions(a), 1);
    await a.delete('q', ...taken.filter((_, n) => n % 2 === 0));
    await world.clock.advance(11 * minute);
    assert.deepEqual(
      await drain(b, world),
      upTo(0, 18).filter((n) => n % 2 === 1),
    );
  });

  scenario('another node may have put the same together: one copy is named', async (world) => {
    // 1. A has read and is about to upload; 2. B, whose commit changes segments too, compacts and lands; 3. A uploads and
    // is superseded; 4. its copy, which nobody names, goes with a sweep.
    const { a, b, gate } = await heldUp(world, 'put');
    await b.send('q', bodyOf(18));
    await world.clock.advance(minute);
    assert.equal(compactions(b), 1);
    const landed = await world.state('q');
    gate.open();
    await world.clock.advance(minute);
    assert.equal(compactions(a), 0);
    assert.deepEqual([...(await world.state('q')).segments.keys()], [...landed.segments.keys()]);
    await a.send('q', '99 small');
    await world.run(a.engine.sweep());
    assert.equal((await world.keys(objectsPrefix)).length, landed.segments.size);
    assert.equal((await drain(a, world)).length, 20);
  });

  scenario('the process may die: the sweep finds its copy', async (world) => {
    const { a, b, gate } = await heldUp(world, 'putIfMatch');
    a.kill();
    gate.open();
    assert.equal((await world.keys(objectsPrefix)).length, 10);
    await b.send('q', '99 small');
    assert.equal(await world.run(b.engine.sweep()), 1);
    assert.deepEqual(await drain(b, world), [...upTo(0, 18), 99]);
  });

  scenario('the collector may pass its base: the copy is refused, and made again †', async (world) => {
    // 1. A uploads a copy based on version v and stalls; 2. B commits, and a sweep raises collectedBelow above v and
    // deletes the copy; 3. A's swap may not name it.
    const { a, b, gate } = await heldUp(world, 'putIfMatch');
    const copied = (await world.keys(objectsPrefix)).length;
    await b.send('q', '99 small');
    assert.equal(await world.run(b.engine.sweep()), 1, 'the copy that nobody names');
    assert.equal((await world.keys(objectsPrefix)).length, copied - 1);
    gate.open();
    await world.clock.advance(minute);
    assert.equal(a.store.count(`put ${objectsPrefix}`), 9 + 2, 'uploaded once more');
    assert.equal(compactions(a), 1);
    assert.deepEqual(await drain(b, world), [...upTo(0, 18), 99]);
  });
});
