/** The calls for message move tasks: what may be started is decided here, by fresh reads; the rest by the queue's own state. */
import type { Command, CommandOutcome } from '../core/command.ts';
import { messageIdFrom } from '../core/ids.ts';
import { isFifoName, queueArn } from '../core/queue-arn.ts';
import { moveTaskKey } from '../format/object-keys.ts';
import type { EngineContext } from './context.ts';
import { countWithPages } from './count-with-pages.ts';
import type { DeadLetterSourceFinder } from './dead-letter-sources.ts';
import type { ObservedQueue } from './manifest-register.ts';
import {
  type CancelMoveTaskOutcome,
  type MoveTaskRequest,
  type MoveTasksSnapshot,
  type QueueMissing,
  type StartMoveTaskOutcome,
  Unavailable,
} from './queue-api.ts';
import { dropMarker } from './task-marker.ts';

export interface QueueAccess {
  readonly read: (name: string) => Promise<ObservedQueue | undefined>;
  readonly submit: (name: string, command: Command) => Promise<CommandOutcome>;
}

export class MoveTaskCalls {
  readonly #context: EngineContext;
  readonly #queues: QueueAccess;
  readonly #sources: DeadLetterSourceFinder;

  constructor(context: EngineContext, queues: QueueAccess, sources: DeadLetterSourceFinder) {
    this.#context = context;
    this.#queues = queues;
    this.#sources = sources;
  }

  /** @throws StoreError, Unavailable */
  async start(name: string, request: MoveTaskRequest): Promise<StartMoveTaskOutcome> {
    const { destination, messagesPerSecond } = request;
    const counted = await countWithPages(this.#context, name, () => this.#queues.read(name));
    if (!counted) return { kind: 'queue-missing' };
    if (!(await this.#isDeadLetterQueue(name))) return { kind: 'no-dead-letter-queue' };
    if (destination === name) return { kind: 'same-queue' };
    if (destination !== undefined) {
      if (!(await this.#queues.read(destination))) return { kind: 'destination-missing' };
      if (isFifoName(destination) !== isFifoName(name)) return { kind: 'other-type' };
    }
    const { accountId, region } = this.#context.settings;
    const id = messageIdFrom(this.#context.environment.random.bytes(16));
    const task = {
      id,
      toMove: counted.counts.visible,
      ...(destination !== undefined && {
        destinationArn: queueArn({ accountId, region, name: destination }),
      }),
      ...(messagesPerSecond !== undefined && { messagesPerSecond }),
    };
    // First, or nobody would go on with the task of a node that dies right after its start.
    const marked = await this.#context.environment.store.put(moveTaskKey(name, id), new Uint8Array());
    if (marked.kind === 'unknown') throw new Unavailable(`the task could not be marked: ${marked.reason}`);
    const outcome = await this.#queues.submit(name, { kind: 'start-move-task', task });
    if (outcome.kind === 'done') return { kind: 'started', id };
    await dropMarker(this.#context.environment, name, id);
    return outcome.kind === 'task-running' ? { kind: 'already-running' } : { kind: 'queue-missing' };
  }

  /** @throws StoreError, Unavailable */
  async list(name: string): Promise<MoveTasksSnapshot | QueueMissing> {
    const observed = await this.#queues.read(name);
    if (!observed) return { kind: 'queue-missing' };
    return { kind: 'tasks', tasks: observed.state.moveTasks.toReversed() };
  }

  /** @throws StoreError, Unavailable */
  async cancel(name: string, id: string): Promise<CancelMoveTaskOutcome> {
    const outcome = await this.#queues.submit(name, { kind: 'cancel-move-task', id });
    switch (outcome.kind) {
      case 'task-cancelled':
        return { kind: 'cancelled', moved: outcome.moved };
      case 'no-such-task':
      case 'queue-missing':
        return { kind: outcome.kind };
      default:
        throw new Error(`expected task-cancelled, got ${outcome.kind}`);
    }
  }

  async #isDeadLetterQueue(name: string): Promise<boolean> {
    const { names, endedEarly } = await this.#sources.find(name, { startAfter: undefined, limit: 1 });
    if (names.length === 0 && endedEarly)
      throw new Unavailable('there are more queues to look through than one call does; the next goes on');
    return names.length > 0;
  }
}
