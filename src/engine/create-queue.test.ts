/** CreateQueue and DeleteQueue when nobody knows what became of the request, and what listing then shows. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { answerLost, Gate, requestLost, sentTwice } from '../../test/support/scripted-store.ts';
import { kindOf, minute, scenario, second, type TestNode } from '../../test/support/world.ts';
import { manifestKey } from '../format/object-keys.ts';
import { Unavailable } from './queue-api.ts';

const create = { method: 'putIfAbsent', key: manifestKey('q') } as const;
const swap = { method: 'putIfMatch', key: manifestKey('q') } as const;

const creating = (node: TestNode, attributes: Readonly<Record<string, string>> = {}): Promise<string> =>
  node.service.createQueue('q', new Map(Object.entries(attributes))).then(kindOf);
const deleting = (node: TestNode): Promise<string> => node.service.deleteQueue('q').then(kindOf);

describe('a create of unknown outcome', () => {
  scenario('is done when its own incarnation is there', async (world) => {
    const node = world.startNode();
    node.store.script(create, answerLost);
    assert.equal(await world.run(creating(node, { DelaySeconds: '0' })), 'created');
    await node.send('q', 'a');
  });

  scenario('is done when its own success was answered 412', async (world) => {
    const node = world.startNode();
    node.store.script(create, sentTwice);
    assert.equal(await world.run(creating(node)), 'created');
  });

  scenario('is given up as unknown when nothing is there, and may still land', async (world) => {
    // 1. the create is held, the client gave up; 2. the GET shows nothing; 3. another try could only make two: 503.
    const node = world.startNode();
    const late = new Gate();
    node.store.script(create, late.late);
    await assert.rejects(world.run(creating(node)), Unavailable);
    assert.equal(node.store.count('putIfAbsent'), 1);
    assert.equal(await late.landLate(), 'done');
    assert.equal(await world.run(creating(node)), 'exists');
  });

  for (const [delay, expected] of [
    ['5', 'exists'],
    ['6', 'differs'],
  ] as const)
    scenario(`compares attributes when another's create is there: ${expected}`, async (world) => {
      const [a, b] = [world.startNode(), world.startNode()];
      a.store.script(create, requestLost);
      const gate = new Gate();
      a.store.script({ method: 'get', key: manifestKey('q'), skip: 1 }, gate.before);
      const outcome = creating(a, { DelaySeconds: '5' });
      await world.run(gate.reached);
      assert.equal(await b.create('q', { DelaySeconds: delay }), 'created');
      gate.open();
      assert.equal(await world.run(outcome), expected);
    });

  scenario('is done when the tombstone there buries it', async (world) => {
    // 1. the create lands, its answer is lost; 2. B deletes the queue; 3. the GET shows B's tombstone over ours.
    const [a, b] = [world.startNode(), world.startNode()];
    a.store.script(create, answerLost);
    const gate = new Gate();
    a.store.script({ method: 'get', key: manifestKey('q'), skip: 1 }, gate.before);
    const outcome = creating(a);
    await world.run(gate.reached);
    assert.equal(await world.run(deleting(b)), 'done');
    gate.open();
    assert.equal(await world.run(outcome), 'created');
    assert.equal(await world.run(a.service.queueExists('q')), false);
  });

  scenario('over a tombstone is done, unknown or compared alike', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await world.run(deleting(node));
    node.store.script(swap, requestLost);
    await assert.rejects(world.run(creating(node)), Unavailable);
    node.store.script(swap, answerLost);
    assert.equal(await world.run(creating(node)), 'created');
  });
});

describe('concurrent creates', () => {
  scenario('with equal attributes make one queue, and both are told so', async (world) => {
    const nodes = [world.startNode(), world.startNode(), world.startNode()];
    const outcomes = await world.run(Promise.all(nodes.map((node) => creating(node))));
    assert.deepEqual(outcomes.sort(), ['created', 'exists', 'exists']);
  });

  scenario('with other attributes make one queue, and the others are told the difference', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    const outcomes = await world.run(
      Promise.all([creating(a, { DelaySeconds: '1' }), creating(b, { DelaySeconds: '2' })]),
    );
    assert.deepEqual(outcomes.sort(), ['created', 'differs']);
  });
});

describe('a delete of a queue', () => {
  scenario('whose answer was lost is done', async (world) => {
    const node = world.startNode();
    await node.create('q');
    node.store.script(swap, answerLost);
    assert.equal(await world.run(deleting(node)), 'done');
    assert.equal((await world.content('q'))?.kind, 'tombstone');
  });

  scenario('whose request was lost is sent again', async (world) => {
    const node = world.startNode();
    await node.create('q');
    node.store.script(swap, requestLost);
    assert.equal(await world.run(deleting(node)), 'done');
    assert.equal((await world.content('q'))?.kind, 'tombstone');
  });

  scenario('that meets a recreated queue leaves the new one alone', async (world) => {
    // 1. A's tombstone lands, its answer is lost; 2. B creates the queue anew; 3. A can't tell: 503, nothing deleted.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    const gate = new Gate();
    a.store.script(swap, answerLost);
    a.store.script({ method: 'get', key: manifestKey('q') }, gate.before);
    const outcome = deleting(a);
    await world.run(gate.reached);
    assert.equal(await b.create('q'), 'created');
    gate.open();
    await assert.rejects(world.run(outcome), Unavailable);
    await b.send('q', 'kept');
    assert.deepEqual(await a.counts('q'), [1, 0, 0]);
  });

  scenario('takes its segments along', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'x'.repeat(100_000));
    assert.equal((await world.keys('s/')).length, 1);
    assert.equal(await world.run(deleting(node)), 'done');
    await world.clock.advance(second);
    assert.deepEqual(await world.keys('s/'), []);
  });
});

describe('cool-downs', () => {
  scenario('refuse a name for 60 s after its deletion and a second purge within 60 s', async (world) => {
    const node = world.startNode({ cooldowns: true });
    await node.create('q');
    const purge = () => world.run(node.service.purgeQueue('q').then(kindOf));
    assert.equal(await purge(), 'done');
    await world.clock.advance(50 * second);
    assert.equal(await purge(), 'in-progress');
    await world.clock.advance(11 * second);
    assert.equal(await purge(), 'done');
    await world.run(deleting(node));
    assert.equal(await world.run(creating(node)), 'deleted-recently');
    await world.clock.advance(minute + second);
    assert.equal(await world.run(creating(node)), 'created');
  });
});

describe('ListQueues', () => {
  scenario('shows queues and no tombstones, in order, with prefix and pages', async (world) => {
    const node = world.startNode();
    for (const name of ['b2', 'a', 'b1', 'B', 'gone']) await node.create(name);
    await world.run(node.service.deleteQueue('gone'));
    const list = (prefix: string, limit: number, startAfter?: string) =>
      world.run(world.startNode().service.listQueues({ prefix, limit, startAfter }));
    assert.deepEqual(await list('', 10), { names: ['B', 'a', 'b1', 'b2'], truncated: false });
    assert.deepEqual(await list('b', 1), { names: ['b1'], truncated: true });
    assert.deepEqual(await list('b', 1, 'b1'), { names: ['b2'], truncated: false });
  });
});
