import { batch, receive } from '../load.ts';
import type { ScaleWorld } from '../scale-world.ts';
import { queue, type VirtualRow } from '../virtual-row.ts';

/** The rest of SQS's 120,000 is the load's. */
const room = 200;
const timeoutSeconds = 30;
const heartbeatSeconds = 10;
const tickMillis = 100;
const receivers = 500;

const held: string[] = [];

async function hold(world: ScaleWorld): Promise<void> {
  const wanted = world.count(120_000) - room;
  await world.fill(queue, wanted, { bodyBytes: 256, perCall: 2_000 });
  let asked = 0;
  const receiver = async () => {
    while (asked < wanted) {
      asked += batch;
      const messages = await receive(world.service, queue, 10 * timeoutSeconds);
      if (messages.length === 0) return;
      asked -= batch - messages.length;
      for (const { receiptHandle } of messages) held.push(receiptHandle);
    }
  };
  await Promise.all(Array.from({ length: receivers }, receiver));
}

async function heartbeats(world: ScaleWorld, ended: () => boolean): Promise<void> {
  const calls: Promise<void>[] = [];
  const perTick = Math.ceil((held.length * tickMillis) / (heartbeatSeconds * 1000) / batch) * batch;
  for (let next = 0; !ended(); next = next + perTick < held.length ? next + perTick : 0) {
    for (let from = next; from < next + perTick && from < held.length; from += batch)
      calls.push(extend(world, held.slice(from, from + batch)));
    await world.scheduler.sleep(tickMillis);
  }
  await Promise.all(calls);
}

async function extend(world: ScaleWorld, handles: readonly string[]): Promise<void> {
  const outcome = await world.service.changeVisibility(
    queue,
    handles.map((receiptHandle) => ({ receiptHandle, visibilityTimeoutSeconds: timeoutSeconds })),
  );
  if (outcome.kind !== 'done') throw new Error(outcome.kind);
  const lost = outcome.entries.filter(({ kind }) => kind !== 'done').length;
  if (lost > 0) throw new Error(`${lost} of ${handles.length} leases were lost`);
}

export const inFlight: VirtualRow = {
  name: 'in-flight',
  title: '120,000 in flight, each with a heartbeat every 10 s',
  phases: [{ name: 'in flight', prepare: hold, during: heartbeats }],
};
