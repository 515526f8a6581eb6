/**
 * Producers and consumers that behave as differently as real ones: single and batch calls, short and long polls,
 * small and large bodies; consumers that delete at once, twice, or too late, forget messages, give them back or ask
 * for more time. All choices come from the random stream that is handed in.
 */
import { pause } from './okuri-process.ts';
import type { SeededRandom } from './random.ts';
import { bodyOf, type QueueClient } from './recording-client.ts';

export interface Progress {
  acknowledged: number;
  /** Producers stop when this many sends were acknowledged. */
  wanted: number;
  /** Consumers stop as soon as this is set. */
  stop: boolean;
  /** Consumers delete everything at once from then on. */
  draining: boolean;
}

export async function produce(
  name: string,
  client: QueueClient,
  random: SeededRandom,
  progress: Progress,
): Promise<void> {
  for (let round = 0; progress.acknowledged < progress.wanted; round += 1) {
    const count = random.chance(0.3) ? 1 : random.between(1, 10);
    const bodies = Array.from({ length: count }, (_, n) =>
      bodyOf(`${name}-${round}-${n}`, bodyBytes(random, count)),
    );
    const acknowledged = await client.send(bodies, random.chance(0.05) ? random.between(1, 3) : 0);
    progress.acknowledged += acknowledged;
    if (acknowledged === 0) await pause(random.between(20, 200));
  }
}

export function bodyBytes(random: SeededRandom, count: number): number {
  if (random.chance(0.005)) return random.between(70_000, 100_000);
  if (random.chance(0.02) && count < 5) return random.between(5_000, 50_000);
  return random.between(64, 400);
}

export async function consume(
  client: QueueClient,
  random: SeededRandom,
  progress: Pick<Progress, 'stop' | 'draining'>,
  /** The part of the deliveries that is forgotten besides the usual one in twenty. */
  forgetful = 0,
): Promise<void> {
  const lateDeletes: Promise<void>[] = [];
  while (!progress.stop) {
    const visibilitySeconds = random.between(3, 8);
    const deliveries = await client.receive({
      limit: random.chance(0.2) ? 1 : random.between(1, 10),
      waitSeconds: random.between(0, 3),
      visibilitySeconds,
    });
    const remembered = deliveries.filter(() => progress.draining || !random.chance(forgetful));
    const handles = remembered.map((delivery) => delivery.receiptHandle);
    if (handles.length === 0) await pause(random.between(10, 50));
    else if (progress.draining) await removeAll(client, random, handles);
    else lateDeletes.push(...(await finishSomehow(client, random, handles, visibilitySeconds)));
  }
  await Promise.all(lateDeletes);
}

/** @returns deletes that happen later. */
async function finishSomehow(
  client: QueueClient,
  random: SeededRandom,
  handles: readonly string[],
  visibilitySeconds: number,
): Promise<readonly Promise<void>[]> {
  const toDelete: string[] = [];
  const late: string[] = [];
  for (const handle of handles) {
    const draw = random.unit();
    if (draw < 0.8) toDelete.push(handle);
    else if (draw < 0.85) late.push(handle);
    else if (draw < 0.9) await client.setVisibility(handle, 0);
    else if (draw < 0.93) {
      await client.setVisibility(handle, random.between(1, 10));
      toDelete.push(handle);
    } else if (draw < 0.95) toDelete.push(handle, handle);
    // The rest is forgotten and comes again.
  }
  if (toDelete.length > 0) await removeAll(client, random, toDelete);
  if (late.length === 0) return [];
  // Around their expiry, so that deletes and redeliveries meet.
  const delay = visibilitySeconds * 1000 + random.between(-500, 1500);
  return [pause(delay).then(() => removeAll(client, random, late))];
}

async function removeAll(
  client: QueueClient,
  random: SeededRandom,
  handles: readonly string[],
): Promise<void> {
  let left = handles.slice(0, 10);
  for (let attempt = 0; left.length > 0 && attempt < 8; attempt += 1) {
    if (attempt > 0) await pause(random.between(50, 300));
    left = [...(await client.remove(left))];
  }
  if (handles.length > 10) await removeAll(client, random, handles.slice(10));
}
