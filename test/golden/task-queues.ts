/**
 * The queue of a golden bucket with message move tasks: one that has moved some messages, and one that is under way with none on their way,
 * whose destination is gone since: whoever opens the bucket finds that, and everything stays where it is.
 */
import assert from 'node:assert/strict';
import { manifestKey } from '../../src/format/object-keys.ts';
import { Gate } from '../support/scripted-store.ts';
import { redrivePolicy, second, type TestNode } from '../support/world.ts';
import type { ExpectedTasks } from './golden-bucket.ts';
import type { Books } from './paged-queues.ts';

const queue = 'retries';

export async function makeTaskQueues({ world, send, sent }: Books): Promise<ExpectedTasks> {
  const node = world.startNode();
  await node.create(queue);
  await node.create('retry-target');
  await node.create('retry-source', { RedrivePolicy: redrivePolicy(queue, 3) });
  sent.set('retry-source', []);
  const start = async (by: TestNode, messagesPerSecond: number) => {
    const request = { destination: 'retry-target', messagesPerSecond };
    const outcome = await world.run(by.service.startMoveTask(queue, request));
    assert.equal(outcome.kind, 'started');
  };
  await node.send(queue, 'moved 1', 'moved 2');
  await start(node, 500);
  await world.clock.advance(5 * second);
  assert.equal((await world.state(queue)).moveTasks[0]?.status, 'completed');
  await send(node, queue, 'stays 1', 'stays 2', 'stays 3');
  const dying = world.startNode();
  const gate = new Gate();
  dying.store.script({ method: 'putIfMatch', key: manifestKey(queue), skip: 1, times: 99 }, gate.before);
  await start(dying, 7);
  dying.kill();
  await world.run(node.service.deleteQueue('retry-target'));
  const { moveTasks, intents } = await world.state(queue);
  assert.equal(intents.size, 0);
  assert.deepEqual(
    moveTasks.map(({ status }) => status),
    ['completed', 'running'],
  );
  return { queue, tasks: moveTasks.toReversed() };
}
