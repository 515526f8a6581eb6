/**
 * Message move tasks: what they move arrives as a new message, they keep to their rate by the store's true clock, move nothing after
 * their end, and have moved all that they could when they say that they are completed.
 */

import type { StoredMessage } from '../../../src/core/message.ts';
import { isUnderWay, type MoveTask } from '../../../src/core/move-task.ts';
import { first } from '../../../src/core/range-set.ts';
import { defaultTiming } from '../../../src/engine/settings.ts';
import { isFifoState } from '../fifo.ts';
import type { IncarnationLife, LandingDiff, Ledger, MessageLife } from '../ledger.ts';
import { markerOf } from '../ledger.ts';
import { storeMillisAt } from '../life.ts';
import type { Circumstances } from './all.ts';
import type { DiffChecker } from './check.ts';

interface Step {
  readonly storeMillis: number;
  readonly count: number;
}

export function moveTasksChecker(
  ledger: Ledger,
  world: Pick<Circumstances, 'clockErrorMillis' | 'stampErrorMillis'>,
): DiffChecker {
  const steps = new Map<string, Step[]>();
  /** Of redriven messages, by marker: as they were in their source. */
  const given = new Map<string, StoredMessage>();
  return {
    name: 'a move task moves what it may, once, at its rate, as new messages',
    diff: (diff) => {
      const { before, after, incarnation } = diff;
      const now = givenNow(diff);
      for (const life of now) given.set(markerOf(life.message.body), life.message);
      return (
        wrongStep(diff, now) ??
        tooFast(diff, now.length, steps, world.clockErrorMillis()) ??
        wrongEnd(before?.moveTasks ?? [], diff) ??
        wrongReturn(diff) ??
        arrivals(diff, given, ledger, world.stampErrorMillis()) ??
        wrongCount(incarnation, after.moveTasks, steps)
      );
    },
  };
}

function givenNow({ before, after, incarnation }: LandingDiff): MessageLife[] {
  const lives: MessageLife[] = [];
  for (const [sequence, { redriven, number, targetIncarnation }] of after.intents) {
    if (!redriven) continue;
    const same = before?.intents.get(sequence);
    if (same?.number === number && same.targetIncarnation === targetIncarnation) continue;
    lives.push(incarnation.live.get(sequence)!);
  }
  return lives;
}

function wrongStep(
  { before, after, incarnation }: LandingDiff,
  lives: readonly MessageLife[],
): string | undefined {
  if (lives.length === 0) return undefined;
  const task = after.moveTasks.at(-1);
  const was = before?.moveTasks.find(({ id }) => id === task?.id);
  if (task?.status !== 'running')
    return `${incarnation.queue} moves messages, and its task is ${task?.status ?? 'none'}`;
  if (was?.failureReason !== undefined) return `${incarnation.queue} moves messages, and its task has failed`;
  for (const { sequence } of lives)
    if (sequence >= task.through)
      return `sequence ${sequence} came after the start of the task that moves it`;
  return undefined;
}

/** Between two landings of steps no more than the time between them allows, a second that may be saved, and what clocks may be off. */
function tooFast(
  { after, landing }: LandingDiff,
  count: number,
  steps: Map<string, Step[]>,
  clockErrorMillis: number | undefined,
): string | undefined {
  const task = after.moveTasks.at(-1);
  if (count === 0 || !task) return undefined;
  const known = steps.get(task.id) ?? [];
  steps.set(task.id, known);
  known.push({ storeMillis: landing.storeMillis, count });
  if (task.messagesPerSecond === undefined || clockErrorMillis === undefined) return undefined;
  let moved = 0;
  for (let at = known.length - 1; at > 0; at--) {
    moved += known[at]!.count;
    // Decided after the one before it had landed.
    const millis = landing.storeMillis - known[at - 1]!.storeMillis + 1_000 + 2 * clockErrorMillis;
    const allowed = (millis * task.messagesPerSecond) / 1_000 + 1;
    if (moved > allowed)
      return `a task of ${task.messagesPerSecond} a second gave ${moved} messages in ${millis} ms, slack included`;
  }
  return undefined;
}

function wrongEnd(before: readonly MoveTask[], { after, incarnation }: LandingDiff): string | undefined {
  for (const task of after.moveTasks) {
    const was = before.find(({ id }) => id === task.id);
    if (!was || !isUnderWay(was) || isUnderWay(task)) continue;
    for (const { redriven } of after.intents.values())
      if (redriven)
        return `a task of ${incarnation.queue} is ${task.status}, and a message of it is on its way`;
    const left = isFifoState(after) ? undefined : first(after.ready);
    if (task.status === 'completed' && left !== undefined && left < task.through)
      return `a task of ${incarnation.queue} is completed, and sequence ${left} is visible and was there at its start`;
  }
  return undefined;
}

function arrivals(
  { born, after, incarnation, landing }: LandingDiff,
  given: ReadonlyMap<string, StoredMessage>,
  ledger: Ledger,
  stampErrorMillis: number | undefined,
): string | undefined {
  for (const life of born) {
    const { message, sequence } = life;
    if (!life.moved || message.deadLetterSourceArn !== undefined) continue;
    const marker = markerOf(message.body);
    const from = given.get(marker);
    if (!from) return `${marker} came to ${incarnation.queue}, and no task moved it`;
    if (from.messageId === message.messageId) return `${marker} was moved and kept its id`;
    const beganMillis = storeMillisAt(landing.sentAt) - defaultTiming.attemptAgeMaxMillis;
    if (stampErrorMillis !== undefined && message.sentAtMillis < beganMillis - stampErrorMillis)
      return `${marker} was moved, and its life did not begin anew`;
    const delivery = after.deliveries.get(sequence);
    if (delivery && delivery.receiveCount !== 1)
      return `${marker} was moved and counts ${delivery.receiveCount} receives`;
    // Elsewhere alive under another id: there twice, unless that is its intent.
    for (const other of ledger.queues.values())
      for (const twin of other.live.values())
        if (
          twin !== life &&
          markerOf(twin.message.body) === marker &&
          !other.state.intents.has(twin.sequence)
        )
          return `${marker} is in ${incarnation.queue} and in ${other.queue}`;
  }
  return undefined;
}

/** What a target that is gone gave back is as it was: never received, it has no delivery. */
function wrongReturn({ before, after, incarnation }: LandingDiff): string | undefined {
  for (const [sequence, { redriven }] of before?.intents ?? [])
    if (redriven && after.deliveries.get(sequence)?.receiveCount === 0)
      return `sequence ${sequence} of ${incarnation.queue} came back as received, and never was`;
  return undefined;
}

function wrongCount(
  { queue }: IncarnationLife,
  tasks: readonly MoveTask[],
  steps: ReadonlyMap<string, readonly Step[]>,
): string | undefined {
  for (const { id, moved } of tasks) {
    const gave = (steps.get(id) ?? []).reduce((sum, { count }) => sum + count, 0);
    if (moved > gave) return `a task of ${queue} counts ${moved} messages, and gave ${gave}`;
  }
  return undefined;
}
