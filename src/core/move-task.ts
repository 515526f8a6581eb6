/**
 * Message move tasks (StartMessageMoveTask): state of the queue that messages are moved out of. What moves them is the
 * intent protocol (redrive.ts), and which, move-step.ts; this file owns what becomes of a task.
 *
 * - At most one task is under way, `running` or `cancelling`, and every redriven intent is its own. So it has ended only when none is left:
 *   a cancelled task moves nothing afterwards, and nothing of a finished one is between two queues.
 * - A running task with a failure reason fails as soon as its intents are resolved, and makes none until then.
 * - Messages numbered from `through` on came after the start and are not its own: a task into a queue that feeds this one ends, too.
 */
import type { Command, CommandResult } from './command.ts';
import type { Draft } from './draft.ts';
import type { WriterId } from './ids.ts';
import { MOVE_TASKS_MAX } from './limits.ts';
import { millisPerSecond } from './time.ts';

export type MoveTaskStatus = 'running' | 'cancelling' | 'completed' | 'cancelled' | 'failed';

export interface MoveTask {
  /** UUID in canonical text form. */
  readonly id: string;
  readonly status: MoveTaskStatus;
  /** Absent: each message goes to the queue that it was dead-lettered from. */
  readonly destinationArn?: string;
  /** Absent: as fast as it goes. */
  readonly messagesPerSecond?: number;
  /** Upper bound of the store's time. */
  readonly startedAtMillis: number;
  /** Removed here because they have arrived. */
  readonly moved: number;
  /** About how many were visible at the start. */
  readonly toMove: number;
  /** Only messages below are its own: the next sequence number at the start. */
  readonly through: number;
  readonly failureReason?: string;
  /** Up to when its rate is used up, by the deciding clock. */
  readonly pacedUntilMillis: number;
  /** Who took the last step. Others leave it to that one while it goes on; a step says whom it follows (engine/task-runner.ts). */
  readonly runner: WriterId;
}

/** In the words of AWS. */
export const destinationGone = 'AWS.SimpleQueueService.NonExistentQueue';
export const sourceUnknown = 'CouldNotDetermineMessageSource';
/** Our own: AWS keeps no bodies that can't be read. */
export const bodyUnreadable = 'CouldNotReadMessage';

/** What a task that was kept from moving may catch up with at once. */
const savedMillisMax = millisPerSecond;

type Paced = Pick<MoveTask, 'messagesPerSecond' | 'pacedUntilMillis'>;

/**
 * How many messages its rate allows now, on any node: each step is a swap, so all share one count. `pacedUntilMillis` is never
 * ahead of the clock that it was counted by. One that is ahead by more than two nodes may differ was counted by a clock that
 * lied or has stepped back since: it counts as long past. Only a step moves it back to the clock, so one has to be allowed
 * now; what it may take is a second's worth, as after any rest.
 */
export function allowance(task: Paced, nowMillis: number): number {
  const { messagesPerSecond } = task;
  if (messagesPerSecond === undefined) return Number.POSITIVE_INFINITY;
  const sinceMillis = nowMillis - pacedFrom(task, nowMillis);
  return Math.max(0, Math.floor((sinceMillis * messagesPerSecond) / millisPerSecond));
}

/** Until it allows so many, milliseconds; 0: it does now. */
export function untilAllowed(task: Paced, nowMillis: number, count: number): number {
  const { messagesPerSecond } = task;
  if (messagesPerSecond === undefined) return 0;
  const neededMillis = Math.ceil((count * millisPerSecond) / messagesPerSecond);
  return Math.max(0, pacedFrom(task, nowMillis) + neededMillis - nowMillis);
}

export function pacedAfter(task: Paced, nowMillis: number, count: number): number {
  const { messagesPerSecond } = task;
  if (messagesPerSecond === undefined) return task.pacedUntilMillis;
  return Math.ceil(pacedFrom(task, nowMillis) + (count * millisPerSecond) / messagesPerSecond);
}

function pacedFrom({ pacedUntilMillis }: Paced, nowMillis: number): number {
  const earliest = nowMillis - savedMillisMax;
  return pacedUntilMillis > nowMillis + savedMillisMax ? earliest : Math.max(pacedUntilMillis, earliest);
}

export function isUnderWay({ status }: Pick<MoveTask, 'status'>): boolean {
  return status === 'running' || status === 'cancelling';
}

export function taskUnderWay(tasks: readonly MoveTask[]): MoveTask | undefined {
  return tasks.find(isUnderWay);
}

export function startMoveTask(
  draft: Draft,
  { task }: Command & { readonly kind: 'start-move-task' },
  runner: WriterId,
): CommandResult {
  if (taskUnderWay(draft.moveTasks)) return { outcome: { kind: 'task-running' }, effect: false };
  const { messagesPerSecond = 1 } = task;
  const started: MoveTask = {
    ...task,
    status: 'running',
    startedAtMillis: draft.time.stampMillis,
    moved: 0,
    through: draft.nextSequence,
    // The first message goes at once.
    pacedUntilMillis: Math.floor(draft.time.nowMillis - millisPerSecond / messagesPerSecond),
    runner,
  };
  draft.moveTasks = [...draft.moveTasks, started].slice(-MOVE_TASKS_MAX);
  return { outcome: { kind: 'done' }, effect: true };
}

export function cancelMoveTask(
  draft: Draft,
  { id }: Command & { readonly kind: 'cancel-move-task' },
): CommandResult {
  const task = draft.moveTasks.find((each) => each.id === id);
  if (task?.status !== 'running') return { outcome: { kind: 'no-such-task' }, effect: false };
  const { failureReason: _, ...rest } = task;
  changeTask(draft, { ...rest, status: 'cancelling' });
  settleTask(draft);
  return { outcome: { kind: 'task-cancelled', moved: task.moved }, effect: true };
}

export function changeTask(draft: Draft, task: MoveTask): void {
  draft.moveTasks = draft.moveTasks.map((each) => (each.id === task.id ? task : each));
}

/** A cancelled or failed task has ended when the last of its intents has. Call when some were resolved. */
export function settleTask(draft: Draft): void {
  const task = taskUnderWay(draft.moveTasks);
  if (!task || hasRedriven(draft)) return;
  if (task.status === 'cancelling') changeTask(draft, { ...task, status: 'cancelled' });
  else if (task.failureReason !== undefined) changeTask(draft, { ...task, status: 'failed' });
}

/** Nothing goes on from here but what is under way. */
export function failTask(draft: Draft, failureReason: string): void {
  const task = taskUnderWay(draft.moveTasks);
  if (task?.status !== 'running' || task.failureReason !== undefined) return;
  changeTask(draft, { ...task, failureReason });
}

export function countMoved(draft: Draft, count: number): void {
  const task = taskUnderWay(draft.moveTasks);
  if (task && count > 0) changeTask(draft, { ...task, moved: task.moved + count });
}

export function hasRedriven({ intents }: Draft): boolean {
  for (const { redriven } of intents.current.values()) if (redriven) return true;
  return false;
}
