/**
 * Healed and quiet, a receive that waits on a FIFO queue gets the rest of a group as soon as what locks it is deleted
 * through another node, and what was not deleted when its visibility timeout is over. Before that, delays are set to
 * none: a FIFO queue has only its own.
 */
import { DEDUPLICATION_MILLIS } from '../../src/core/limits.ts';
import { resolveAttributes } from '../../src/core/queue-attributes.ts';
import type { ReceivedMessage } from '../../src/engine/queue-api.ts';
import { entryFor, isFifoQueue } from './fifo.ts';
import type { Reply } from './history.ts';
import { markerOf } from './ledger.ts';
import { callSurely, clocksWereWrong, type LivenessWorld, wakeMillisMax } from './liveness.ts';

/** By how much a node's clock may be off. */
const clockMillisMax = 2_500;
const holdSeconds = 4;

export async function undelayGroups(world: LivenessWorld): Promise<void> {
  for (const { name: queue } of world.config.queues) {
    if (!isFifoQueue(queue) || !world.court.ledger.queues.has(queue)) continue;
    await callSurely(world, -10, 0, { kind: 'attributes', queue, attributes: { DelaySeconds: '0' } });
  }
}

export async function unlockGroups(world: LivenessWorld): Promise<void> {
  for (const [index, { name: queue }] of world.config.queues.entries()) {
    const life = world.court.ledger.queues.get(queue);
    if (!isFifoQueue(queue) || life?.live.size !== 0) continue;
    const { redrivePolicy } = resolveAttributes(life.state.attributes);
    if ((redrivePolicy?.maxReceiveCount ?? 2) < 2) continue;
    if (clocksWereWrong(world) || world.court.failure) return;
    await unlockOne(world, queue, index);
  }
}

/** Then their pages go with the next commit, before the sweeps that look for what is left, not amid the last of them. */
export async function outliveIds({ scheduler, config }: LivenessWorld): Promise<void> {
  if (config.queues.some(({ name }) => isFifoQueue(name)))
    await scheduler.sleep(DEDUPLICATION_MILLIS + 10_000);
}

async function unlockOne(world: LivenessWorld, queue: string, index: number): Promise<void> {
  const { scheduler, cluster, config, court } = world;
  const here = index % cluster.nodes.length;
  const there = (index + 1) % cluster.nodes.length;
  const bodies = [1, 2, 3].map((number) => `unlock.${queue}.${number}|`);
  const entries = bodies.map((body) => entryFor(queue, body, 0));
  await callSurely(world, -10, here, { kind: 'send', queue, entries });
  const take = (node: number, maxMessages: number, visibilityTimeoutSeconds: number) => {
    const request = { maxMessages, waitSeconds: 20, visibilityTimeoutSeconds };
    return callSurely(world, -10, node, { kind: 'receive', queue, request });
  };
  const expect = (reply: Reply, wanted: readonly string[], sinceMillis: number) => {
    const got = messagesOf(reply);
    const late = scheduler.now - sinceMillis;
    const markers = got.map(({ message }) => `${message.body}`);
    if (markers.join() !== wanted.join())
      court.fail(
        'a group is unlocked',
        `${queue} gave ${markers.map(markerOf)}, not ${wanted.map(markerOf)}`,
      );
    else if (late > wakeMillisMax(config) + clockMillisMax)
      court.fail('a group is unlocked', `n${there} got ${markers.map(markerOf)} after ${late.toFixed(0)} ms`);
    return got.map(({ receiptHandle }) => receiptHandle);
  };
  const first = expect(await take(here, 1, 60), bodies.slice(0, 1), scheduler.now);
  const waiting = take(there, 1, holdSeconds);
  await scheduler.sleep(3_000);
  await callSurely(world, -10, here, { kind: 'delete', queue, handles: first });
  const deletedAt = scheduler.now;
  expect(await waiting, bodies.slice(1, 2), deletedAt);
  const receivedAt = scheduler.now;
  if (court.failure) return;
  const handles = expect(await take(here, 10, 60), bodies.slice(1), receivedAt + holdSeconds * 1_000);
  await callSurely(world, -10, there, { kind: 'delete', queue, handles });
}

function messagesOf(reply: Reply): readonly ReceivedMessage[] {
  return reply.kind === 'answer' && 'messages' in reply.answer ? reply.answer.messages : [];
}
