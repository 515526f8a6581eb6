/**
 * Healed and quiet, a parked receive is woken when the first message of a page of delayed messages is due: nothing in
 * the manifest is due then, and nobody commits. What is due earlier stays in the manifest and is received before.
 */
import { queueLimits } from '../../src/core/limits.ts';
import { isFifoQueue } from './fifo.ts';
import type { CallRequest } from './history.ts';
import { callSurely, clocksWereWrong, type LivenessWorld } from './liveness.ts';

const minute = 60_000;
/** How far nodes' clocks and the bounds of stamps may be off, and a few slow requests. */
const wakeMillisMax = 4_500;
const earlySeconds = 3;
const lateSeconds = 14;

export async function wakeForPages(world: LivenessWorld): Promise<void> {
  const { scheduler, config, cluster, court } = world;
  const { delayedInlineMax, delayedPageEntries, inFlightMax } = config.limits;
  const early = delayedInlineMax;
  const late = delayedPageEntries;
  if (delayedInlineMax === queueLimits.delayedInlineMax || early + late > inFlightMax) return;
  // What hides from a wrong clock is late without anybody's fault.
  if (clocksWereWrong(world)) return;
  const { name: queue } = config.queues[0]!;
  // A message of a FIFO queue has no delay of its own.
  if (isFifoQueue(queue)) return;
  if (court.ledger.queues.get(queue)?.live.size !== 0) return;
  const here = cluster.nodes.length - 1;
  await send(world, queue, late, lateSeconds);
  const sentAt = scheduler.now;
  await send(world, queue, early, earlySeconds);
  // One more commit: what this one delays can't be folded by it.
  await send(world, queue, 1, 0);
  const paged = () => (court.ledger.queues.get(queue)?.stored.delayedPages.size ?? 0) > 0;
  let got = 0;
  while (got < early + 1 && scheduler.now < sentAt + minute) {
    const most = Math.min(10, early + 1 - got);
    got += await take(world, queue, here, most);
  }
  const wasPaged = paged() && scheduler.now < sentAt + (lateSeconds - 2) * 1_000;
  while (got < early + late + 1 && scheduler.now < sentAt + 2 * minute) {
    const most = await take(world, queue, here, 10);
    if (wasPaged && got === early + 1) {
      const lateMillis = scheduler.now - sentAt - lateSeconds * 1_000;
      if (most === 0 || lateMillis > wakeMillisMax)
        return court.fail(
          'a waiting receive is woken for a page',
          `n${here} polled ${queue}, and got ${most} of a page ${lateMillis.toFixed(0)} ms after it was due`,
        );
    }
    got += most;
  }
}

/** Each in a segment: those in the tail stay in the manifest. */
async function send(world: LivenessWorld, queue: string, count: number, delaySeconds: number): Promise<void> {
  const padding = 'x'.repeat(world.config.limits.inlineMessageBytesMax);
  for (let sent = 0; sent < count; sent++) {
    const body = `page.${queue}.${delaySeconds}.${sent}|${padding}`;
    const content = { body, attributes: new Map(), traceHeader: undefined, groupId: undefined };
    const entries = [{ content, contentBytes: body.length, delaySeconds }];
    await callSurely(world, -9, 0, { kind: 'send', queue, entries });
  }
}

/** Receives once, waiting, and deletes what came: how many. */
async function take(world: LivenessWorld, queue: string, node: number, maxMessages: number): Promise<number> {
  const request = { maxMessages, waitSeconds: 20, visibilityTimeoutSeconds: 30 };
  const receive: CallRequest = { kind: 'receive', queue, request };
  const reply = await callSurely(world, -9, node, receive);
  if (reply.kind !== 'answer' || reply.answer.kind !== 'done' || !('messages' in reply.answer)) return 0;
  const handles = reply.answer.messages.map(({ receiptHandle }) => receiptHandle);
  if (handles.length > 0) await callSurely(world, -9, node, { kind: 'delete', queue, handles });
  return handles.length;
}
