/** Delete and recreate: a new incarnation is another queue, for every node and whatever it still knew of the old one. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Gate } from '../../test/support/scripted-store.ts';
import {
  bodiesOf,
  kindOf,
  receiveDefaults,
  scenario,
  second,
  type TestNode,
  type World,
} from '../../test/support/world.ts';
import { manifestKey } from '../format/object-keys.ts';
import { Unavailable } from './queue-api.ts';

const manifest = manifestKey('q');

/** The new queue knows nothing of the old one's writers: what became of a swap on the old one can't be told. */
async function learn(world: World, node: TestNode): Promise<void> {
  await assert.rejects(world.run(node.sending('q', 'to nobody')), Unavailable);
}

async function recreate(world: World): Promise<void> {
  const node = world.startNode();
  assert.equal(await world.run(node.service.deleteQueue('q').then(kindOf)), 'done');
  assert.equal(await node.create('q'), 'created');
  node.kill();
}

describe('a queue deleted and created again by another node', () => {
  scenario('gets the sends of a node that still knew the old one', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'old');
    await recreate(world);
    await learn(world, node);
    await node.send('q', 'new');
    assert.deepEqual(bodiesOf(await node.receive('q')), ['new']);
  });

  scenario('is never touched by old handles', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'old');
    const old = await node.receiveOne('q');
    await recreate(world);
    await learn(world, node);
    await node.send('q', 'new');
    const held = await node.receiveOne('q');
    await node.delete('q', old);
    assert.equal(await node.changeVisibility('q', old, 0), 'not-available');
    assert.deepEqual(await node.counts('q'), [0, 1, 0]);
    await node.delete('q', held);
    assert.deepEqual(await node.counts('q'), [0, 0, 0]);
  });

  scenario('ends polls that were parked on the old one', async (world) => {
    const node = world.startNode();
    await node.create('q');
    const parked = node.service.receive('q', { ...receiveDefaults(), waitSeconds: 20 });
    await world.clock.advance(second);
    await recreate(world);
    const outcome = await world.run(parked, 5 * second);
    assert.equal(outcome.kind, 'queue-missing');
  });

  scenario('sees all sends of a stream go to one incarnation or the other, none doubled', async (world) => {
    const [a, b] = [world.startNode({ lingerMillis: 5 }), world.startNode({ lingerMillis: 5 })];
    await a.create('q');
    const outcomes: Promise<string>[] = [];
    const stream = async (node: typeof a, name: string) => {
      for (let n = 0; n < 60; n++) {
        const call = node.sending('q', `${name}${n}`).then(kindOf, (error: unknown) => {
          assert.ok(error instanceof Unavailable);
          return 'unavailable';
        });
        outcomes.push(call);
        await world.clock.sleep(7);
      }
    };
    const streams = Promise.all([stream(a, 'a'), stream(b, 'b')]);
    for (let n = 0; n < 3; n++) {
      await world.clock.advance(100);
      await recreate(world);
    }
    await world.run(streams);
    const answers = await world.run(Promise.all(outcomes));
    await world.clock.advance(5 * second);
    await world.run(a.receiving('q', { maxMessages: 1, visibilityTimeoutSeconds: 0 })).catch(() => undefined);
    await a.send('q', 'last');
    assert.ok(answers.filter((answer) => answer === 'done').length > 60, answers.join());
    const bodies: string[] = [];
    for (;;) {
      const messages = await a.receive('q', { waitSeconds: 3 });
      if (messages.length === 0) break;
      bodies.push(...bodiesOf(messages));
    }
    assert.equal(new Set(bodies).size, bodies.length, 'none is there twice');
    assert.ok(bodies.includes('last'));
  });

  scenario('is found by a send that came while its loop still ended', async (world) => {
    // 1. B reads for a command: the read shows A's tombstone, its answer is on the way; 2. A creates the queue anew and
    // says so; 3. a client sends at B; 4. B's read arrives and ends the loop: the send knows a later truth.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    assert.deepEqual(await b.receive('q'), []);
    await world.run(a.service.deleteQueue('q'));
    const gate = new Gate();
    b.store.script({ method: 'get', key: manifest }, gate.after);
    const reading = b.service.deleteMessages('q', []);
    await world.run(gate.reached);
    assert.equal(await a.create('q'), 'created');
    const sent = b.sending('q', 'new');
    await world.clock.advance(50);
    gate.open();
    assert.equal((await world.run(sent)).kind, 'done');
    await world.run(reading);
    assert.deepEqual(await a.counts('q'), [1, 0, 0]);
  });

  scenario('is found by a send that came while another call was still looking', async (world) => {
    // 1. a call at B finds no queue: its GET has passed the store; 2. A creates the queue and says so; 3. a send comes
    // to B and must not share the answer of that GET.
    const [a, b] = [world.startNode(), world.startNode()];
    const gate = new Gate();
    b.store.script({ method: 'get', key: manifest }, gate.after);
    const early = b.sending('q', 'early');
    await world.run(gate.reached);
    assert.equal(await a.create('q'), 'created');
    const late = b.sending('q', 'late');
    await world.clock.advance(50);
    gate.open();
    assert.equal((await world.run(early)).kind, 'queue-missing');
    assert.equal((await world.run(late)).kind, 'done');
  });
});

describe('a deleted queue', () => {
  scenario('is told at once from a swap that may have landed before it', async (world) => {
    // The tombstone says which version it buried: 1. B's view is that version, so its swap can only have lost;
    // 2. B's view is older, so a copy of its swap may have landed in between: 503, and then B knows.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await b.send('q', 'x');
    await a.send('q', 'y');
    assert.deepEqual(bodiesOf(await b.receive('q')), ['x', 'y']);
    await world.run(a.service.deleteQueue('q'));
    assert.equal((await world.run(b.sending('q', 'z'))).kind, 'queue-missing');

    await a.create('q');
    await b.send('q', 'x');
    await a.send('q', 'y');
    await world.run(a.service.deleteQueue('q'));
    await assert.rejects(world.run(b.sending('q', 'z')), Unavailable);
    assert.equal((await world.run(b.sending('q', 'z'))).kind, 'queue-missing');
  });

  scenario('ends the polls parked on the node that deleted it', async (world) => {
    const node = world.startNode();
    await node.create('q');
    const parked = node.service.receive('q', { ...receiveDefaults(), waitSeconds: 20 });
    await world.clock.advance(second);
    assert.equal(await world.run(node.service.deleteQueue('q').then(kindOf)), 'done');
    assert.equal((await world.run(parked, second)).kind, 'queue-missing');
  });

  scenario('is missing for every call', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await b.send('q', 'x');
    const message = await b.receiveOne('q');
    await world.run(a.service.deleteQueue('q'));
    for (const node of [a, b]) {
      const { service } = node;
      const outcomes = await world.run(
        Promise.all([
          node.sending('q', 'y'),
          service.receive('q', { ...receiveDefaults(), waitSeconds: 1 }),
          service.deleteMessages('q', [message.receiptHandle]),
          service.purgeQueue('q'),
          service.getQueue('q'),
          service.setQueueAttributes('q', new Map([['DelaySeconds', '1']])),
          service.deleteQueue('q'),
        ]),
      );
      assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(['queue-missing']));
    }
  });
});
