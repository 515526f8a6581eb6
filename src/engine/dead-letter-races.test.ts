/** Movers that meet, stall and wake: each number of a link is appended once (DESIGN.md section 6 †). */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Gate } from '../../test/support/scripted-store.ts';
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

const atTarget = { method: 'putIfMatch', key: manifestKey('dlq') } as const;
/** A zombie gives nothing up while it sleeps. */
const patient = { timing: { commandAgeMaxMillis: hour, unresolvedAgeMaxMillis: hour } } as const;

async function doom(node: TestNode, body: string): Promise<void> {
  await node.send('q', body);
  await node.receiveOne('q');
}

async function twoQueues(node: TestNode): Promise<void> {
  await node.create('dlq');
  await node.create('q', { RedrivePolicy: redrivePolicy('dlq', 1), VisibilityTimeout: '0' });
}

/** A mover that stands before its swap at the target, having read everything before it. */
async function stalledMover(world: World, node: TestNode): Promise<Gate> {
  const gate = new Gate();
  node.store.script(atTarget, gate.before);
  void node.receiving('q').catch(() => undefined);
  await world.run(gate.reached);
  return gate;
}

/** Another node's mover, once its patience is over. */
async function otherMoves(world: World, node: TestNode): Promise<void> {
  await node.receive('q');
  await world.clock.advance(10 * second);
  assert.equal((await world.state('q')).intents.size, 0, 'the other node moved it');
}

async function letters(node: TestNode): Promise<string[]> {
  return bodiesOf(await node.receive('dlq', { waitSeconds: 3 }));
}

describe('two movers', () => {
  scenario('of one letter append it once', async (world) => {
    // 1. A is about to append; 2. B appends and removes; 3. A's swap conflicts; the link and the source tell A.
    const [a, b] = [world.startNode(patient), world.startNode()];
    await twoQueues(a);
    await doom(a, 'x');
    const gate = await stalledMover(world, a);
    await otherMoves(world, b);
    gate.open();
    await world.clock.advance(minute);
    assert.deepEqual(await letters(b), ['x']);
  });

  scenario(
    'do not make each other wait: patience with the letters of one ends with own ones',
    async (world) => {
      // 1. A makes an intent and stalls; 2. B learns of it, and gives A some time; 3. B makes an intent of its own.
      const [a, b] = [world.startNode(patient), world.startNode()];
      await twoQueues(a);
      await doom(a, 'x');
      await stalledMover(world, a);
      await b.receive('q');
      await doom(b, 'y');
      await world.clock.advance(second);
      assert.equal((await world.state('q')).intents.size, 1, 'B is patient, whatever else it commits');
      await b.receive('q');
      await world.clock.advance(second);
      assert.equal((await world.state('q')).intents.size, 0);
      assert.deepEqual(await letters(b), ['x', 'y']);
    },
  );

  scenario('at the same time append each letter once', async (world) => {
    const eager = { timing: { foreignIntentPatienceMillis: 1 } } as const;
    const nodes = [world.startNode(eager), world.startNode(eager), world.startNode(eager)];
    await twoQueues(nodes[0]!);
    const bodies = Array.from({ length: 10 }, (_, n) => `${n}`);
    await nodes[0]!.send('q', ...bodies);
    await nodes[0]!.receive('q');
    for (let n = 0; n < 20; n++) {
      await world.run(Promise.all(nodes.map((node) => node.receiving('q').catch(() => []))));
      await world.clock.advance(100);
    }
    await world.clock.advance(minute);
    assert.deepEqual(await letters(nodes[1]!), bodies);
    assert.deepEqual(await nodes[1]!.counts('q'), [0, 0, 0]);
  });
});

describe('a mover that wakes late', () => {
  scenario('does not bring back a letter that was consumed meanwhile', async (world) => {
    const [a, b] = [world.startNode(patient), world.startNode()];
    await twoQueues(a);
    await doom(a, 'x');
    const gate = await stalledMover(world, a);
    await otherMoves(world, b);
    await b.delete('dlq', await b.receiveOne('dlq'));
    gate.open();
    await world.clock.advance(minute);
    assert.deepEqual(await letters(b), []);
  });

  scenario('does not append from a source that is gone, when the link is gone too', async (world) => {
    // 1. A and C both stand before their append of number 1; 2. B appends it, removes it, the letter is consumed; 3. the
    // source is deleted; 4. A wakes, reads the source: gone, and drops the link; 5. C wakes: with no link left, number
    // 1 would be next again. Only the source, read after the target, can tell: its intent is gone.
    const [a, b, c] = [world.startNode(patient), world.startNode(), world.startNode(patient)];
    await twoQueues(a);
    await doom(a, 'x');
    const gateA = await stalledMover(world, a);
    const gateC = new Gate();
    c.store.script(atTarget, gateC.before);
    await c.receive('q');
    await b.receive('q');
    await world.run(gateC.reached);
    await world.clock.advance(10 * second);
    assert.equal((await world.state('q')).intents.size, 0, 'B moved it');
    await b.delete('dlq', await b.receiveOne('dlq', { waitSeconds: 3 }));
    assert.equal(await world.run(b.service.deleteQueue('q').then(kindOf)), 'done');
    gateA.open();
    await world.clock.advance(minute);
    assert.equal((await world.state('dlq')).incomingLinks.size, 0, 'A dropped the link');
    gateC.open();
    await world.clock.advance(5 * minute);
    assert.deepEqual(await letters(b), []);
    const before = c.store.count();
    await world.clock.advance(10 * minute);
    assert.equal(c.store.count(), before, 'C came to rest');
  });

  scenario('does not append to a target created anew', async (world) => {
    // 1. A stands before its append; 2. the target is deleted and created again; 3. B takes the letter back and it is
    // consumed at the source; 4. A wakes: its base is gone, the new target is another queue.
    const [a, b] = [world.startNode(patient), world.startNode()];
    await twoQueues(a);
    await doom(a, 'x');
    const gate = await stalledMover(world, a);
    await world.run(b.service.deleteQueue('dlq'));
    await b.create('dlq');
    await b.receive('q');
    await world.clock.advance(10 * second);
    await world.run(b.service.setQueueAttributes('q', new Map([['RedrivePolicy', '']])));
    await b.delete('q', await b.receiveOne('q', { waitSeconds: 3, visibilityTimeoutSeconds: 600 }));
    gate.open();
    await world.clock.advance(minute);
    assert.deepEqual(await letters(b), []);
    assert.deepEqual(await b.counts('q'), [0, 0, 0]);
  });

  scenario('and finds its source deleted comes to rest', async (world) => {
    // 1. A knows an intent and cannot reach the target; 2. B moves the letter and the source is deleted; 3. A must not
    // try for ever: nothing of that queue is left.
    const [a, b] = [world.startNode(), world.startNode()];
    await twoQueues(a);
    await doom(a, 'x');
    const gate = await stalledMover(world, a);
    await otherMoves(world, b);
    assert.equal(await world.run(b.service.deleteQueue('q').then(kindOf)), 'done');
    gate.open();
    await world.clock.advance(5 * minute);
    const before = a.store.count();
    await world.clock.advance(10 * minute);
    assert.equal(a.store.count(), before);
    assert.deepEqual(await letters(b), ['x']);
  });

  scenario('and finds its letters moved by others comes to rest', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await twoQueues(a);
    await doom(a, 'x');
    const gate = await stalledMover(world, a);
    await otherMoves(world, b);
    gate.open();
    await world.clock.advance(5 * minute);
    const before = a.store.count();
    await world.clock.advance(10 * minute);
    assert.equal(a.store.count(), before);
  });
});

describe('a mover that cannot go on', () => {
  scenario('tries at intervals, and goes on when it can', async (world) => {
    const node = world.startNode();
    await twoQueues(node);
    await doom(node, 'x');
    node.store.script({ ...atTarget, times: 10_000 }, async () => {
      return { kind: 'unknown', throttled: false, reason: 'scripted' };
    });
    await node.receive('q');
    await world.clock.advance(10 * second);
    const before = node.store.count();
    await world.clock.advance(minute);
    const requests = node.store.count() - before;
    assert.ok(requests < 400, `${requests} requests in a minute`);
    node.store.scriptsEnd();
    await world.clock.advance(minute);
    assert.deepEqual(await letters(node), ['x']);
  });
});

describe('a commit that lost its race', () => {
  scenario('asks anew for the queue that its letters go to', async (world) => {
    // 1. A reads the target and stalls before its swap; 2. the target goes, and B commits to the source; 3. A wakes. With what
    // it knew it would begin a link anew that may have been forgotten since, numbers and all (batch-resources.ts).
    const [a, b] = [world.startNode(patient), world.startNode()];
    await twoQueues(a);
    await doom(a, 'x');
    const gate = new Gate();
    a.store.script({ method: 'putIfMatch', key: manifestKey('q') }, gate.before);
    const receiving = a.receiving('q');
    await world.run(gate.reached);
    assert.equal(kindOf(await world.run(b.service.deleteQueue('dlq'))), 'done');
    await b.send('q', 'y');
    gate.open();
    assert.deepEqual(bodiesOf(await world.run(receiving)), ['x', 'y']);
    assert.equal((await world.state('q')).intents.size, 0);
  });
});
