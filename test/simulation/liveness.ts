/**
 * The second half of a run: the world is healed, and everything must come to an end. Counts agree on every node, every
 * message can be received and deleted, every move finishes, every call is answered, and after sweeps nothing is left
 * in the bucket that no manifest names. When not, it says why.
 */
import { taskUnderWay } from '../../src/core/move-task.ts';
import { resolveAttributes } from '../../src/core/queue-attributes.ts';
import { stampOf } from '../../src/core/stamps.ts';
import { createRequest } from './clients.ts';
import type { Cluster } from './cluster.ts';
import type { SimConfig } from './config.ts';
import type { Court } from './court.ts';
import { entryFor, isFifoState } from './fifo.ts';
import type { CallRequest, Reply } from './history.ts';
import type { IncarnationLife } from './ledger.ts';
import { markerOf } from './ledger.ts';
import { storeMillisAt } from './life.ts';
import type { Scheduler } from './scheduler.ts';

const minute = 60_000;
/** Far above every visibility timeout and delay of the configuration. */
const drainMillisMax = 10 * minute;
/** The longest poll interval, jittered, and a few slow requests. */
export const wakeMillisMax = ({ timing }: SimConfig) =>
  Math.max(2_000, timing.pollMaxMillis ?? 0) * 1.2 + 2_000;

export interface LivenessWorld {
  readonly scheduler: Scheduler;
  readonly config: SimConfig;
  readonly cluster: Cluster;
  readonly court: Court;
}

export async function drainEverything(world: LivenessWorld): Promise<void> {
  const { scheduler, config, cluster, court } = world;
  for (const queue of config.queues)
    for (const node of cluster.nodes) {
      const reply = await cluster.call(
        -1,
        node.index,
        { kind: 'look', queue: queue.name },
        { timeoutMillis: minute },
      );
      if (reply.kind === 'lost' || reply.answer.kind === 'unavailable')
        return court.fail('a healed node answers', `n${node.index} about ${queue.name}`);
    }
  // Twice: what a wrong clock hid from one queue's drain may show while another's still goes on.
  for (let round = 0; round < 2 && waiting(world).length > 0; round++) {
    const deadline = scheduler.now + drainMillisMax;
    await Promise.all(config.queues.map((queue, index) => drain(world, queue.name, index, deadline)));
    if (court.failure) return;
  }
  const left = waiting(world);
  if (left.length > 0) court.fail('a healed queue drains', left.map(describe).join('; '));
}

/**
 * Queues with messages that a consumer must still get. What retention ended may stay until the next commit; and where
 * clocks lied or stepped, a message may be hidden for as long as they were wrong: late, not lost.
 */
function waiting(world: LivenessWorld): IncarnationLife[] {
  const { court, scheduler, config } = world;
  const nowMillis = storeMillisAt(scheduler.now);
  const hiddenUntil = clocksWereWrong(world) ? nowMillis + 2 * minute : Number.POSITIVE_INFINITY;
  return [...court.ledger.queues.values()].filter(({ live, state }) => {
    const { retentionSeconds } = resolveAttributes(state.attributes);
    let hidden = 0;
    for (const { visibleAtMillis } of state.deliveries.values()) if (visibleAtMillis > hiddenUntil) hidden++;
    // They count as in flight, and the rest has to wait for a place.
    if (hidden >= config.limits.inFlightMax) return false;
    const behind = isFifoState(state) ? behindHidden(live, state, hiddenUntil) : new Set<number>();
    // Nothing is looked at beyond so many.
    if (behind.size >= config.limits.fifoLookMax) return false;
    for (const { message, sequence } of live.values()) {
      if (behind.has(sequence)) continue;
      const visibleAt = state.deliveries.get(sequence)?.visibleAtMillis ?? state.delayed.get(sequence) ?? 0;
      if (visibleAt > hiddenUntil) continue;
      if (state.intents.has(sequence) || stampOf(message) + retentionSeconds * 1000 > nowMillis) return true;
    }
    return false;
  });
}

/** What is hidden hides in a FIFO queue what is behind it in its group; a delay, all that was sent after it. */
function behindHidden(
  live: IncarnationLife['live'],
  { deliveries, delayed }: IncarnationLife['state'],
  hiddenUntil: number,
): ReadonlySet<number> {
  const behind = new Set<number>();
  const groups = new Set<string | undefined>();
  let held = false;
  for (const [sequence, { message }] of [...live].sort(([a], [b]) => a - b)) {
    if (held || groups.has(message.groupId)) behind.add(sequence);
    if ((deliveries.get(sequence)?.visibleAtMillis ?? 0) > hiddenUntil) groups.add(message.groupId);
    if ((delayed.get(sequence) ?? 0) > hiddenUntil) held = true;
  }
  return behind;
}

export function clocksWereWrong({ cluster, config }: LivenessWorld): boolean {
  return cluster.clocks.liesTold > 0 || config.nodes.some(({ stepsPerMinute }) => stepsPerMinute > 0);
}

async function drain(world: LivenessWorld, queue: string, index: number, deadline: number): Promise<void> {
  const { scheduler, cluster, court } = world;
  let turn = index;
  while (waiting(world).length > 0 && scheduler.now < deadline && !court.failure) {
    const node = turn++ % cluster.nodes.length;
    const request = { maxMessages: 10, waitSeconds: 20, visibilityTimeoutSeconds: 30 };
    const received = await cluster.call(
      -2,
      node,
      { kind: 'receive', queue, request },
      { timeoutMillis: minute },
    );
    if (received.kind === 'lost')
      return court.fail('a healed node answers', `receive of ${queue} on n${node}`);
    const { answer } = received;
    if (answer.kind === 'queue-missing') return;
    if (answer.kind !== 'done' || !('messages' in answer) || answer.messages.length === 0) {
      await scheduler.sleep(1_000);
      continue;
    }
    const handles = answer.messages.map(({ receiptHandle }) => receiptHandle);
    await cluster.call(
      -2,
      (node + 1) % cluster.nodes.length,
      { kind: 'delete', queue, handles },
      { timeoutMillis: minute },
    );
  }
}

/** A task ends by itself, on whichever node lives. */
export async function endTasks({ scheduler, court }: LivenessWorld): Promise<void> {
  const underWay = () =>
    [...court.ledger.queues.values()].filter(({ state }) => taskUnderWay(state.moveTasks) !== undefined);
  const deadline = scheduler.now + 3 * minute;
  while (underWay().length > 0 && scheduler.now < deadline) await scheduler.sleep(1_000);
  for (const { queue, state } of underWay())
    return court.fail('a move task ends', `${queue}: ${JSON.stringify(taskUnderWay(state.moveTasks))}`);
}

/** A poll that waits on one node gets what is sent through another, as soon as its polling schedule lets it. */
export async function wakeEverywhere(world: LivenessWorld): Promise<void> {
  const { scheduler, config, cluster, court } = world;
  for (const [index, { name: queue }] of config.queues.entries()) {
    const life = court.ledger.queues.get(queue);
    // What hides from a wrong clock would answer the poll in its place.
    if (!life || life.live.size > 0) continue;
    const here = index % cluster.nodes.length;
    const there = (index + 1) % cluster.nodes.length;
    const request = { maxMessages: 10, waitSeconds: 20, visibilityTimeoutSeconds: 30 };
    const polled = callSurely(world, -4, here, { kind: 'receive', queue, request });
    await scheduler.sleep(5_000);
    const entries = [entryFor(queue, `wake.${queue}|`, 0)];
    await callSurely(world, -4, there, { kind: 'send', queue, entries });
    const sentAt = scheduler.now;
    const reply = await polled;
    const waitedMillis = scheduler.now - sentAt;
    const got = reply.kind === 'answer' && reply.answer.kind === 'done' && 'messages' in reply.answer;
    if (!got || reply.answer.messages.length === 0)
      return court.fail(
        'a waiting receive is woken',
        `n${here} polled ${queue}, n${there} sent, nothing came`,
      );
    if (waitedMillis > wakeMillisMax(config))
      return court.fail('a waiting receive is woken', `n${here} got it after ${waitedMillis.toFixed(0)} ms`);
    const handles = reply.answer.messages.map(({ receiptHandle }) => receiptHandle);
    await cluster.call(-4, here, { kind: 'delete', queue, handles }, { timeoutMillis: minute });
  }
}

/** A node that still knows a past incarnation may say once that it does not know what became of a command. */
export async function callSurely(
  { cluster }: LivenessWorld,
  client: number,
  node: number,
  request: CallRequest,
): Promise<Reply> {
  const call = () => cluster.call(client, node, request, { timeoutMillis: minute });
  const reply = await call();
  return reply.kind === 'answer' && reply.answer.kind === 'unavailable' ? call() : reply;
}

/** Whatever became of a name, its queue can be created again. */
export async function createEverywhere(world: LivenessWorld): Promise<void> {
  const { scheduler, config, cluster, court } = world;
  for (const queue of config.queues.toReversed()) {
    const create = () => cluster.call(-6, 0, createRequest(queue, 2), { timeoutMillis: minute });
    let reply = await create();
    if (reply.kind === 'answer' && reply.answer.kind === 'deleted-recently') {
      await scheduler.sleep(minute + 5_000);
      reply = await create();
    }
    const kind = reply.kind === 'lost' ? 'lost' : reply.answer.kind;
    // A stamp never lies below the truth, and above it by as much as a clock stepped; without it no source of it either.
    if (kind === 'deleted-recently' && clocksWereWrong(world)) return;
    if (!['created', 'exists', 'differs'].includes(kind))
      return court.fail('a healed queue can be created', `${queue.name}: ${kind}`);
  }
}

/** Who went away before the answer gets nothing leased: the message is there for the next, as if never received. */
export async function giveBackEverywhere(world: LivenessWorld): Promise<void> {
  const { scheduler, config, cluster, court } = world;
  for (const [index, { name: queue }] of config.queues.entries()) {
    if (court.ledger.queues.get(queue)?.live.size !== 0) continue;
    const node = index % cluster.nodes.length;
    const entries = [entryFor(queue, `back.${queue}|`, 0)];
    await callSurely(world, -7, node, { kind: 'send', queue, entries });
    const request = { maxMessages: 1, waitSeconds: 0, visibilityTimeoutSeconds: 3_600 };
    const receive: CallRequest = { kind: 'receive', queue, request };
    const { lingerMillis, nodes } = config;
    const hangUpMillis = 1 + lingerMillis + nodes[node]!.putMillis / 2;
    let said = false;
    await cluster.call(-7, node, receive, {
      timeoutMillis: minute,
      hangUpMillis,
      said: (answer) => {
        said = 'messages' in answer && answer.messages.length > 0;
      },
    });
    await scheduler.sleep(5_000);
    // Answered before it hung up.
    if (said) continue;
    const reply = await cluster.call(-7, node, receive, { timeoutMillis: minute });
    const received = reply.kind === 'answer' && reply.answer.kind === 'done' && 'messages' in reply.answer;
    const message = received ? reply.answer.messages[0] : undefined;
    if (message?.receiveCount !== 1)
      return court.fail(
        'a client that hung up gets nothing leased',
        `${queue} gave the next ${message ? `receive count ${message.receiveCount}` : 'nothing'}`,
      );
    const handles = [message.receiptHandle];
    await cluster.call(-7, node, { kind: 'delete', queue, handles }, { timeoutMillis: minute });
  }
}

export async function sweepEverything({ scheduler, cluster, court, config }: LivenessWorld): Promise<void> {
  // Drops of other nodes lie below collectedBelow only once the lag has passed.
  for (let sweep = 0; sweep < 3; sweep++) {
    await scheduler.sleep(2 * (config.timing.collectLagMillis ?? minute) + minute);
    try {
      await cluster.nodes[0]!.engine.sweep();
    } catch (error) {
      return court.fail('a healed node sweeps', String(error));
    }
  }
}

/** Of deleted queues nothing is left once their tombstones are old enough: a process that knew none of them sees to it. */
export async function buryEverything(world: LivenessWorld, keys: () => readonly string[]): Promise<void> {
  const { scheduler, cluster, court, config } = world;
  for (const { name: queue } of config.queues) {
    const bury = () => cluster.call(-8, 0, { kind: 'delete-queue', queue }, { timeoutMillis: minute });
    let reply = await bury();
    if (reply.kind === 'answer' && reply.answer.kind === 'unavailable') reply = await bury();
    const kind = reply.kind === 'lost' ? 'lost' : reply.answer.kind;
    if (kind !== 'done' && kind !== 'queue-missing')
      return court.fail('a healed queue can be deleted', `${queue}: ${kind}`);
  }
  cluster.end();
  await scheduler.sleep((config.timing.tombstoneAgeMillis ?? 60 * minute) + 5 * minute);
  cluster.startAlone(0);
  await sweepEverything(world);
  const left = keys().filter((key) => config.conditionalDelete || !key.startsWith('m/'));
  if (left.length > 0)
    court.fail('of deleted queues nothing is left', `${left.length} objects, the first is ${left[0]}`);
}

function describe({ queue, live, state }: IncarnationLife): string {
  const lives = [...live.values()].slice(0, 5).map(({ sequence, message }) => {
    const delivery = state.deliveries.get(sequence);
    const place = state.intents.has(sequence)
      ? `moving to ${state.intents.get(sequence)!.targetIncarnation}`
      : delivery
        ? `visible at ${delivery.visibleAtMillis}, received ${delivery.receiveCount} times`
        : state.delayed.has(sequence)
          ? `delayed until ${state.delayed.get(sequence)}`
          : 'ready';
    return `${markerOf(message.body)} (sequence ${sequence}, ${place})`;
  });
  return `${queue} holds ${live.size} messages: ${lives.join(', ')}`;
}
