/** Notes the rare scenes of message move tasks (reached.ts), as scenes.ts does those of all. Judges nothing. */
import { destinationGone, isUnderWay, type MoveTask } from '../../src/core/move-task.ts';
import { has } from '../../src/core/range-set.ts';
import type { DiffChecker } from './checkers/check.ts';
import type { LandingDiff } from './ledger.ts';
import type { Reached } from './reached.ts';

export class TaskScenes implements DiffChecker {
  readonly name = 'scenes of tasks judge nothing';
  readonly #reached: Reached;
  /** By task: who landed its last step. */
  readonly #steppedBy = new Map<string, number>();

  constructor(reached: Reached) {
    this.#reached = reached;
  }

  diff({ before, after, landing }: LandingDiff): undefined {
    for (const task of after.moveTasks) {
      const was = before?.moveTasks.find(({ id }) => id === task.id);
      if (!was || !isUnderWay(was)) continue;
      if (task.runner !== was.runner) {
        const earlier = this.#steppedBy.get(task.id);
        if (earlier !== undefined && earlier !== landing.node)
          this.#reached.note('a move task is taken over by another node');
      }
      if (task.runner !== was.runner || task.pacedUntilMillis !== was.pacedUntilMillis)
        this.#steppedBy.set(task.id, landing.node);
      this.#ended(was, task);
    }
    for (const [sequence, { redriven }] of before?.intents ?? [])
      if (redriven && (has(after.ready, sequence) || after.deliveries.has(sequence)))
        this.#reached.note('a message of a move task returns from a target that is gone');
  }

  #ended(was: MoveTask, task: MoveTask): void {
    if (task.status === 'completed' && task.moved > 0)
      this.#reached.note('a move task has moved all it could');
    if (task.status === 'cancelled' && was.status === 'cancelling')
      this.#reached.note('a move task is cancelled with messages on their way');
    if (task.status === 'failed' && task.failureReason === destinationGone)
      this.#reached.note('a move task fails since a queue is gone');
  }
}
