/**
 * One step of a move task: gives up to so many visible messages to their destination, as intents (redrive.ts). It takes what a receive
 * would take, in the same order; on a FIFO queue several messages of a group in a row, which stays locked until they have arrived.
 *
 * What is in flight or delayed, or locked behind such a message, is passed over. When a step finds nothing and nothing of the
 * task is under way, the task has ended: what became visible later stays.
 */
import type { Command, CommandResult } from './command.ts';
import type { Draft } from './draft.ts';
import { FifoBodies } from './fifo-bodies.ts';
import { FifoOrder } from './fifo-order.ts';
import { FifoWalk } from './fifo-walk.ts';
import { GroupLocks } from './group-locks.ts';
import type { GroupHash, WriterId } from './ids.ts';
import type { StoredMessage } from './message.ts';
import {
  allowance,
  bodyUnreadable,
  changeTask,
  destinationGone,
  failTask,
  hasRedriven,
  type MoveTask,
  pacedAfter,
  settleTask,
  sourceUnknown,
  taskUnderWay,
} from './move-task.ts';
import type { PageReader } from './pages.ts';
import { queueNameOfArn } from './queue-arn.ts';
import { carried, type Delivery, type SegmentId } from './queue-state.ts';
import { giveTo } from './redrive.ts';
import type { Resources } from './resources.ts';
import { isExpired } from './retention.ts';
import { stampOf } from './stamps.ts';
import { StandardWalk } from './standard-walk.ts';

type Step = Command & { readonly kind: 'step-move-task' };

/** A visible message that nothing of its group comes before. */
interface Candidate {
  readonly sequence: number;
  /** Undefined: it was never received. */
  readonly previous: Delivery | undefined;
  readonly group: GroupHash | undefined;
  readonly body: StoredMessage | 'needed' | 'unreadable';
  /** Out of its place. */
  leave(): void;
  /** It stays, and so does what is behind it. */
  pass(): void;
}

interface Walk {
  next(): Candidate | undefined;
  /** It ended before something that can't be read. */
  readonly unreadable: boolean;
  finish(): void;
}

/** For the steps of one transition. Only after the last receive. */
export class MoveStepper {
  readonly neededSegments = new Set<SegmentId>();
  readonly neededGroups = new Set<SegmentId>();
  readonly neededTargets = new Set<string>();
  readonly #draft: Draft;
  readonly #resources: Resources;
  readonly #pages: PageReader;
  readonly #runner: WriterId;

  constructor(draft: Draft, resources: Resources, pages: PageReader, runner: WriterId) {
    this.#draft = draft;
    this.#resources = resources;
    this.#pages = pages;
    this.#runner = runner;
  }

  step(command: Step): CommandResult {
    const draft = this.#draft;
    const task = taskUnderWay(draft.moveTasks);
    if (task?.id !== command.id || task.status !== 'running' || task.failureReason !== undefined)
      return stepped(0);
    if (task.runner !== command.runner) return stepped(0);
    const room = draft.limits.intentsMax - draft.intents.current.size;
    const most = Math.min(command.messagesMax, room, allowance(task, draft.time.nowMillis));
    if (most <= 0) return stepped(0);
    const walk = draft.resolved.fifo ? this.#fifoWalk(task) : this.#standardWalk(task);
    const { given, exhausted, unreadable } = this.#give(walk, task, most);
    walk.finish();
    if (given > 0) this.#took(task, given);
    else if (exhausted && !this.#waits()) {
      if (!unreadable) changeTask(draft, { ...task, status: 'completed' });
      else if (!command.lastTry) return stepped(0, { unreadable: true });
      else failTask(draft, bodyUnreadable);
    }
    settleTask(draft);
    return stepped(given, { effect: given > 0 || taskOf(draft, task.id) !== task });
  }

  #give(walk: Walk, task: MoveTask, most: number) {
    const draft = this.#draft;
    let given = 0;
    let awaited = 0;
    let unreadable = false;
    let passed = false;
    while (given + awaited < most) {
      const candidate = walk.next();
      if (!candidate)
        return {
          given,
          exhausted: !passed,
          unreadable: unreadable || walk.unreadable || this.#pages.unreadable,
        };
      const { sequence, body, previous, group } = candidate;
      if (previous && !draft.deliveries.isSettled(sequence)) {
        // Handed out by this very transition, with no time to it: the lease has to be there for its handle.
        passed = true;
        candidate.pass();
      } else if (body === 'needed') {
        // The walk goes on as if it were given, so that one round of loading covers the whole step.
        awaited++;
      } else if (body === 'unreadable') {
        unreadable = true;
        candidate.pass();
      } else if (isExpired(draft, stampOf(body))) {
        candidate.leave();
        draft.endBody(sequence);
      } else {
        const target = this.#target(task, body);
        if (target === 'unreadable') {
          unreadable = true;
          candidate.pass();
        } else if (target === 'needed') awaited++;
        else if (target === undefined) break;
        else {
          candidate.leave();
          const { receiveCount = 0, firstReceivedAtMillis = 0 } = previous ?? {};
          const from = { receiveCount, firstReceivedAtMillis, ...(group !== undefined && { group }) };
          giveTo(draft, sequence, target, { ...from, ...(previous && carried(previous)), redriven: true });
          given++;
        }
      }
    }
    return { given, exhausted: false, unreadable };
  }

  /** Undefined: there is none, and the task fails. */
  #target({ destinationArn }: MoveTask, { deadLetterSourceArn }: StoredMessage) {
    const arn = destinationArn ?? deadLetterSourceArn;
    const queueName = arn === undefined ? undefined : queueNameOfArn(arn)?.name;
    if (queueName === undefined) {
      failTask(this.#draft, sourceUnknown);
      return undefined;
    }
    const target = this.#resources.target(queueName);
    if (!target) {
      this.neededTargets.add(queueName);
      return 'needed';
    }
    if (target.kind === 'unreadable') return 'unreadable';
    if (target.kind === 'present') return { queueName, targetIncarnation: target.incarnation };
    failTask(this.#draft, destinationGone);
    return undefined;
  }

  #took(before: MoveTask, count: number): void {
    const draft = this.#draft;
    const pacedUntilMillis = pacedAfter(before, draft.time.nowMillis, count);
    changeTask(draft, { ...taskOf(draft, before.id)!, pacedUntilMillis, runner: this.#runner });
  }

  /** Something that is under way may unlock what this step was kept from. */
  #waits(): boolean {
    const draft = this.#draft;
    return draft.resolved.fifo ? draft.intents.current.size > 0 : hasRedriven(draft);
  }

  #standardWalk({ through }: MoveTask): Walk {
    const walk = new StandardWalk(this.#draft, this.#resources, this.#pages, through);
    return {
      unreadable: false,
      finish: () => walk.finish(),
      next: () => {
        const visible = walk.next();
        if (!visible) return undefined;
        const { sequence, found } = visible;
        const body = walk.body(sequence);
        if (body.kind === 'needed' && body.segment !== undefined) this.neededSegments.add(body.segment);
        return {
          sequence,
          previous: found?.delivery,
          group: undefined,
          body: body.kind === 'message' ? body.message : body.kind,
          leave: () => walk.leave(visible),
          pass: () => {},
        };
      },
    };
  }

  #fifoWalk({ through }: MoveTask): Walk {
    const draft = this.#draft;
    const bodies = new FifoBodies(draft, this.#resources, this.#pages);
    const locks = new GroupLocks(draft);
    const walk = new FifoWalk(draft, locks, this.#pages, through);
    const order = new FifoOrder(walk, locks, bodies, draft.limits.fifoLookMax);
    const takenFromReady: number[] = [];
    order.begin();
    return {
      get unreadable() {
        return order.unreadable || walk.unreadable;
      },
      finish: () => {
        draft.takeFromReady(takenFromReady);
        for (const segment of bodies.neededSegments) this.neededSegments.add(segment);
        for (const segment of bodies.neededGroups) this.neededGroups.add(segment);
      },
      next: () => {
        const candidate = order.next();
        if (!candidate) return undefined;
        const { place, group } = candidate;
        const { sequence } = place;
        return {
          sequence,
          previous: place.kind === 'delivery' ? place.found.delivery : undefined,
          group,
          body: bodies.body(sequence),
          leave: () => {
            if (place.kind === 'ready') bodies.bringBack(sequence);
            if (walk.take(place) === 'from-ready') takenFromReady.push(sequence);
          },
          pass: () => locks.lock(group, sequence),
        };
      },
    };
  }
}

function stepped(given: number, { effect = false, unreadable = false } = {}): CommandResult {
  return { outcome: { kind: 'task-stepped', given, unreadable }, effect };
}

function taskOf(draft: Draft, id: string): MoveTask | undefined {
  return draft.moveTasks.find((task) => task.id === id);
}
