/** What must hold of move tasks; see invariants.ts and move-task.ts. */
import { MOVE_TASKS_MAX } from './limits.ts';
import { isUnderWay, taskUnderWay } from './move-task.ts';
import type { QueueState } from './queue-state.ts';

/** Cheap: runs before every swap. */
export function brokenTaskStep(current: QueueState, next: QueueState): string | undefined {
  if (current.moveTasks === next.moveTasks) return undefined;
  for (const task of next.moveTasks) {
    const before = current.moveTasks.find(({ id }) => id === task.id);
    if (!before) continue;
    const same = task.status === before.status && task.moved === before.moved;
    if (!isUnderWay(before) && !same) return `move task ${task.id} changed after its end`;
    if (task.moved < before.moved) return `move task ${task.id} took messages back`;
    if (before.status === 'cancelling' && task.status !== 'cancelling' && task.status !== 'cancelled')
      return `move task ${task.id} was cancelled, and is ${task.status}`;
  }
  return undefined;
}

export function brokenTasks(state: QueueState): string | undefined {
  const underWay = taskUnderWay(state.moveTasks);
  for (const [sequence, { redriven }] of state.intents)
    if (redriven && !underWay) return `sequence ${sequence} is moved by a task that has ended`;
  return brokenTaskList(state);
}

/** What a reader can tell by the list alone. */
export function brokenTaskList({
  moveTasks,
  nextSequence,
}: Pick<QueueState, 'moveTasks' | 'nextSequence'>): string | undefined {
  if (moveTasks.length > MOVE_TASKS_MAX) return 'too many move tasks';
  if (new Set(moveTasks.map(({ id }) => id)).size < moveTasks.length) return 'a move task is there twice';
  const underWay = taskUnderWay(moveTasks);
  if (underWay && underWay !== moveTasks.at(-1)) return `move task ${underWay.id} was overtaken`;
  for (const { id, through } of moveTasks)
    if (through > nextSequence) return `move task ${id} reaches beyond every sequence number`;
  return undefined;
}
