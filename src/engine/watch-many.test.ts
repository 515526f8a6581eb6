/** Many waited queues watched by LISTs: what that costs, and that no message comes later for it. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Gate, refused } from '../../test/support/scripted-store.ts';
import {
  bodiesOf,
  kindOf,
  minute,
  type NodeOptions,
  scenario,
  second,
  type TestNode,
  type World,
} from '../../test/support/world.ts';
import { manifestKey } from '../format/object-keys.ts';
import type { ReceivedMessage } from './queue-api.ts';

const list = { method: 'list', key: 'm/' } as const;
const names = (count: number) => Array.from({ length: count }, (_, n) => `q${String(n).padStart(2, '0')}`);

interface Crowd {
  readonly node: TestNode;
  readonly other: TestNode;
  readonly queues: readonly string[];
  /** Of the receive that waits now. */
  readonly received: ReadonlyMap<string, Promise<readonly ReceivedMessage[]>>;
}

/** A node on which receives have waited long enough for all intervals to be 2 s, and go on for 20 s; and another one. */
async function crowd(world: World, count: number, options: NodeOptions = {}): Promise<Crowd> {
  const [node, other] = [world.startNode(options), world.startNode()];
  const queues = names(count);
  for (const queue of queues) await node.create(queue);
  const wait = (queue: string) => node.receiving(queue, { waitSeconds: 20 });
  await world.run(Promise.all(queues.map(wait)));
  const received = new Map(queues.map((queue) => [queue, wait(queue)]));
  await world.clock.advance(3 * second);
  return { node, other, queues, received };
}

/** Requests of the node while the play goes on. */
async function requests(node: TestNode, play: Promise<unknown>): Promise<{ lists: number; gets: number }> {
  const [lists, gets] = [node.store.count('list'), node.store.count('get m/')];
  await play;
  return { lists: node.store.count('list') - lists, gets: node.store.count('get m/') - gets };
}

describe('many waited queues', () => {
  scenario('cost a LIST each two seconds together, and no reads', async (world) => {
    const { node } = await crowd(world, 40);
    const { lists, gets } = await requests(node, world.clock.advance(15 * second));
    assert.ok(lists >= 6 && lists <= 9, `${lists} LISTs in 15 s`);
    assert.equal(gets, 0);
    assert.ok(node.engine.counters().watchLists >= lists);
  });

  scenario('are read each by itself up to a dozen, or where LIST tells no honest tags', async (world) => {
    for (const [count, options] of [
      [12, {}],
      [40, { listTags: false }],
    ] as const) {
      const { node } = await crowd(world, count, options);
      const { lists, gets } = await requests(node, world.clock.advance(10 * second));
      assert.equal(lists, 0);
      assert.ok(gets > 4 * count && gets < 6.5 * count, `${gets} GETs of ${count} queues in 10 s`);
    }
  });

  scenario('cost nothing when nobody waits any more', async (world) => {
    const { node, received } = await crowd(world, 20);
    await world.run(Promise.all(received.values()));
    const { lists, gets } = await requests(node, world.clock.advance(60 * minute));
    assert.deepEqual([lists, gets], [0, 0]);
  });

  scenario('a message of another node comes as soon, by a read of its queue alone', async (world) => {
    const { node, other, received } = await crowd(world, 20);
    await other.send('q07', 'x');
    const delivered = world.run(received.get('q07')!, 2.6 * second);
    const { gets } = await requests(node, delivered);
    assert.deepEqual(bodiesOf(await delivered), ['x']);
    assert.ok(gets >= 1 && gets <= 2, `${gets} GETs`);
    assert.equal(node.store.log.filter((line) => line.startsWith('get m/')).at(-1), 'get m/q07');
  });

  scenario('one that comes late is read alone, between the LISTs of the others', async (world) => {
    const { node, other, queues, received } = await crowd(world, 30);
    await world.run(Promise.all(received.values()));
    const [late, ...early] = queues;
    const waiting = early.map((queue) => node.receiving(queue, { waitSeconds: 20 }));
    // While nobody waits here, another node's commits make what this one knows of it old.
    await other.send(late!, 'x');
    await other.delete(late!, await other.receiveOne(late!));
    const gate = new Gate();
    node.store.script(list, gate.before);
    await world.run(gate.reached);
    gate.open();
    await world.clock.advance(700);
    void node.receiving(late!, { waitSeconds: 5 });
    assert.deepEqual(await requests(node, world.clock.advance(200)), { lists: 0, gets: 1 });
    await world.run(Promise.all(waiting));
  });

  scenario('one that is deleted ends its receive', async (world) => {
    const { other, received } = await crowd(world, 20);
    const ended = assert.rejects(received.get('q03')!, /queue-missing/);
    assert.equal(kindOf(await world.run(other.service.deleteQueue('q03'))), 'done');
    await world.run(ended, 2.6 * second);
  });

  scenario('end at once when the node stops, also under a LIST', async (world) => {
    const { node, received } = await crowd(world, 20);
    const gate = new Gate();
    node.store.script(list, gate.before);
    await world.run(gate.reached);
    const before = world.clock.monotonicMillis();
    await world.run(node.engine.stop(), 100);
    for (const each of received.values()) assert.deepEqual(await world.run(each, 100), []);
    assert.ok(world.clock.monotonicMillis() - before < 100);
    const { lists, gets } = await requests(node, Promise.resolve(gate.open()));
    await world.clock.advance(minute);
    assert.deepEqual([lists, gets], [0, 0]);
  });
});

describe('a LIST of waited queues', () => {
  /*
   * 1. A LIST begins and is decided: nothing is new. 2. Another node's send lands. 3. The LIST is answered.
   * Counted from 3, the next look would come up to 2 s too late.
   */
  scenario('counts from its beginning, however late its answer comes', async (world) => {
    const { node, other, received } = await crowd(world, 20);
    const gate = new Gate();
    node.store.script(list, gate.after);
    await world.run(gate.reached);
    const began = world.clock.monotonicMillis();
    await other.send('q07', 'x');
    await world.clock.advance(1.8 * second);
    gate.open();
    const left = began + 2.6 * second - world.clock.monotonicMillis();
    assert.deepEqual(bodiesOf(await world.run(received.get('q07')!, left)), ['x']);
  });

  /* 1. A LIST is decided. 2. Our own commits land. 3. The LIST is answered with the tags of before. */
  scenario('that is older than what the node wrote since asks for no read', async (world) => {
    const { node, queues } = await crowd(world, 20);
    const gate = new Gate();
    node.store.script(list, gate.after);
    await world.run(gate.reached);
    const changes = new Map([['VisibilityTimeout', '7']]);
    for (const queue of queues) await world.run(node.service.setQueueAttributes(queue, changes));
    gate.open();
    const { gets } = await requests(node, world.clock.advance(second));
    assert.equal(gets, 0);
  });

  scenario('that hangs keeps no message for longer than one look more', async (world) => {
    const { node, other, received } = await crowd(world, 20);
    const gate = new Gate();
    node.store.script(list, gate.before);
    await world.run(gate.reached);
    await other.send('q07', 'x');
    const { lists } = await requests(node, world.run(received.get('q07')!, 2.2 * second));
    assert.deepEqual(bodiesOf(await received.get('q07')!), ['x']);
    assert.equal(lists, 0, 'and is not asked again');
    gate.open();
    await world.clock.advance(minute);
  });

  scenario('that fails is made up for by reads', async (world) => {
    const { node, other, queues, received } = await crowd(world, 20);
    node.store.script({ ...list, times: 1e9 }, refused);
    await other.send('q07', 'x');
    await world.run(received.get('q07')!, 2.6 * second);
    assert.deepEqual(bodiesOf(await received.get('q07')!), ['x']);
    const wait = () => Promise.all(queues.map((queue) => node.receiving(queue, { waitSeconds: 20 })));
    const { lists } = await requests(node, world.run(wait()));
    assert.ok(lists >= 1 && lists <= 6, `${lists} LISTs in 20 s`);
    node.store.scriptsEnd();
    await world.run(Promise.all([wait(), world.clock.advance(minute)]));
    const mended = wait();
    await world.clock.advance(3 * second);
    assert.equal((await requests(node, world.clock.advance(10 * second))).gets, 0);
    await world.run(mended);
  });

  scenario('that lies answers no command: it could only keep a receive waiting', async (world) => {
    const { node, other } = await crowd(world, 20, { lingerMillis: 2_000 });
    const stale = await world.bucket.list({ prefix: 'm/' });
    await other.send('q07', 'x');
    const held = await other.receiveOne('q07', { visibilityTimeoutSeconds: 60 });
    node.store.script({ ...list, times: 1e9 }, async () => stale);
    await node.delete('q07', held);
    assert.deepEqual(await other.counts('q07'), [0, 0, 0]);
    assert.notEqual(stale.objects[7]!.etag, undefined);
    assert.equal(stale.objects[7]!.key, manifestKey('q07'));
  });

  scenario(
    'that begins where it was not told to is not believed, and not asked again at once',
    async (world) => {
      const other = world.startNode();
      for (let n = 0; n < 12; n++) await other.create(`a${n}`);
      // A store that ignores start-after: the page never gets as far as the waited queues.
      const first = await world.bucket.list({ prefix: 'm/', limit: 10 });
      const node = world.startNode({ listPageKeys: 10 });
      node.store.script({ ...list, times: 1e9 }, async () => first);
      const queues = names(20);
      for (const queue of queues) await other.create(queue);
      const received = queues.map((queue) => node.receiving(queue, { waitSeconds: 20 }));
      await world.clock.advance(100);
      await other.send('q07', 'x');
      assert.deepEqual(bodiesOf(await world.run(received[7]!)), ['x']);
      await world.clock.advance(19 * second);
      assert.ok(node.store.count('list m/') < 10, `${node.store.count('list m/')} LISTs`);
      await world.run(Promise.all(received));
    },
  );

  scenario('the pages of which end before most queues delays no look of theirs', async (world) => {
    const other = world.startNode();
    const all = Array.from({ length: 300 }, (_, n) => `q${String(n).padStart(3, '0')}`);
    for (const queue of all) await other.create(queue);
    const node = world.startNode({ listPageKeys: 10 });
    const received = all
      .filter((_, n) => n % 10 === 5)
      .map((queue) => node.receiving(queue, { waitSeconds: 20 }));
    node.store.script({ ...list, times: 1e9 }, async ({ land }) => {
      await world.clock.sleep(150);
      return land();
    });
    await world.clock.advance(300);
    await other.send('q295', 'x');
    const sentAt = world.clock.monotonicMillis();
    assert.deepEqual(bodiesOf(await world.run(received.at(-1)!)), ['x']);
    assert.ok(world.clock.monotonicMillis() - sentAt < second);
    await world.run(Promise.all(received));
  });
});
