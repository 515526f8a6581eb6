import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { fifoEntryOf, minute } from '../support/world.ts';
import {
  attributesAndCounts,
  buckets,
  deleteByHandle,
  openBucket,
  readBucket,
  takeEverything,
} from './golden-bucket.ts';

const names = await readdir(buckets);
const withFifo = new Set<string>();
const withTasks = new Set<string>();
for (const name of names) {
  const { expected } = await readBucket(name);
  if (expected.fifo) withFifo.add(name);
  if (expected.tasks) withTasks.add(name);
}

describe('golden buckets', () => {
  it('are there', () => {
    assert.ok(names.length > 0 && withFifo.size > 0 && withTasks.size > 0);
  });

  for (const name of names) {
    it(`${name}: every queue is as it was left, and every message comes out as it was sent`, async () => {
      const { objects, expected } = await readBucket(name);
      const world = await openBucket(objects, expected.leftAtMillis);
      await world.check();
      const node = world.startNode();
      const queues = Object.keys(expected.queues);
      for (const queue of queues) {
        const { attributes, counts } = expected.queues[queue]!;
        assert.deepEqual(await attributesAndCounts(world, node, queue), { attributes, counts }, queue);
      }
      const taken = await takeEverything(world, node, queues);
      for (const queue of queues) {
        assert.deepEqual(taken.get(queue), expected.queues[queue]!.messages, queue);
        assert.deepEqual(await node.counts(queue), [0, 0, 0], queue);
      }
      await world.check();
      assert.deepEqual(node.complaints, []);
      world.end();
    });

    it(`${name}: receipt handles still name their deliveries`, async () => {
      const { objects, expected } = await readBucket(name);
      const world = await openBucket(objects, expected.leftAtMillis);
      const node = world.startNode();
      const [visible, inFlight] = expected.queues.deliveries!.counts as [number, number];
      const { held, superseded } = expected.handles;
      const queue = 'deliveries';
      assert.equal(await deleteByHandle(world, node, queue, superseded), 'done');
      assert.deepEqual(
        await node.counts(queue),
        [visible, inFlight, 0],
        'a superseded handle deletes nothing',
      );
      const entry = { receiptHandle: held[0], visibilityTimeoutSeconds: 0 };
      const changed = await world.run(node.service.changeVisibility(queue, [entry]));
      assert.deepEqual(changed, { kind: 'done', entries: [{ kind: 'done' }] });
      assert.deepEqual(await node.counts(queue), [visible + 1, inFlight - 1, 0]);
      assert.equal(await deleteByHandle(world, node, queue, held[1]), 'done');
      assert.deepEqual(await node.counts(queue), [visible + 1, inFlight - 2, 0]);
      await world.check();
      world.end();
    });

    if (withFifo.has(name))
      it(`${name}: of FIFO queues groups are locked and deduplication ids taken as they were`, async () => {
        const { objects, expected } = await readBucket(name);
        assert.ok(expected.fifo);
        const { queue, tags, taken, receivable, holder } = expected.fifo;
        const world = await openBucket(objects, expected.leftAtMillis);
        const node = world.startNode();
        for (const { queue, groupId, id, messageId, sequenceNumber } of taken) {
          const again = [fifoEntryOf('again', groupId, id)];
          const outcome = await world.run(node.service.send(queue, 'AIDATEST', again));
          const duplicate = { kind: 'duplicate', messageId, sequenceNumber };
          assert.deepEqual(outcome, { kind: 'done', entries: [duplicate] }, `${queue} ${id}`);
        }
        const shown = await world.run(node.service.queueTags(queue));
        assert.deepEqual(shown, { kind: 'tags', tags: new Map(Object.entries(tags)) });
        const bodies = async () => (await node.receive(queue)).map(({ message }) => message.body);
        assert.deepEqual(await bodies(), receivable);
        assert.equal(await deleteByHandle(world, node, queue, holder.receiptHandle), 'done');
        assert.deepEqual(await bodies(), holder.unlocks);
        await world.check();
        world.end();
      });

    if (withTasks.has(name))
      it(`${name}: move tasks are as they were, and the one under way goes on`, async () => {
        const { objects, expected } = await readBucket(name);
        assert.ok(expected.tasks);
        const { queue, tasks } = expected.tasks;
        const world = await openBucket(objects, expected.leftAtMillis);
        const node = world.startNode();
        const shown = async () => {
          const listed = await world.run(node.service.moveTasks(queue));
          return listed.kind === 'tasks' ? listed.tasks : [];
        };
        assert.deepEqual(await shown(), tasks);
        await node.receive(queue, { maxMessages: 1, visibilityTimeoutSeconds: 0 });
        await world.clock.advance(minute);
        const [newest, ...others] = await shown();
        assert.deepEqual(others, tasks.slice(1));
        const { status, failureReason } = newest!;
        assert.deepEqual([status, failureReason], ['failed', 'AWS.SimpleQueueService.NonExistentQueue']);
        await world.check();
        world.end();
      });

    it(`${name}: a deleted queue is gone, its name free, and what nobody names is collected`, async () => {
      const { objects, expected } = await readBucket(name);
      const world = await openBucket(objects, expected.leftAtMillis);
      const node = world.startNode();
      for (const queue of expected.deleted) {
        assert.deepEqual(await world.run(node.service.getQueue(queue)), { kind: 'queue-missing' });
        assert.equal(await node.create(queue), 'created');
      }
      const queues = Object.keys(expected.queues);
      await takeEverything(world, node, queues);
      for (const queue of [...queues, ...expected.deleted]) await world.run(node.service.deleteQueue(queue));
      await world.run(node.engine.sweep());
      assert.deepEqual(await world.keys('s/'), []);
      world.end();
    });
  }
});
