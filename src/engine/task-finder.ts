/**
 * Finds the move tasks of queues that nobody on this node asks for: a node that was killed may have been the only one with a loop on its
 * queue. Whoever starts a task puts an empty marker `t/<queue>/<task>` into the bucket first, and removes it when the task has ended. Every node lists the markers
 * and opens the loops of their queues, whose runners and movers do the rest (task-runner.ts, mover.ts).
 *
 * - A marker says nothing that must be true: one too many costs a GET, and without one a task waits for a call to its queue.
 * - It is removed when its task was seen to have ended, which is for ever; an unknown task may be about to start, so its marker stays for an hour.
 * - Bounded: a LIST a minute while calls come, and one in ten minutes otherwise; so many tasks are followed at one time.
 */

import { isUnderWay } from '../core/move-task.ts';
import { moveTasksPrefix, parseMoveTaskKey } from '../format/object-keys.ts';
import { type ListedObject, StoreError } from '../store/object-store.ts';
import type { EngineContext } from './context.ts';
import { logFailure } from './log-failure.ts';
import { ManifestRegister } from './manifest-register.ts';
import type { QueueRegistry } from './queue-registry.ts';
import { tasksFollowedMax } from './settings.ts';
import { dropMarker } from './task-marker.ts';

const readsAtOnceMax = 8;

export class TaskFinder {
  readonly #context: EngineContext;
  readonly #registry: QueueRegistry;
  readonly #stop: AbortSignal;
  #called = false;
  #followed = 0;

  constructor(context: EngineContext, registry: QueueRegistry, stop: AbortSignal) {
    this.#context = context;
    this.#registry = registry;
    this.#stop = stop;
  }

  /** A call has come: somebody uses this node. */
  called(): void {
    this.#called = true;
  }

  async run(): Promise<void> {
    const { clock, random, log } = this.#context.environment;
    const { taskListMillis, taskListIdleMillis } = this.#context.settings.timing;
    if (taskListMillis === Number.POSITIVE_INFINITY) return;
    while (!this.#stop.aborted) {
      const began = clock.monotonicMillis();
      try {
        await this.look();
      } catch (error) {
        logFailure(log, 'the markers of message move tasks could not be listed', error);
      }
      this.#called = false;
      do await clock.sleep(taskListMillis * (0.9 + 0.2 * random.unit()), this.#stop);
      while (!this.#stop.aborted && !this.#called && clock.monotonicMillis() - began < taskListIdleMillis);
    }
  }

  /** @throws StoreError, Unavailable */
  async look(): Promise<void> {
    const { store, log } = this.#context.environment;
    this.#followed = 0;
    let startAfter: string | undefined;
    do {
      const page = await store.list({
        prefix: moveTasksPrefix,
        ...(startAfter === undefined ? {} : { startAfter }),
      });
      for (let at = 0; at < page.objects.length && !this.#stop.aborted; at += readsAtOnceMax)
        await Promise.all(page.objects.slice(at, at + readsAtOnceMax).map((marker) => this.#follow(marker)));
      startAfter = page.truncated ? page.objects.at(-1)?.key : undefined;
    } while (startAfter !== undefined && !this.#stop.aborted && this.#followed < tasksFollowedMax);
    if (this.#followed >= tasksFollowedMax)
      log.warn('too many message move tasks are under way for this node to follow', {
        max: tasksFollowedMax,
      });
  }

  async #follow({ key, lastModified }: ListedObject): Promise<void> {
    const named = parseMoveTaskKey(key);
    if (!named || this.#followed >= tasksFollowedMax) return;
    const { queue, id } = named;
    try {
      const loop = await this.#registry.loopFor(queue);
      const task = loop?.view.current.state.moveTasks.find((each) => each.id === id);
      if (task && isUnderWay(task)) this.#followed++;
      else if (task) await dropMarker(this.#context.environment, queue, id);
      else if (await this.#isOld(lastModified.millis + lastModified.resolutionMillis))
        await this.#forget(queue, id);
      // Our view may be older than the task.
      else loop?.wantRead();
    } catch (error) {
      // One queue that can't be read must not keep the tasks of all others.
      if (error instanceof StoreError) throw error;
      const { log } = this.#context.environment;
      logFailure(log, 'the queue of a message move task cannot be read', error, { queue });
    }
  }

  async #isOld(millis: number): Promise<boolean> {
    const { time, environment, settings } = this.#context;
    await time.prime(environment.store);
    return millis < time.bounds().lowerMillis - settings.timing.tombstoneAgeMillis;
  }

  /** By a fresh read: the loop's view may be older than the task. */
  async #forget(queue: string, id: string): Promise<void> {
    const observed = await new ManifestRegister(this.#context.environment, queue).readQueue();
    const task = observed?.state.moveTasks.find((each) => each.id === id);
    if (!task || !isUnderWay(task)) await dropMarker(this.#context.environment, queue, id);
  }
}
