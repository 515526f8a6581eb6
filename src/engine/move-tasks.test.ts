/** Message move tasks on several nodes: who runs one, who goes on with it, what the bucket is left with. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Gate } from '../../test/support/scripted-store.ts';
import {
  bodiesOf,
  minute,
  redrivePolicy,
  scenario,
  second,
  type TestNode,
  type World,
} from '../../test/support/world.ts';
import { queueLimits } from '../core/limits.ts';
import { isUnderWay, type MoveTask } from '../core/move-task.ts';
import { manifestKey } from '../format/object-keys.ts';

const listing = { timing: { taskListMillis: minute, taskListIdleMillis: 10 * minute } };
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `m${String(n).padStart(4, '0')}`);

/** `dlq` with so many messages, and `to`, empty. */
async function queues(node: TestNode, count: number, suffix = ''): Promise<readonly string[]> {
  const fifo = suffix === '' ? {} : { FifoQueue: 'true' };
  await node.create(`dlq${suffix}`, fifo);
  await node.create(`to${suffix}`, fifo);
  await node.create(`q${suffix}`, { ...fifo, RedrivePolicy: redrivePolicy(`dlq${suffix}`, 1) });
  const bodies = numbered(count);
  for (let at = 0; at < count; at += 10)
    if (suffix === '') await node.send('dlq', ...bodies.slice(at, at + 10));
    else await node.sendTo(`dlq${suffix}`, `g${(at / 10) % 3}`, ...bodies.slice(at, at + 10));
  return bodies;
}

async function start(
  world: World,
  node: TestNode,
  rate?: number,
  name = 'dlq',
  destination = 'to',
): Promise<string> {
  const outcome = await world.run(node.service.startMoveTask(name, { destination, messagesPerSecond: rate }));
  assert.equal(outcome.kind, 'started');
  return outcome.kind === 'started' ? outcome.id : '';
}

const taskIn = async (world: World, name = 'dlq'): Promise<MoveTask> =>
  (await world.state(name)).moveTasks.at(-1)!;

/** Takes all there is, in order of arrival. */
async function takeAll(node: TestNode, queue: string): Promise<string[]> {
  const taken: string[] = [];
  for (;;) {
    const messages = await node.receive(queue);
    if (messages.length === 0) return taken;
    taken.push(...messages.map(({ message }) => message.body));
    await node.delete(queue, ...messages);
  }
}

async function over(world: World, seconds = 120, name = 'dlq'): Promise<MoveTask> {
  for (let passed = 0; passed < seconds; passed++) {
    const task = await taskIn(world, name);
    if (!isUnderWay(task)) return task;
    await world.clock.advance(second);
  }
  assert.fail(`the task is ${(await taskIn(world, name)).status} after ${seconds} s`);
}

describe('a message move task', () => {
  scenario('moves a backlog of several steps, once each, and leaves no marker', async (world) => {
    const node = world.startNode();
    const bodies = await queues(node, 350);
    await start(world, node);
    assert.equal((await world.keys('t/')).length, 1);
    assert.equal((await over(world)).moved, 350);
    await world.clock.advance(second);
    assert.deepEqual(await world.keys('t/'), []);
    assert.deepEqual((await takeAll(node, 'to')).sort(), bodies);
    assert.deepEqual(await node.counts('dlq'), [0, 0, 0]);
    assert.deepEqual(node.complaints, []);
  });

  scenario('leaves what came after its start, what is in flight and what is delayed', async (world) => {
    const node = world.startNode();
    await queues(node, 20);
    await node.receive('dlq', { maxMessages: 3, visibilityTimeoutSeconds: 600 });
    await start(world, node, 10);
    await node.send('dlq', 'late');
    const { moved, toMove } = await over(world);
    assert.deepEqual([moved, toMove], [17, 17]);
    assert.deepEqual(await node.counts('dlq'), [1, 3, 0]);
  });

  scenario('into a queue that feeds its own ends', async (world) => {
    const node = world.startNode();
    await queues(node, 5);
    await world.run(node.service.setQueueAttributes('q', new Map([['VisibilityTimeout', '0']])));
    await start(world, node, undefined, 'dlq', 'q');
    for (let n = 0; n < 10; n++) {
      await node.receive('q');
      await world.clock.advance(second / 2);
    }
    assert.equal((await taskIn(world)).status, 'completed');
    await world.clock.advance(5 * second);
    assert.deepEqual((await takeAll(node, 'dlq')).sort(), numbered(5));
  });

  scenario(
    'keeps the order of each group of a FIFO queue, with the id of each for its deduplication',
    async (world) => {
      const node = world.startNode();
      await queues(node, 240, '.fifo');
      await start(world, node, undefined, 'dlq.fifo', 'to.fifo');
      assert.equal((await over(world, 120, 'dlq.fifo')).moved, 240);
      const byGroup = new Map<string, string[]>();
      for (;;) {
        const messages = await node.receive('to.fifo');
        if (messages.length === 0) break;
        for (const { message } of messages) {
          assert.equal(message.deduplicationId, message.messageId);
          byGroup.set(message.groupId!, [...(byGroup.get(message.groupId!) ?? []), message.body]);
        }
        await node.delete('to.fifo', ...messages);
      }
      assert.equal([...byGroup.values()].flat().length, 240);
      for (const [group, got] of byGroup) assert.deepEqual(got, [...got].sort(), group);
    },
  );

  scenario('of a node that dies is gone on with by one that never heard of its queue', async (world) => {
    const first = world.startNode();
    const bodies = await queues(first, 300);
    const second_ = world.startNode(listing);
    await start(world, first, 50);
    await world.clock.advance(2 * second);
    first.kill();
    const atDeath = (await taskIn(world)).moved;
    assert.ok(atDeath > 0 && atDeath < 200, String(atDeath));
    assert.equal((await over(world, 800)).moved, 300);
    assert.deepEqual((await takeAll(second_, 'to')).sort(), bodies);
    assert.deepEqual(await world.keys('t/'), []);
  });

  for (const at of ['dlq', 'to'])
    scenario(
      `whose node stalls before a swap of ${at} and wakes up late neither loses nor doubles`,
      async (world) => {
        const [first, other] = [world.startNode(), world.startNode(listing)];
        const bodies = await queues(first, 120);
        await other.counts('dlq');
        await start(world, first, 100);
        await world.clock.advance(second / 2);
        const gate = new Gate();
        first.store.script({ method: 'putIfMatch', key: manifestKey(at) }, gate.before);
        await world.run(gate.reached);
        await other.receive('dlq', { maxMessages: 1, visibilityTimeoutSeconds: 0 });
        await world.clock.advance(30 * second);
        gate.open();
        assert.equal((await over(world)).moved, 120);
        assert.deepEqual((await takeAll(other, 'to')).sort(), bodies);
      },
    );

  for (const count of [2, 3])
    scenario(`whose runner stalls again and again has one of ${count} nodes at any time`, async (world) => {
      const nodes = Array.from({ length: count }, () => world.startNode(listing));
      await queues(nodes[0]!, 2_500);
      await start(world, nodes[0]!, 10);
      await world.clock.advance(3 * second);
      let runner = nodes[0]!;
      for (let stalls = 0; stalls < 3; stalls++) {
        const gate = new Gate();
        runner.store.script({ method: 'putIfMatch', key: manifestKey('dlq') }, gate.before);
        await world.run(gate.reached);
        for (const node of nodes)
          if (node !== runner) await node.receive('dlq', { maxMessages: 1, visibilityTimeoutSeconds: 0 });
        await world.clock.advance(30 * second);
        gate.open();
        await world.clock.advance(10 * second);
        const swaps = () => nodes.map(({ store }) => store.count(`putIfMatch ${manifestKey('dlq')}`));
        const before = swaps();
        const { moved } = await taskIn(world);
        await world.clock.advance(30 * second);
        const made = swaps().map((swapped, at) => swapped - before[at]!);
        assert.equal(made.filter((swapped) => swapped > 0).length, 1, made.join());
        // A step and a resolution for each half second.
        assert.ok(Math.max(...made) <= 125, made.join());
        const since = (await taskIn(world)).moved - moved;
        assert.ok(since >= 270 && since <= 310, String(since));
        assert.equal(made[nodes.indexOf(runner)], 0);
        runner = nodes[made.findIndex((swapped) => swapped > 0)]!;
      }
    });

  scenario('is run by one of two nodes, at its rate', async (world) => {
    const [one, two] = [world.startNode(), world.startNode()];
    await queues(one, 400);
    await two.counts('to');
    await start(world, one, 40);
    const log: number[] = [];
    for (let passed = 0; passed < 12; passed++) {
      // Wakes whatever the other one has on that queue.
      await two.receive('dlq', { maxMessages: 1, visibilityTimeoutSeconds: 0 });
      await world.clock.advance(second);
      log.push((await two.counts('to'))[0]);
    }
    for (let at = 3; at < log.length; at++) {
      const rate = log[at]! - log[at - 2]!;
      if (log[at]! < 400) assert.ok(rate >= 60 && rate <= 100, log.join());
    }
  });

  scenario('keeps its rate when all clocks are set back an hour', async (world) => {
    const node = world.startNode();
    await queues(node, 300);
    await start(world, node, 10);
    await world.clock.advance(5 * second);
    const before = (await taskIn(world)).moved;
    world.storeSkewMillis = -60 * minute;
    node.clock.skewMillis = -60 * minute;
    await world.clock.advance(10 * second);
    const moved = (await taskIn(world)).moved - before;
    assert.ok(moved >= 80 && moved <= 110, String(moved));
    assert.equal((await over(world)).moved, 300);
  });

  scenario('ends when its queue is purged, and with its queue when that is deleted', async (world) => {
    const node = world.startNode();
    await queues(node, 40);
    await start(world, node, 2);
    await world.clock.advance(2 * second);
    await world.run(node.service.purgeQueue('dlq'));
    assert.equal((await over(world)).status, 'completed');
    await node.send('dlq', ...numbered(10));
    await start(world, node, 1);
    await world.run(node.service.deleteQueue('dlq'));
    await world.clock.advance(5 * second);
    const [left, ...more] = await world.keys('t/');
    assert.deepEqual(more, []);
    assert.ok(left?.startsWith('t/dlq/'), 'nobody knows that it is over');
    world.startNode({
      timing: { ...listing.timing, taskListIdleMillis: minute, tombstoneAgeMillis: 2 * second },
    });
    await world.clock.advance(5 * minute);
    assert.deepEqual(await world.keys('t/'), []);
  });

  scenario('that is started here does not wait for one of another node to be given up', async (world) => {
    const [one, two] = [world.startNode(), world.startNode()];
    await queues(one, 10);
    const first = await start(world, one, 1);
    await two.receive('dlq', { maxMessages: 1, visibilityTimeoutSeconds: 0 });
    await world.run(one.service.cancelMoveTask('dlq', first));
    await world.clock.advance(second);
    await start(world, two);
    await world.clock.advance(second);
    assert.equal((await taskIn(world)).status, 'completed');
  });

  scenario('is looked for once a minute while calls come, else once in ten minutes', async (world) => {
    const node = world.startNode(listing);
    const looked = () => node.store.count('list t/');
    await world.clock.advance(second);
    assert.equal(looked(), 1);
    await world.clock.advance(9 * minute);
    assert.equal(looked(), 1);
    await world.clock.advance(3 * minute);
    assert.equal(looked(), 2);
    for (let n = 0; n < 6; n++) {
      await world.run(node.service.queueExists('q'));
      await world.clock.advance(minute);
    }
    assert.ok(looked() >= 6 && looked() <= 9, String(looked()));
  });

  scenario('goes round what cannot be read, and fails with that at last; nothing is lost', async (world) => {
    const node = world.startNode({
      limits: { ...queueLimits, tailBytesMax: 200 },
    });
    await queues(node, 30);
    const [segment] = await world.keys('s/');
    const found = await world.bucket.get(segment!);
    assert.ok(found.kind === 'done');
    await world.bucket.delete(segment!);
    const other = world.startNode();
    await start(world, other);
    const { status, failureReason, moved } = await over(world, 200);
    assert.deepEqual([status, failureReason], ['failed', 'CouldNotReadMessage']);
    assert.ok(moved > 0 && moved < 30, String(moved));
    await world.bucket.put(segment!, found.body);
    assert.equal((await node.counts('dlq'))[0], 30 - moved);
    const third = world.startNode();
    await start(world, third);
    assert.equal((await over(world)).status, 'completed');
    assert.deepEqual((await takeAll(third, 'to')).sort(), numbered(30));
  });

  scenario('without a rate shares its commits with ordinary traffic', async (world) => {
    const node = world.startNode({ lingerMillis: 100 });
    await queues(node, 200);
    await start(world, node);
    for (let n = 0; n < 20; n++) await node.send('dlq', `more ${n}`);
    await over(world);
    const sent = (await node.receive('dlq')).length;
    assert.equal(sent, 10);
    assert.equal(bodiesOf(await node.receive('to')).length, 10);
  });
});
