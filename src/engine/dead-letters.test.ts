/** Dead letters: intent at the source, append at the target, removal at the source; crashes between the steps. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Gate, type Selection } from '../../test/support/scripted-store.ts';
import {
  accountId,
  bodiesOf,
  kindOf,
  minute,
  redrivePolicy,
  region,
  scenario,
  second,
  type TestNode,
  type World,
} from '../../test/support/world.ts';
import { manifestKey, objectsPrefix } from '../format/object-keys.ts';

const atSource = { method: 'putIfMatch', key: manifestKey('q') } as const;
const atTarget = { method: 'putIfMatch', key: manifestKey('dlq') } as const;

async function twoQueues(node: TestNode, maxReceiveCount = 1): Promise<void> {
  await node.create('dlq');
  await node.create('q', { RedrivePolicy: redrivePolicy('dlq', maxReceiveCount), VisibilityTimeout: '0' });
}

/** Sends and receives once: the next receive makes it a dead letter. */
async function sendDoomed(node: TestNode, ...bodies: readonly string[]): Promise<void> {
  await node.send('q', ...bodies);
  assert.equal((await node.receive('q')).length, bodies.length);
}

/** Both queues as the bucket has them: bodies where they are, intents apart. */
async function whereabouts(world: World): Promise<Record<string, readonly string[]>> {
  const [source, target] = [await world.state('q'), await world.state('dlq')];
  const bodies = (state: typeof source, sequences: Iterable<number>) =>
    [...sequences].map((sequence) => state.tail.get(sequence)!.message.body);
  return {
    source: bodies(source, source.deliveries.keys()),
    intents: bodies(source, source.intents.keys()),
    target: [...target.tail.values()].map(({ message }) => message.body),
  };
}

describe('a message received too often', () => {
  scenario('waits for a dead-letter queue that cannot be read, and keeps no other waiting', async (world) => {
    const node = world.startNode();
    await twoQueues(node);
    await sendDoomed(node, 'dead');
    const stored = await world.bucket.get(manifestKey('dlq'));
    assert.ok(stored.kind === 'done');
    await world.bucket.put(manifestKey('dlq'), new Uint8Array([1, 2, 3]));
    await node.send('q', 'alive');
    const other = world.startNode();
    assert.deepEqual(bodiesOf(await other.receive('q', { visibilityTimeoutSeconds: 60 })), ['alive']);
    assert.deepEqual(bodiesOf(await other.receive('q')), []);
    await world.bucket.put(manifestKey('dlq'), stored.body);
    await other.receive('q');
    await world.clock.advance(minute);
    assert.deepEqual((await whereabouts(world)).target, ['dead']);
  });

  scenario('goes to the dead-letter queue with its identity, stamp and count', async (world) => {
    const node = world.startNode();
    await twoQueues(node, 2);
    await node.send('q', 'x');
    const [first] = await node.receive('q');
    const [second_] = await node.receive('q');
    assert.equal(second_?.receiveCount, 2);
    assert.deepEqual(await node.receive('q'), []);
    await world.clock.advance(second);
    const letter = await node.receiveOne('dlq');
    assert.equal(letter.message.messageId, first?.message.messageId);
    assert.equal(letter.message.body, 'x');
    assert.equal(letter.message.sentAtMillis, first?.message.sentAtMillis);
    assert.equal(letter.message.deadLetterSourceArn, `arn:aws:sqs:${region}:${accountId}:q`);
    assert.equal(letter.receiveCount, 3);
    assert.deepEqual(await node.counts('q'), [0, 0, 0]);
    await node.delete('q', first!, second_!);
    assert.deepEqual(await node.counts('dlq'), [0, 1, 0]);
  });

  scenario('is under way out of reach of its old handles', async (world) => {
    const node = world.startNode();
    await twoQueues(node);
    await node.send('q', 'x');
    const held = await node.receiveOne('q');
    const gate = new Gate();
    node.store.script(atTarget, gate.before);
    await node.receive('q');
    await world.run(gate.reached);
    await node.delete('q', held);
    assert.equal(await node.changeVisibility('q', held, 10), 'not-available');
    gate.open();
    await world.clock.advance(second);
    assert.deepEqual(await node.counts('dlq'), [1, 0, 0]);
  });

  scenario('stays deliverable when the dead-letter queue is missing', async (world) => {
    const node = world.startNode();
    await twoQueues(node);
    assert.equal(await world.run(node.service.deleteQueue('dlq').then(kindOf)), 'done');
    await node.send('q', 'x');
    for (let count = 1; count <= 4; count++) assert.equal((await node.receiveOne('q')).receiveCount, count);
  });

  scenario('comes back when the dead-letter queue goes while it is under way', async (world) => {
    // 1. the intent is committed; 2. the target is deleted before the append; 3. the append finds another incarnation
    // or none; 4. the message is visible again under its old number.
    for (const recreated of [false, true]) {
      const fresh = world.startNode();
      if (!(await world.run(fresh.service.queueExists('dlq')))) await fresh.create('dlq');
      const name = recreated ? 'q2' : 'q1';
      const node = world.startNode();
      await node.create(name, { RedrivePolicy: redrivePolicy('dlq', 1), VisibilityTimeout: '0' });
      await node.send(name, 'x');
      await node.receiveOne(name);
      const gate = new Gate();
      node.store.script(atTarget, gate.before);
      assert.deepEqual(await node.receive(name), []);
      await world.run(gate.reached);
      await world.run(fresh.service.deleteQueue('dlq'));
      if (recreated) await fresh.create('dlq');
      gate.open();
      await world.clock.advance(10 * second);
      assert.equal((await world.state(name)).intents.size, 0);
      const again = await node.receive(name);
      if (recreated) await world.clock.advance(5 * second);
      const letters = recreated ? (await node.counts('dlq'))[0] : 0;
      assert.equal(again.length + letters, 1, 'it is in one place');
    }
  });

  scenario('survives a purge of its source, since it belongs to its target already', async (world) => {
    const node = world.startNode();
    await twoQueues(node);
    await sendDoomed(node, 'x');
    const gate = new Gate();
    node.store.script(atTarget, gate.before);
    await node.receive('q');
    await world.run(gate.reached);
    await node.send('q', 'y');
    await world.run(node.service.purgeQueue('q'));
    assert.deepEqual(await whereabouts(world), { source: [], intents: ['x'], target: [] });
    gate.open();
    await world.clock.advance(second);
    assert.deepEqual(await whereabouts(world), { source: [], intents: [], target: ['x'] });
  });

  scenario('ends when it comes back below the watermark of a purge', async (world) => {
    const [node, other] = [world.startNode(), world.startNode()];
    await twoQueues(node);
    await sendDoomed(node, 'x');
    const gate = new Gate();
    node.store.script(atTarget, gate.before);
    await node.receive('q');
    await world.run(gate.reached);
    await world.run(node.service.purgeQueue('q'));
    await world.run(other.service.deleteQueue('dlq'));
    gate.open();
    await world.clock.advance(10 * second);
    assert.deepEqual(await node.counts('q'), [0, 0, 0]);
    assert.equal((await world.state('q')).intents.size, 0);
  });

  scenario('in a crowd of hundreds gets there once each', async (world) => {
    const node = world.startNode();
    await twoQueues(node);
    const bodies = Array.from({ length: 250 }, (_, n) => `${n}`);
    for (let n = 0; n < bodies.length; n += 10) await node.send('q', ...bodies.slice(n, n + 10));
    for (let n = 0; n < 60; n++) await node.receive('q', { visibilityTimeoutSeconds: 1 });
    await world.clock.advance(2 * second);
    for (let n = 0; n < 8; n++) {
      await node.receive('q');
      await world.clock.advance(second);
    }
    assert.deepEqual(bodiesOf([...(await everything(node, 'dlq'))]), [...bodies].sort());
    assert.deepEqual(await node.counts('q'), [0, 0, 0]);
  });

  scenario('large, with its body in a segment, gets there', async (world) => {
    const [node, other] = [world.startNode(), world.startNode()];
    await twoQueues(node);
    const large = 'x'.repeat(200_000);
    await sendDoomed(node, large);
    await node.receive('q');
    await world.clock.advance(second);
    assert.deepEqual(bodiesOf(await other.receive('dlq')), [large]);
  });

  scenario('that cannot be read holds up no other', async (world) => {
    const node = world.startNode();
    await twoQueues(node);
    await sendDoomed(node, 'y'.repeat(100_000));
    const [key] = await world.keys(objectsPrefix);
    await world.bucket.put(key!, new Uint8Array(10));
    node.kill();
    const other = world.startNode();
    await other.send('q', 'x');
    assert.deepEqual(bodiesOf(await other.receive('q')), ['x']);
    await world.run(other.receiving('q').catch(() => []));
    await world.clock.advance(minute);
    assert.deepEqual(await other.counts('dlq'), [1, 0, 0]);
    assert.deepEqual(await other.counts('q'), [1, 0, 0], 'what cannot be read stays');
  });
});

describe('a crash while a letter is under way', () => {
  const moments: readonly (readonly [string, Selection, 'before' | 'after'])[] = [
    ['after the intent, before the append', atTarget, 'before'],
    ['after the append, before its answer', atTarget, 'after'],
    ['after the append, before the removal', { ...atSource, skip: 1 }, 'before'],
    ['after the removal, before its answer', { ...atSource, skip: 1 }, 'after'],
  ];
  for (const [moment, selection, side] of moments)
    scenario(`${moment} neither loses nor doubles it`, async (world) => {
      const [a, b] = [world.startNode(), world.startNode()];
      await twoQueues(a);
      await sendDoomed(a, 'x');
      const gate = new Gate();
      a.store.script(selection, gate[side]);
      void a.receiving('q').catch(() => undefined);
      await world.run(gate.reached);
      a.kill();
      assert.deepEqual(await b.receive('q'), []);
      await world.clock.advance(minute);
      assert.deepEqual(await whereabouts(world), { source: [], intents: [], target: ['x'] });
    });
});

async function everything(node: TestNode, queue: string) {
  const messages = [];
  for (;;) {
    const some = await node.receive(queue, { waitSeconds: 3, visibilityTimeoutSeconds: 600 });
    if (some.length === 0) return messages;
    messages.push(...some);
  }
}
