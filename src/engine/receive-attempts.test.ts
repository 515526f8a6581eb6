/** ReceiveRequestAttemptId over several nodes: an answer that was lost can be had again, from any of them. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { minute, scenario, second, type TestNode, type World } from '../../test/support/world.ts';
import { queueLimits } from '../core/limits.ts';

const queue = 'q.fifo';
const attempt = { attemptId: 'once more' };
/** Leases leave for pages of two. */
const tiny = {
  limits: { ...queueLimits, leaseInlineMax: 1, leasePageEntries: 2, tailBytesMax: 200 },
} as const;

async function filled(world: World): Promise<readonly [TestNode, TestNode]> {
  const [one, other] = [world.startNode(tiny), world.startNode(tiny)];
  await one.create(queue, { FifoQueue: 'true', VisibilityTimeout: '30' });
  await one.sendTo(queue, 'a', 'a1', 'a2', 'a3');
  await one.sendTo(queue, 'b', 'b1');
  return [one, other];
}

const handlesOf = (messages: Awaited<ReturnType<TestNode['receive']>>) =>
  messages.map(({ receiptHandle }) => receiptHandle);

describe('a receive with the attempt id of one before', () => {
  scenario('gets the same messages and handles on another node, in flight as they are', async (world) => {
    const [one, other] = await filled(world);
    const first = await one.receive(queue, { ...attempt, maxMessages: 2 });
    assert.deepEqual(
      first.map(({ message }) => message.body),
      ['a1', 'a2'],
    );
    await world.clock.advance(20 * second);
    for (const node of [other, one]) {
      const again = await node.receive(queue, { ...attempt, maxMessages: 2 });
      assert.deepEqual(handlesOf(again), handlesOf(first));
      assert.deepEqual(
        again.map(({ receiveCount }) => receiveCount),
        [1, 1],
      );
    }
    await world.clock.advance(20 * second);
    assert.deepEqual(
      (await other.receive(queue)).map(({ message }) => message.body),
      ['b1'],
      'the timeout counts anew, and the group is locked meanwhile',
    );
    await other.delete(queue, ...first);
    assert.equal((await one.receiveOne(queue)).message.body, 'a3');
  });

  scenario('does so at once although nothing is visible and it may wait', async (world) => {
    const [one, other] = await filled(world);
    const first = await one.receive(queue, { ...attempt, maxMessages: 10 });
    assert.equal(first.length, 4);
    const again = await other.receive(queue, { ...attempt, maxMessages: 10, waitSeconds: 20 });
    assert.deepEqual(handlesOf(again), handlesOf(first));
  });

  scenario('keeps what the first one gives back when it learns that its client had gone', async (world) => {
    const [one, other] = await filled(world);
    const service = one.service.receive(queue, {
      maxMessages: 1,
      waitSeconds: 0,
      visibilityTimeoutSeconds: undefined,
      signal: new AbortController().signal,
      ...attempt,
    });
    const first = await world.run(service);
    assert.equal(first.kind, 'done');
    if (first.kind !== 'done') return;
    const again = await other.receiveOne(queue, attempt);
    assert.equal(again.receiptHandle, first.messages[0]?.receiptHandle);
    await world.run(first.undelivered());
    assert.equal((await one.receiveOne(queue)).message.body, 'b1');
    await other.delete(queue, again);
    assert.equal((await one.receiveOne(queue)).message.body, 'a2');
  });

  scenario(
    'is a new one when a message was deleted, changed or expired, or after five minutes',
    async (world) => {
      const [one, other] = await filled(world);
      const again = () => other.receive(queue, { ...attempt, maxMessages: 2 });
      const bodies = async () => (await again()).map(({ message }) => message.body);
      const [a1, a2] = await one.receive(queue, { ...attempt, maxMessages: 2 });
      await one.delete(queue, a1!);
      assert.deepEqual(await bodies(), ['b1']);
      assert.equal(await one.changeVisibility(queue, a2!, 600), 'done');
      assert.deepEqual(await bodies(), ['b1'], 'the latest receive of that id');
      await world.clock.advance(31 * second);
      const [b1] = await again();
      assert.equal(b1!.receiveCount, 2, 'expired');
      for (let n = 0; n < 12; n++) {
        await world.clock.advance(25 * second);
        const next = await again();
        assert.deepEqual(handlesOf(next), handlesOf([b1!]).slice(0, n < 11 ? 1 : 0), `${n}`);
      }
      await world.clock.advance(5 * minute);
      assert.deepEqual(await bodies(), ['a2', 'a3']);
    },
  );

  scenario('asks for fewer than there were: a new one', async (world) => {
    const [one, other] = await filled(world);
    await one.receive(queue, { ...attempt, maxMessages: 3 });
    assert.equal((await other.receiveOne(queue, attempt)).message.body, 'b1');
  });
});
