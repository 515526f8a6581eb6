/** Faults of message move tasks: docs/design/0008-move-tasks.md. */
import type { Mutant } from './mutant.ts';
import { mover, redrive } from './spoiled-files.ts';

const step = 'src/core/move-step.ts';
const task = 'src/core/move-task.ts';

export const taskFaults: readonly Mutant[] = [
  {
    name: 'redriven-keeps-its-id',
    breaks: 'what a task moves arrives as a new message',
    focus: 'tasks',
    patches: [
      {
        file: mover,
        text: 'message: { ...message, messageId }, redriven };',
        by: 'message: messageId === "" ? { ...message, messageId } : message, redriven };',
      },
    ],
  },
  {
    name: 'redriven-keeps-its-stamp',
    breaks: 'retention of what a task moves counts from the move',
    focus: 'tasks',
    patches: [
      {
        file: redrive,
        text: 'sentAtMillis: draft.time.stampMillis,\n    deadLetterSourceArn',
        by: 'deadLetterSourceArn',
      },
    ],
  },
  {
    name: 'redriven-arrives-as-a-letter',
    breaks: 'a task gives no dead letters',
    focus: 'tasks',
    patches: [
      { file: redrive, text: 'if (moved.redriven) appendAsNew', by: 'if (moved.number < 0) appendAsNew' },
    ],
  },
  {
    name: 'rate-is-never-used-up',
    breaks: 'a task keeps to its rate',
    focus: 'tasks',
    patches: [
      {
        file: task,
        text: 'pacedFrom(task, nowMillis) + (count * millisPerSecond) / messagesPerSecond);',
        by: 'pacedFrom(task, nowMillis) + (count * 0) / messagesPerSecond);',
      },
    ],
  },
  {
    name: 'cancelled-goes-on',
    breaks: 'a cancelled task moves nothing more',
    focus: 'tasks',
    patches: [
      {
        file: step,
        text: "if (task?.id !== command.id || task.status !== 'running' || task.failureReason !== undefined)",
        by: 'if (task?.id !== command.id)',
      },
    ],
  },
  {
    name: 'over-with-messages-under-way',
    breaks: 'a task has ended when nothing of it is on its way',
    focus: 'tasks',
    patches: [
      {
        file: task,
        text: 'if (!task || hasRedriven(draft)) return;',
        by: 'if (!task) return;',
      },
    ],
  },
  {
    name: 'completed-too-early',
    breaks: 'a completed task has moved all that it could',
    focus: 'tasks',
    patches: [
      {
        file: step,
        text: 'if (given > 0) this.#took(task, given);',
        by: "if (given > 0 && given < most && draft.ready.length > 0 && !this.#waits()) changeTask(draft, { ...task, status: 'completed' });\n    else if (given > 0) this.#took(task, given);\n    else if (draft.ready.length > 0 && !this.#waits()) changeTask(draft, { ...task, status: 'completed' });",
      },
    ],
  },
  {
    name: 'task-never-ends',
    breaks: 'every task comes to its end',
    focus: 'tasks',
    patches: [
      {
        file: step,
        text: "if (!unreadable) changeTask(draft, { ...task, status: 'completed' });",
        by: 'if (!unreadable) changeTask(draft, task);',
      },
    ],
  },
  {
    name: 'nobody-takes-a-task-over',
    breaks: 'any node goes on with a task whose node has died',
    focus: 'tasks',
    patches: [
      {
        file: 'src/engine/task-runner.ts',
        text: 'if (this.#isOwn(task) || (await this.#mayTakeOver(task))) await this.#go(task);',
        by: 'if (this.#isOwn(task) || ((await this.#mayTakeOver(task)) && task.moved > 1e6)) await this.#go(task);\n        else this.#own = undefined;',
      },
    ],
  },
  {
    name: 'moves-what-came-later',
    breaks: 'messages that come after the start are not the task’s',
    focus: 'tasks',
    patches: [
      {
        file: step,
        text: 'new StandardWalk(this.#draft, this.#resources, this.#pages, through);',
        by: 'new StandardWalk(this.#draft, this.#resources, this.#pages, through + 1_000);',
      },
    ],
  },
  {
    name: 'never-received-returns-as-received',
    breaks: 'what comes back is as it was',
    focus: 'tasks',
    patches: [
      {
        file: redrive,
        text: 'if (intent.receiveCount === 0) draft.giveBackToReady([sequence]);',
        by: 'if (intent.receiveCount < 0) draft.giveBackToReady([sequence]);',
      },
    ],
  },
  {
    name: 'task-takes-what-was-just-handed-out',
    breaks: 'a receive is answered with leases that landed',
    focus: 'tasks',
    patches: [
      {
        file: step,
        text: 'if (previous && !draft.deliveries.isSettled(sequence)) {',
        by: 'if (previous && sequence < 0) {',
      },
    ],
  },
];
