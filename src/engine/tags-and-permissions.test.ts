/** Tags and permissions on several processes and through faults: changed by the swap that everything else changes by. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { answerLost, Gate, requestLost, sentTwice } from '../../test/support/scripted-store.ts';
import { kindOf, scenario, type TestNode, type World } from '../../test/support/world.ts';
import { manifestKey } from '../format/object-keys.ts';

const swap = { method: 'putIfMatch', key: manifestKey('q') } as const;

const tags = (record: Readonly<Record<string, string>>) => new Map(Object.entries(record));
const creating = (node: TestNode, given: Readonly<Record<string, string>>) =>
  node.service.createQueue('q', new Map(), tags(given)).then(kindOf);
const tagging = (node: TestNode, given: Readonly<Record<string, string>>) =>
  node.service.tagQueue('q', tags(given)).then(kindOf);
const permitting = (node: TestNode, label: string) =>
  node.service.addPermission('q', { label, accountIds: ['111111111111'], actions: ['*'] }).then(kindOf);

async function tagsOf(world: World, node: TestNode): Promise<unknown> {
  const found = await world.run(node.service.queueTags('q'));
  return found.kind === 'tags' ? Object.fromEntries(found.tags) : found.kind;
}

async function labelsOf(world: World): Promise<string[]> {
  const policy = (await world.state('q')).attributes.get('Policy');
  const statements = JSON.parse(policy ?? '{"Statement":[]}').Statement as { readonly Sid: string }[];
  return statements.map(({ Sid }) => Sid).sort();
}

describe('tags', () => {
  scenario(
    'of a create are there on any node at once, stay when it is created again, and go with it',
    async (world) => {
      const [a, b] = [world.startNode(), world.startNode()];
      assert.equal(await world.run(creating(a, { team: 'blue', empty: '' })), 'created');
      assert.deepEqual(await tagsOf(world, b), { team: 'blue', empty: '' });
      assert.equal(await world.run(creating(b, { team: 'red' })), 'tags-differ');
      assert.equal(await world.run(creating(b, { team: 'blue' })), 'exists');
      assert.deepEqual(await tagsOf(world, a), { team: 'blue', empty: '' });
      await world.run(b.service.deleteQueue('q'));
      assert.equal(await tagsOf(world, a), 'queue-missing');
      assert.equal(await world.run(creating(a, {})), 'created');
      assert.deepEqual(await tagsOf(world, b), {});
    },
  );

  scenario('of concurrent creates are those of one of them, and the others are told', async (world) => {
    const [a, b, c] = [world.startNode(), world.startNode(), world.startNode()];
    const given = [creating(a, { team: 'blue' }), creating(b, { team: 'red' }), creating(c, {})];
    const outcomes = await world.run(Promise.all(given));
    const winner = outcomes.indexOf('created');
    const expected = [
      ['created', 'tags-differ', 'exists'],
      ['tags-differ', 'created', 'exists'],
      ['tags-differ', 'tags-differ', 'created'],
    ];
    assert.deepEqual(outcomes, expected[winner]);
  });

  scenario('of a create that was answered 412 by its own success are there', async (world) => {
    const node = world.startNode();
    node.store.script({ method: 'putIfAbsent', key: manifestKey('q') }, sentTwice);
    assert.equal(await world.run(creating(node, { team: 'blue' })), 'created');
    assert.deepEqual(await tagsOf(world, node), { team: 'blue' });
  });

  scenario('that two nodes change at once are all there', async (world) => {
    // 1. both apply to the same state; 2. B's swap lands; 3. A's is lost, and A applies to what B made.
    const [a, b] = [world.startNode(), world.startNode()];
    await world.run(creating(a, { old: '1', gone: '1' }));
    await tagsOf(world, b);
    const gate = new Gate();
    a.store.script(swap, gate.before);
    const first = tagging(a, { a: '1', old: '2' });
    await world.run(gate.reached);
    assert.equal(await world.run(tagging(b, { b: '1' })), 'done');
    assert.equal(await world.run(b.service.untagQueue('q', ['gone']).then(kindOf)), 'done');
    gate.open();
    assert.equal(await world.run(first), 'done');
    for (const node of [a, b]) assert.deepEqual(await tagsOf(world, node), { a: '1', b: '1', old: '2' });
  });

  scenario(
    'are counted where they land: the 51st is refused though the view of its node had room',
    async (world) => {
      const [a, b] = [world.startNode(), world.startNode()];
      const many = Object.fromEntries(Array.from({ length: 49 }, (_, index) => [`k${index}`, '']));
      await world.run(creating(a, many));
      await b.send('q', 'b knows the queue with 49 tags');
      assert.equal(await world.run(tagging(a, { last: '' })), 'done');
      assert.equal(await world.run(tagging(b, { more: '' })), 'bad-tags');
      assert.equal((await world.state('q')).tags.size, 50);
    },
  );

  scenario('travel with messages, and both survive an answer that is lost', async (world) => {
    const node = world.startNode({ lingerMillis: 50 });
    await node.create('q');
    node.store.script(swap, answerLost);
    node.store.script({ ...swap, skip: 1 }, requestLost);
    const outcomes = world.run(Promise.all([tagging(node, { a: '1' }), node.sending('q', 'x').then(kindOf)]));
    assert.deepEqual(await outcomes, ['done', 'done']);
    assert.deepEqual(await tagsOf(world, node), { a: '1' });
    assert.deepEqual(await node.counts('q'), [1, 0, 0]);
  });

  scenario('that are there already cost no write', async (world) => {
    const node = world.startNode();
    await world.run(creating(node, { a: '1' }));
    const before = node.store.count('putIfMatch');
    assert.equal(await world.run(tagging(node, { a: '1' })), 'done');
    assert.equal(await world.run(node.service.untagQueue('q', ['b']).then(kindOf)), 'done');
    assert.equal(node.store.count('putIfMatch'), before);
  });

  scenario('of a queue that is not there are told so', async (world) => {
    const { service } = world.startNode();
    for (const call of [
      service.tagQueue('q', tags({ a: '1' })),
      service.untagQueue('q', ['a']),
      service.queueTags('q'),
      service.addPermission('q', { label: 'l', accountIds: ['111111111111'], actions: ['*'] }),
      service.removePermission('q', 'l'),
    ])
      assert.equal((await world.run<{ readonly kind: string }>(call)).kind, 'queue-missing');
  });
});

describe('permissions', () => {
  scenario('that two nodes add at once are both there', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q', { Policy: '{"Version":"2012-10-17","Statement":[{"Sid":"by hand"}]}' });
    const gate = new Gate();
    a.store.script(swap, gate.before);
    const first = permitting(a, 'a');
    await world.run(gate.reached);
    assert.equal(await world.run(permitting(b, 'b')), 'done');
    gate.open();
    assert.equal(await world.run(first), 'done');
    assert.deepEqual(await labelsOf(world), ['a', 'b', 'by hand']);
  });

  scenario('of one label: one node gets it', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    const gate = new Gate();
    a.store.script(swap, gate.before);
    const first = permitting(a, 'same');
    await world.run(gate.reached);
    const other = { label: 'same', accountIds: ['222222222222'], actions: ['SendMessage'] };
    assert.equal((await world.run(b.service.addPermission('q', other))).kind, 'done');
    gate.open();
    assert.equal(await world.run(first), 'label-taken');
    assert.deepEqual(await labelsOf(world), ['same']);
    assert.equal(await world.run(b.service.removePermission('q', 'same').then(kindOf)), 'done');
    assert.equal((await world.state('q')).attributes.has('Policy'), false);
  });
});
