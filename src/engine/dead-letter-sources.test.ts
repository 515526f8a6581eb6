/** Which queues name one as their dead-letter queue: complete, true on any node, and bounded in what it reads. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Fault } from '../../test/support/scripted-store.ts';
import {
  accountId,
  kindOf,
  redrivePolicy,
  region,
  scenario,
  type TestNode,
  type World,
} from '../../test/support/world.ts';
import type { Incarnation } from '../core/ids.ts';
import { newQueueState } from '../core/queue-state.ts';
import { encodeManifest } from '../format/manifest-codec.ts';
import { manifestKey, manifestsPrefix } from '../format/object-keys.ts';
import type { ListPage } from '../store/object-store.ts';
import { sourceReadsAtOnce, sourceReadsMax } from './settings.ts';

const sourceOf = (target: string) => ({ RedrivePolicy: redrivePolicy(target, 3) });

async function sources(world: World, node: TestNode, startAfter?: string, limit = 1000) {
  const found = await world.run(node.service.deadLetterSources('dlq', { startAfter, limit }));
  assert.ok(found.kind === 'sources', found.kind);
  return found;
}

async function namesOf(world: World, node: TestNode): Promise<readonly string[]> {
  return (await sources(world, node)).names;
}

function readsOf(node: TestNode): number {
  return node.store.count('get m/');
}

/** Many queues, put into the bucket as a node would have. */
async function putQueues(world: World, names: readonly string[], target: string | undefined): Promise<void> {
  for (const [index, name] of names.entries()) {
    const state = newQueueState({
      incarnation: (index + 1).toString(16).padStart(32, '0') as Incarnation,
      attributes: new Map(target === undefined ? [] : Object.entries(sourceOf(target))),
      timeMillis: 0,
      stampMillis: 0,
    });
    await world.bucket.put(manifestKey(name), encodeManifest(state, new Uint8Array(16)));
  }
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `n${String(index).padStart(6, '0')}`);

describe('the sources of a dead-letter queue', () => {
  scenario('are those whose policy names it, in name order, and no others', async (world) => {
    const node = world.startNode();
    for (const name of ['dlq', 'dlq2']) await node.create(name);
    assert.deepEqual(await namesOf(world, node), []);
    await node.create('z', sourceOf('dlq'));
    await node.create('a', sourceOf('dlq'));
    await node.create('other', sourceOf('dlq2'));
    await node.create('none');
    assert.deepEqual(await namesOf(world, node), ['a', 'z']);
    const missing = node.service.deadLetterSources('no-queue', { startAfter: undefined, limit: 9 });
    assert.equal((await world.run(missing)).kind, 'queue-missing');
  });

  for (const listTags of [true, false])
    scenario(
      `follow what another node did a moment ago, LIST tags ${listTags ? 'honest' : 'not'}`,
      async (world) => {
        const [a, b] = [world.startNode({ listTags }), world.startNode({ listTags })];
        for (const name of ['dlq', 'dlq2', 'q']) await a.create(name);
        const set = (RedrivePolicy: string) =>
          world.run(a.service.setQueueAttributes('q', new Map(Object.entries({ RedrivePolicy }))));
        assert.deepEqual(await namesOf(world, b), []);
        await set(redrivePolicy('dlq', 3));
        assert.deepEqual(await namesOf(world, b), ['q']);
        await set(redrivePolicy('dlq', 4));
        assert.deepEqual(await namesOf(world, b), ['q']);
        await set(redrivePolicy('dlq2', 4));
        assert.deepEqual(await namesOf(world, b), []);
        await set(redrivePolicy('dlq', 4));
        await set('');
        assert.deepEqual(await namesOf(world, b), []);
        await set(redrivePolicy('dlq', 4));
        assert.deepEqual(await namesOf(world, b), ['q']);
        await world.run(a.service.deleteQueue('q'));
        assert.deepEqual(await namesOf(world, b), []);
        await a.create('q');
        assert.deepEqual(await namesOf(world, b), []);
      },
    );

  scenario(
    'come in pages: each goes on after the last, and one that is full says whether more follow',
    async (world) => {
      const node = world.startNode();
      await node.create('dlq');
      const made = ['a', 'b', 'c', 'd'];
      for (const name of made) {
        await node.create(name, sourceOf('dlq'));
        await node.create(`${name}-not`);
      }
      const pages: (readonly string[])[] = [];
      let startAfter: string | undefined;
      do {
        const page = await sources(world, node, startAfter, 2);
        pages.push(page.names);
        startAfter = page.resumeAfter;
      } while (startAfter !== undefined);
      assert.deepEqual(pages, [
        ['a', 'b'],
        ['c', 'd'],
      ]);
      assert.equal((await sources(world, node, undefined, 4)).resumeAfter, undefined);
      assert.equal((await sources(world, node, undefined, 3)).resumeAfter, 'c');
    },
  );

  scenario('once looked at cost one LIST and a read of what changed', async (world) => {
    const node = world.startNode();
    await node.create('dlq');
    await putQueues(world, numbered(40), 'dlq');
    assert.equal((await namesOf(world, node)).length, 40);
    const before = [readsOf(node), node.store.count('list')];
    await world.startNode().send('n000007', 'x');
    assert.equal((await namesOf(world, node)).length, 40);
    // The dead-letter queue itself is read to see that it is there.
    assert.deepEqual([readsOf(node) - before[0]!, node.store.count('list') - before[1]!], [2, 1]);
  });

  scenario('that several ask for at once are read once, one call after the other', async (world) => {
    const node = world.startNode();
    await node.create('dlq');
    await putQueues(world, numbered(40), 'dlq');
    const all = async () => await node.service.deadLetterSources('dlq', { startAfter: undefined, limit: 99 });
    const answers = await world.run(Promise.all([all(), all()]));
    for (const answer of answers) assert.deepEqual(answer.kind === 'sources' && answer.names, numbered(40));
    assert.equal(node.store.count('get m/n'), 40);
  });

  scenario('are not taken from a LIST whose tags may be old', async (world) => {
    const node = world.startNode({ listTags: false });
    for (const name of ['dlq', 'q']) await node.create(name);
    // From the second LIST on it shows the tags of the first.
    let first: ListPage | undefined;
    const old: Fault = async ({ land }) => {
      first ??= (await land()) as ListPage;
      return first;
    };
    node.store.script({ method: 'list', key: manifestsPrefix, times: 9 }, old);
    assert.deepEqual(await namesOf(world, node), []);
    const changes = new Map(Object.entries(sourceOf('dlq')));
    await world.run(world.startNode().service.setQueueAttributes('q', changes));
    assert.deepEqual(await namesOf(world, node), ['q']);
  });

  scenario(
    'are looked for so far and no further, but for good: who asks again is told all',
    async (world) => {
      const node = world.startNode();
      await node.create('dlq');
      await putQueues(world, numbered(sourceReadsMax + 50), undefined);
      await putQueues(world, ['z'], 'dlq');
      const first = await sources(world, node);
      assert.deepEqual([first.names, first.endedEarly], [[], true]);
      assert.ok(readsOf(node) <= sourceReadsMax + sourceReadsAtOnce);
      const second = await sources(world, node, first.resumeAfter);
      assert.deepEqual([second.names, second.resumeAfter, second.endedEarly], [['z'], undefined, false]);
      assert.deepEqual(await namesOf(world, node), ['z']);
    },
  );

  scenario('are not told while one of the queues cannot be read', async (world) => {
    const node = world.startNode();
    await node.create('dlq');
    await world.bucket.put(manifestKey('damaged'), new Uint8Array(500));
    await assert.rejects(namesOf(world, node), { name: 'Unavailable' });
    await world.bucket.delete(manifestKey('damaged'));
    assert.deepEqual(await namesOf(world, node), []);
  });
});

describe('a RedriveAllowPolicy', () => {
  const allow = (policy: object) => ({ RedriveAllowPolicy: JSON.stringify(policy) });
  const arn = (name: string) => `arn:aws:sqs:${region}:${accountId}:${name}`;

  scenario(
    'decides who may name its queue, in a create and in a change, and nothing afterwards',
    async (world) => {
      const [a, b] = [world.startNode(), world.startNode()];
      await a.create('free', allow({ redrivePermission: 'allowAll' }));
      await a.create('closed', allow({ redrivePermission: 'denyAll' }));
      await a.create(
        'chosen',
        allow({ redrivePermission: 'byQueue', sourceQueueArns: [arn('other'), arn('q')] }),
      );
      const set = (name: string, target: string) =>
        world.run(b.service.setQueueAttributes(name, new Map(Object.entries(sourceOf(target)))).then(kindOf));
      assert.equal(await b.create('q', sourceOf('closed')), 'bad-attributes');
      assert.equal(await b.create('stranger', sourceOf('chosen')), 'bad-attributes');
      assert.equal(await b.create('q', sourceOf('chosen')), 'created');
      assert.equal(await b.create('stranger', sourceOf('free')), 'created');
      assert.equal(await set('stranger', 'chosen'), 'bad-attributes');
      assert.equal(await set('q', 'closed'), 'bad-attributes');
      const close = allow({ redrivePermission: 'denyAll' });
      await world.run(a.service.setQueueAttributes('free', new Map(Object.entries(close))));
      assert.equal((await world.state('stranger')).attributes.get('RedrivePolicy'), redrivePolicy('free', 3));
      assert.equal(await set('stranger', 'free'), 'bad-attributes');
      await world.run(a.service.setQueueAttributes('free', new Map([['RedriveAllowPolicy', '']])));
      assert.equal(await set('stranger', 'free'), 'done');
    },
  );
});
