/**
 * Producers and consumers of a FIFO queue. Producers send each message several times under one deduplication id: to
 * two nodes at once, again after an answer or after none, in other batches, and once more when it may have been deleted long ago.
 * Consumers delete what they got in order, or a part of it; they die holding messages, give some back, ask for more time, and
 * delete too late. All choices come from the random stream that is handed in.
 */
import type { FifoClient, NewMessage } from './fifo-client.ts';
import type { GroupDelivery } from './history-groups.ts';
import { pause } from './okuri-process.ts';
import type { SeededRandom } from './random.ts';

export interface FifoProgress {
  acknowledged: number;
  /** Producers begin nothing new when so many messages were acknowledged. */
  readonly wanted: number;
  readonly groups: number;
  /** Consumers stop as soon as this is set. */
  stop: boolean;
  /** Consumers delete everything at once from then on. */
  draining: boolean;
}

/**
 * Ids are sent again until then: the window of five minutes began with the first attempt at the earliest, and the last one may take
 * effect a minute after it was given up.
 */
const lastAttemptMillis = 150_000;
/** Of all messages; so that some groups are deep. */
const hotPart = 0.25;
const hotGroups = 10;

export async function produceOnce(
  name: string,
  client: () => FifoClient,
  random: SeededRandom,
  progress: Pick<FifoProgress, 'acknowledged' | 'wanted' | 'groups'>,
): Promise<void> {
  const echoes: Promise<unknown>[] = [];
  const [own, other] = [client(), client()];
  for (let round = 0; progress.acknowledged < progress.wanted; round += 1) {
    const count = random.chance(0.3) ? 1 : random.between(2, 10);
    const one = random.chance(0.3) ? groupFor(random, progress) : undefined;
    const messages = Array.from(
      { length: count },
      (_, n): NewMessage => ({ id: `${name}-${round}-${n}`, group: one ?? groupFor(random, progress) }),
    );
    const first = random.chance(0.5) ? [own, other] : [own];
    const began = performance.now();
    const lefts = await Promise.all(first.map((each) => each.send(messages)));
    let left = messages.filter(({ id }) => lefts.every((each) => each.has(id)));
    while (left.length > 0 && performance.now() - began < lastAttemptMillis) {
      await pause(random.between(20, 300));
      const still = await own.send(left);
      left = left.filter(({ id }) => still.has(id));
    }
    progress.acknowledged += count - left.length;
    // Some at once, some after a node has died, some after most of what was sent meanwhile is gone.
    if (first.length === 1 || random.chance(0.2))
      echoes.push(
        echo(other, shuffled(messages, random), random.between(0, random.chance(0.3) ? 20_000 : 500)),
      );
    if (echoes.length > 30) await echoes.shift();
  }
  await Promise.all(echoes);
}

async function echo(client: FifoClient, messages: readonly NewMessage[], afterMillis: number): Promise<void> {
  await pause(afterMillis);
  await client.send(messages);
}

function groupFor(random: SeededRandom, { groups }: Pick<FifoProgress, 'groups'>): string {
  const hot = random.chance(hotPart);
  return `g${random.between(1, hot ? Math.min(hotGroups, groups) : groups)}`;
}

function shuffled<T>(items: readonly T[], random: SeededRandom): readonly T[] {
  const rest = [...items];
  return items.map(() => rest.splice(random.between(0, rest.length - 1), 1)[0]!);
}

/** @param forgetful how often all that a receive gave is kept until its time is over, as by a consumer that died. */
export async function consumeGroups(
  client: FifoClient,
  random: SeededRandom,
  progress: Pick<FifoProgress, 'stop' | 'draining'>,
  forgetful = 0.04,
): Promise<void> {
  const lateDeletes: Promise<void>[] = [];
  while (!progress.stop) {
    const visibilitySeconds = random.between(2, 6);
    const deliveries = await client.receive({
      limit: random.chance(0.2) ? random.between(1, 3) : 10,
      waitSeconds: random.between(0, 2),
      visibilitySeconds,
    });
    const handles = deliveries.map(({ receiptHandle }) => receiptHandle);
    if (handles.length === 0) await pause(random.between(10, 50));
    else if (progress.draining) await removeAll(client, random, handles);
    else if (!random.chance(forgetful))
      lateDeletes.push(...(await finish(client, random, deliveries, visibilitySeconds)));
  }
  await Promise.all(lateDeletes);
}

/** @returns deletes that happen later. */
async function finish(
  client: FifoClient,
  random: SeededRandom,
  deliveries: readonly GroupDelivery[],
  visibilitySeconds: number,
): Promise<readonly Promise<void>[]> {
  const handles = deliveries.map(({ receiptHandle }) => receiptHandle);
  const done = random.between(0, handles.length);
  const draw = random.unit();
  if (draw < 0.05) {
    // The first of a group, the last, or those in between: earlier ones may come while later ones are out.
    const from = random.between(0, handles.length - 1);
    await client.setVisibility(handles.slice(from, random.between(from + 1, handles.length)), 0);
    return [];
  }
  if (draw < 0.1) {
    await removeAll(client, random, handles.slice(0, done));
    if (done < handles.length) await client.setVisibility(handles.slice(done), 0);
    return [];
  }
  if (draw < 0.14) {
    await removeAll(client, random, shuffled(handles, random).slice(0, done));
    return [];
  }
  if (draw < 0.18) {
    await client.setVisibility(handles, random.between(1, 8));
    await pause(random.between(100, 2_000));
  } else if (draw < 0.24) {
    // Around their expiry, so that deletes and redeliveries meet.
    const delay = visibilitySeconds * 1_000 + random.between(-500, 1_500);
    return [pause(delay).then(() => removeAll(client, random, handles))];
  } else if (draw < 0.3) {
    for (const handle of handles) await removeAll(client, random, [handle]);
    return [];
  }
  await removeAll(client, random, handles);
  return [];
}

async function removeAll(
  client: FifoClient,
  random: SeededRandom,
  receiptHandles: readonly string[],
): Promise<void> {
  let left = receiptHandles;
  for (let attempt = 0; left.length > 0 && attempt < 8; attempt += 1) {
    if (attempt > 0) await pause(random.between(50, 300));
    left = await client.remove(left);
  }
}
