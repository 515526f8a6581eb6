/** Receives that wait on a FIFO queue: what wakes them, and that thousands of messages behind a lock don't. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Gate } from '../../test/support/scripted-store.ts';
import {
  fifoEntryOf,
  kindOf,
  scenario,
  second,
  type TestNode,
  type World,
} from '../../test/support/world.ts';
import { manifestKey } from '../format/object-keys.ts';
import type { ReceivedMessage } from './queue-api.ts';

const q = 'q.fifo';
const waiting = { waitSeconds: 20 } as const;
const inOrder = (messages: readonly ReceivedMessage[]) => messages.map(({ message }) => message.body);

async function create(node: TestNode, attributes: Readonly<Record<string, string>> = {}): Promise<void> {
  assert.equal(await node.create(q, { FifoQueue: 'true', ...attributes }), 'created');
}

/** A group of which the first is in flight, and hundreds behind it are not to be had. */
async function lockedGroup(node: TestNode, visibilityTimeoutSeconds: number): Promise<ReceivedMessage> {
  const bodies = Array.from({ length: 300 }, (_, n) => `${n}`);
  await node.sendTo(q, 'locked', ...bodies);
  return node.receiveOne(q, { visibilityTimeoutSeconds });
}

/** How often the state machine was asked: each attempt draws the seed of its tokens. */
function countAttempts(node: TestNode): () => number {
  let attempts = 0;
  node.random.onBytes = (count) => {
    if (count === 8) attempts++;
  };
  return () => attempts;
}

async function waitedMillis(world: World, received: Promise<unknown>): Promise<number> {
  const began = world.clock.monotonicMillis();
  await world.run(received);
  return world.clock.monotonicMillis() - began;
}

describe('receives that wait on a FIFO queue', () => {
  scenario('get a message of a free group by the commit that stores it, past a locked one', async (world) => {
    const node = world.startNode();
    await create(node);
    await lockedGroup(node, 600);
    const received = node.receiving(q, waiting);
    await world.clock.advance(3 * second);
    const swaps = node.store.count('putIfMatch');
    await node.sendTo(q, 'free', 'x');
    assert.deepEqual(inOrder(await world.run(received, 100)), ['x']);
    assert.equal(node.store.count('putIfMatch'), swaps + 1);
  });

  scenario('get the rest of a group by the commit that deletes what locked it', async (world) => {
    const node = world.startNode();
    await create(node);
    const head = await lockedGroup(node, 600);
    const received = node.receiving(q, { ...waiting, maxMessages: 2 });
    await world.clock.advance(3 * second);
    const swaps = node.store.count('putIfMatch');
    await node.delete(q, head);
    assert.deepEqual(inOrder(await world.run(received, 100)), ['1', '2']);
    assert.equal(node.store.count('putIfMatch'), swaps + 1);
  });

  scenario(
    'are not given what follows in a group that another node holds, until it deletes',
    async (world) => {
      const [a, b] = [world.startNode(), world.startNode()];
      await create(a);
      const head = await lockedGroup(a, 600);
      const received = b.receiving(q, { ...waiting, maxMessages: 1 });
      await world.clock.advance(10 * second);
      await a.delete(q, head);
      assert.deepEqual(inOrder(await world.run(received, 2.6 * second)), ['1']);
      assert.deepEqual(await a.receive(q), [], 'now the other one holds it');
    },
  );

  scenario('are woken when the visibility timeout ends that locks a group, and not before', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await create(a);
    await lockedGroup(a, 7);
    for (const node of [a, b]) {
      const received = node.receiving(q, { ...waiting, maxMessages: 1, visibilityTimeoutSeconds: 7 });
      const waited = await waitedMillis(world, received);
      assert.deepEqual(inOrder(await received), ['0']);
      assert.ok(waited > 6.5 * second && waited < 7.5 * second, `${waited} ms`);
    }
  });

  scenario('are woken by a timeout that ends while a commit is under way that tried them', async (world) => {
    // 1. a swap begins just before the group is unlocked; 2. the timeout ends; 3. the swap lands.
    const node = world.startNode();
    await create(node);
    await lockedGroup(node, 7);
    const received = node.receiving(q, { ...waiting, maxMessages: 1 });
    await world.clock.advance(6.9 * second);
    const gate = new Gate();
    node.store.script({ method: 'putIfMatch', key: manifestKey(q) }, gate.before);
    const sent = node.sendTo(q, 'locked', 'more');
    await world.run(gate.reached);
    await world.clock.advance(second / 2);
    gate.open();
    await sent;
    assert.deepEqual(inOrder(await world.run(received, 200)), ['0']);
  });

  scenario('are woken by a visibility of 0, here and on another node', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await create(a);
    let head = await lockedGroup(a, 600);
    for (const [node, millis] of [
      [a, 100],
      [b, 2.6 * second],
    ] as const) {
      const received = node.receiving(q, { ...waiting, maxMessages: 1, visibilityTimeoutSeconds: 600 });
      await world.clock.advance(3 * second);
      assert.equal(await a.changeVisibility(q, head, 0), 'done');
      const [again] = await world.run(received, millis);
      assert.equal(again?.message.body, '0');
      head = again!;
    }
  });

  scenario('whose client went away hand the head of the group back to the next', async (world) => {
    const node = world.startNode();
    await create(node);
    await node.sendTo(q, 'g', '1', '2', '3');
    const request = { maxMessages: 2, visibilityTimeoutSeconds: 600, signal: new AbortController().signal };
    const gone = await world.run(node.service.receive(q, { ...request, waitSeconds: 0 }));
    assert.equal(gone.kind, 'done');
    const next = node.receiving(q, waiting);
    await world.clock.advance(second);
    if (gone.kind === 'done') await world.run(gone.undelivered());
    const messages = await world.run(next, 100);
    assert.deepEqual(inOrder(messages), ['1', '2', '3']);
    assert.deepEqual(
      messages.map(({ receiveCount }) => receiveCount),
      [1, 1, 1],
    );
  });
});

describe('what waiting on a FIFO queue costs', () => {
  scenario('while every group is locked: a look each two seconds, by all that wait', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await create(a);
    await lockedGroup(a, 600);
    for (const node of [a, b]) {
      const requests = node.store.count();
      const attempts = countAttempts(node);
      const polls = Array.from({ length: 10 }, () => node.receiving(q, waiting));
      assert.deepEqual((await world.run(Promise.all(polls))).flat(), []);
      assert.ok(node.store.count() - requests <= 40, `${node.store.count() - requests} requests in 20 s`);
      assert.ok(attempts() <= 60, `${attempts()} attempts in 20 s`);
    }
  });

  scenario('does not rise with what others send to a locked group', async (world) => {
    // To a standard queue each of these sends would be work, and the looks would stay 50 ms apart.
    const [a, b] = [world.startNode(), world.startNode()];
    await create(a);
    const head = await lockedGroup(a, 600);
    const received = b.receiving(q, { ...waiting, maxMessages: 1 });
    await world.clock.advance(5 * second);
    const before = b.store.count();
    for (let n = 0; n < 100; n++) {
      await a.sendTo(q, 'locked', `more ${n}`);
      await world.clock.advance(second / 10);
    }
    const requests = b.store.count() - before;
    assert.ok(requests <= 16, `${requests} requests in 10 s`);
    await a.delete(q, head);
    assert.deepEqual(inOrder(await world.run(received, 2.6 * second)), ['1']);
  });

  scenario('is nothing for each that comes while they are', async (world) => {
    const node = world.startNode();
    await create(node);
    await lockedGroup(node, 600);
    const polls = [node.receiving(q, waiting)];
    await world.clock.advance(second);
    const attempts = countAttempts(node);
    for (let n = 0; n < 30; n++) {
      polls.push(node.receiving(q, waiting));
      await world.clock.advance(second / 20);
    }
    assert.ok(attempts() <= 4, `${attempts()} attempts for 30 receives`);
    assert.deepEqual((await world.run(Promise.all(polls))).flat(), []);
  });

  scenario('is one attempt for each of its own commits, with those that wait in it', async (world) => {
    const node = world.startNode();
    await create(node);
    await lockedGroup(node, 600);
    const polls = Array.from({ length: 5 }, () => node.receiving(q, waiting));
    await world.clock.advance(5 * second);
    const attempts = countAttempts(node);
    for (let n = 0; n < 20; n++) await node.sendTo(q, 'locked', `more ${n}`);
    assert.ok(attempts() <= 30, `${attempts()} attempts for 20 sends`);
    assert.deepEqual((await world.run(Promise.all(polls))).flat(), []);
  });

  scenario('falls to the shortest looks once there is work again', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await create(a);
    for (let n = 0; n < 3; n++) assert.deepEqual(await b.receive(q, waiting), []);
    const first = b.receiving(q, waiting);
    await world.clock.advance(second);
    await a.sendTo(q, 'one', '1');
    assert.deepEqual(inOrder(await world.run(first, 2.6 * second)), ['1']);
    const second_ = b.receiving(q, waiting);
    await a.sendTo(q, 'two', '2');
    assert.deepEqual(inOrder(await world.run(second_, 300)), ['2']);
  });
});

describe('consumers of a FIFO queue on three nodes', () => {
  scenario('get every group in order, one consumer at a time', async (world) => {
    const nodes = [world.startNode(), world.startNode(), world.startNode()];
    await create(nodes[0]!);
    const groups = Array.from({ length: 10 }, (_, n) => `g${n}`);
    const numbers = Array.from({ length: 10 }, (_, n) => n);
    const sends = groups.map((group, at) => {
      const entries = numbers.map((number) => fifoEntryOf(`${group} ${number}`, group));
      return nodes[at % 3]!.service.send(q, 'AIDATEST', entries);
    });
    assert.deepEqual(
      (await world.run(Promise.all(sends))).map(kindOf),
      groups.map(() => 'done'),
    );
    const handed = new Map(groups.map((group) => [group, [] as number[]]));
    const held = new Set<string>();
    const consumer = async (node: TestNode) => {
      for (;;) {
        const messages = await node.receiving(q, { waitSeconds: 5, maxMessages: 3 });
        if (messages.length === 0) return;
        const groupsOfThese = new Set(messages.map(({ message }) => message.groupId ?? ''));
        for (const group of groupsOfThese) {
          assert.ok(!held.has(group), `${group} in two hands`);
          held.add(group);
        }
        for (const { message } of messages)
          handed.get(message.groupId ?? '')?.push(Number(message.body.split(' ')[1]));
        await world.clock.sleep(50);
        for (const group of groupsOfThese) held.delete(group);
        await node.deleting(q, ...messages);
      }
    };
    await world.run(Promise.all([...nodes, ...nodes].map(consumer)));
    for (const [group, numbersSeen] of handed) assert.deepEqual(numbersSeen, numbers, group);
    assert.deepEqual(await nodes[0]!.counts(q), [0, 0, 0]);
  });
});
