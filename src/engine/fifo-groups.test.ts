/** What a node reads of a FIFO queue to know whose turn it is: groups of segments, lease pages, pages of taken ids. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { fifoEntryOf, hour, kindOf, scenario, type TestNode, type World } from '../../test/support/world.ts';
import { queueLimits } from '../core/limits.ts';
import { objectsPrefix, parseObjectKey } from '../format/object-keys.ts';
import { Unavailable } from './queue-api.ts';

const queue = 'q.fifo';
const fifo = { FifoQueue: 'true', VisibilityTimeout: '3600' };
/** Bodies leave for segments of a few messages, and everything else for pages of two. */
const tiny = {
  limits: {
    ...queueLimits,
    tailBytesMax: 1_000,
    segmentsInlineMax: 4,
    segmentPageEntries: 2,
    delayedInlineMax: 2,
    delayedPageEntries: 2,
    leaseInlineMax: 2,
    leasePageEntries: 2,
    readyRangesMax: 2,
    readyPageRanges: 1,
    deduplicationInlineMax: 2,
    deduplicationPageEntries: 2,
  },
} as const;

const bodies = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${name}${i} `.padEnd(150, 'x'));
const short = (messages: Awaited<ReturnType<TestNode['receive']>>) =>
  messages.map(({ message }) => message.body.split(' ')[0]);

/** The head of group `a` is out, and 60 more of it are behind, in segments. */
async function blocked(world: World): Promise<TestNode> {
  const node = world.startNode(tiny);
  await node.create(queue, fifo);
  for (const body of bodies('a', 61)) await node.sendTo(queue, 'a', body);
  await node.receive(queue, { maxMessages: 1 });
  return node;
}

async function segmentKeys(world: World): Promise<string[]> {
  return (await world.keys(objectsPrefix)).filter((key) => parseObjectKey(key)?.kind === 'seg');
}

describe('a blocked group at the head of a FIFO queue', () => {
  scenario(
    'is passed over by every receive, and each of its segments is read once by a node that did not write it',
    async (world) => {
      const writer = await blocked(world);
      const reader = world.startNode(tiny);
      await writer.sendTo(queue, 'b', 'b0');
      assert.deepEqual(short(await reader.receive(queue)), ['b0']);
      const read = reader.engine.counters().loadedSegments;
      assert.ok(read > 5, `${read} segments`);
      for (const body of bodies('c', 5)) {
        await writer.sendTo(queue, body, body);
        assert.deepEqual(short(await reader.receive(queue)), [body.split(' ')[0]]);
      }
      assert.ok(reader.engine.counters().loadedSegments <= read + 5, 'only what is new');
      assert.ok(writer.engine.counters().loadedSegments <= 1, 'who wrote them knows their groups');
      assert.deepEqual([...reader.complaints, ...writer.complaints], []);
    },
  );

  scenario('comes in order when it is unlocked, on any node', async (world) => {
    const writer = await blocked(world);
    const other = world.startNode(tiny);
    await world.clock.advance(hour);
    const seen: (string | undefined)[] = [];
    for (let n = 0; n < 20 && seen.length < 61; n++) {
      const messages = await (n % 2 ? writer : other).receive(queue);
      assert.deepEqual(await writer.receive(queue), [], 'it is in other hands');
      seen.push(...short(messages));
      await other.delete(queue, ...messages);
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 61 }, (_, i) => `a${i}`),
    );
  });

  scenario(
    'with a segment that is lost ends every receive there: 503, nothing is handed out past it',
    async (world) => {
      const node = await blocked(world);
      await node.sendTo(queue, 'b', 'b0');
      const reader = world.startNode(tiny);
      const [, lost] = await segmentKeys(world);
      await world.bucket.delete(lost!);
      await assert.rejects(reader.receive(queue), Unavailable);
      assert.ok(reader.complaints.some((text) => text.includes('segment cannot be read')));
    },
  );
});

describe('a FIFO queue on several nodes', () => {
  scenario('knows by its pages who holds what, and which ids are taken', async (world) => {
    const [one, two] = [world.startNode(tiny), world.startNode(tiny)];
    await one.create(queue, fifo);
    const groups = Array.from({ length: 9 }, (_, i) => `g${i}`);
    for (const group of groups) await one.sendTo(queue, group, `${group}-1`, `${group}-2`);
    for (const _ of groups) await one.receive(queue, { maxMessages: 1 });
    const state = await world.state(queue);
    assert.ok(state.leasePages.size > 0 && state.deduplicationPages.size > 3);
    assert.deepEqual(await two.receive(queue), []);
    const again = groups.map((group) => ({
      content: { body: 'again', attributes: new Map(), traceHeader: undefined, groupId: group },
      contentBytes: 5,
      delaySeconds: undefined,
      deduplication: { explicitId: `${group}/${group}-2`, bodyHash: '' },
    }));
    const outcome = await world.run(two.service.send(queue, 'AIDATEST', again));
    assert.ok(outcome.kind === 'done');
    assert.deepEqual(
      outcome.entries.map(kindOf),
      groups.map(() => 'duplicate'),
    );
  });
});

describe('a page of a FIFO queue that cannot be read', () => {
  /** Gone from the bucket; puts it back. */
  async function losePages(world: World, kind: string): Promise<() => Promise<void>> {
    const lost = new Map<string, Uint8Array>();
    for (const key of await world.keys(objectsPrefix)) {
      if (parseObjectKey(key)?.kind !== kind) continue;
      const found = await world.bucket.get(key);
      assert.ok(found.kind === 'done');
      lost.set(key, found.body);
      await world.bucket.delete(key);
    }
    assert.ok(lost.size > 0, `there are ${kind} pages`);
    return async () => {
      for (const [key, body] of lost) await world.bucket.put(key, body);
    };
  }

  scenario(
    'refuses a send whose ids it may have, and says so; a known duplicate is answered',
    async (world) => {
      const [writer, reader] = [world.startNode(tiny), world.startNode(tiny)];
      await writer.create(queue, fifo);
      for (const body of bodies('a', 7)) await writer.sendTo(queue, 'a', body);
      const putBack = await losePages(world, 'deduplication');
      await assert.rejects(reader.sendTo(queue, 'b', 'b0'), (error) => {
        assert.ok(error instanceof Unavailable);
        assert.match(error.message, /^whether its deduplication ids are taken is in a page/);
        return true;
      });
      assert.deepEqual(await reader.counts(queue), [7, 0, 0]);
      const last = fifoEntryOf(bodies('a', 7).at(-1)!, 'a');
      const again = await world.run(reader.service.send(queue, 'AIDATEST', [last]));
      assert.deepEqual(again.kind === 'done' && again.entries.map(kindOf), ['duplicate']);
      assert.equal((await reader.receive(queue, { maxMessages: 1 })).length, 1);
      await putBack();
      await reader.sendTo(queue, 'b', 'b0');
    },
  );

  scenario(
    'refuses a change of the delay of what it holds, and of handles in it, each in its words',
    async (world) => {
      const [writer, reader] = [world.startNode(tiny), world.startNode(tiny)];
      await writer.create(queue, fifo);
      for (const group of ['a', 'b', 'c', 'd', 'e']) await writer.sendTo(queue, group, ...bodies(group, 2));
      const held = [];
      for (let n = 0; n < 5; n++) held.push(await writer.receiveOne(queue));
      const change = (DelaySeconds: string) =>
        world.run(reader.service.setQueueAttributes(queue, new Map([['DelaySeconds', DelaySeconds]])));
      await change('600');
      for (const body of bodies('f', 6)) await writer.sendTo(queue, 'f', body);
      const backs = [await losePages(world, 'lease'), await losePages(world, 'delayed')];
      await assert.rejects(change('0'), { message: 'what is delayed is in a page that cannot be read' });
      await assert.rejects(reader.delete(queue, ...held), {
        message: 'what these handles hold is in a page that cannot be read',
      });
      for (const putBack of backs) await putBack();
      assert.deepEqual(await change('0'), { kind: 'done' });
      await reader.delete(queue, ...held);
    },
  );
});
