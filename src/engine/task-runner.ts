/**
 * Takes the steps of a queue's move task (core/move-step.ts), one after the other at the task's rate; the mover brings each step's messages
 * to their queues. Any node may do it at any time and stop after any step.
 *
 * To a task under way a node is one of three:
 * - Its runner: it took the last step, which the task says, or started it. It takes the next one.
 * - Waiting: another is the runner. It leaves the task alone while that one goes on; after some patience without progress it becomes
 * - its successor, and takes steps, too. When the first has landed it is the runner.
 *
 * A step does something only while the task names whom its node takes for the runner. So once a successor's has landed, those of the old runner,
 * which was only stalled, and of other successors do nothing, however late and however often they are tried; their nodes see its name and wait.
 *
 * The rate is the task's, decided by each swap (core/move-task.ts). A runner also keeps it by its own monotonic clock: however
 * wrong the clocks that the swaps are decided by, nobody moves more than a second's worth too early.
 */

import type { CommandOutcome } from '../core/command.ts';
import type { WriterId } from '../core/ids.ts';
import { allowance, type MoveTask, pacedAfter, taskUnderWay, untilAllowed } from '../core/move-task.ts';
import { afterwards } from './afterwards.ts';
import type { CommitLoop } from './commit-loop.ts';
import type { EngineContext } from './context.ts';

const retryMinMillis = 100;
const retryMaxMillis = 5_000;
const pauseMinMillis = 20;
/** How long what keeps a step from being taken is waited for without a sign of change. */
const pauseMaxMillis = 1_000;
/** A task of a low rate gathers so much of it for one step, which takes two commits. */
const stepSeconds = 0.5;

export class TaskRunner {
  readonly #context: EngineContext;
  readonly #loop: CommitLoop;
  readonly #ended: (id: string) => void;
  readonly #stop: AbortSignal;
  #running = false;
  /** Under way when last looked at. */
  #seen: string | undefined;
  /** Whose steps this node takes, and whom it takes them after: itself, or its predecessor until the first has landed. */
  #own: { readonly id: string; readonly runner: WriterId } | undefined;
  /** By the monotonic clock, of what this node moved. */
  #pacedUntilMillis = Number.NEGATIVE_INFINITY;
  #wake = new AbortController();
  /** While another node runs the task. */
  #patience = new AbortController();
  /** The mover is about to make room for a whole step, in the very next commit. */
  #roomComes = false;
  /** The last step found nothing, in this state's intents: something has to be resolved first. */
  #foundNothing = false;
  /** Monotonic; since when only what can't be read is left. */
  #unreadableSince: number | undefined;

  /** `ended`: of a task that was seen under way. */
  constructor(context: EngineContext, loop: CommitLoop, ended: (id: string) => void, stop: AbortSignal) {
    this.#context = context;
    this.#loop = loop;
    this.#ended = ended;
    this.#stop = stop;
  }

  get idle(): boolean {
    return !this.#running;
  }

  /** After every change of the state. */
  start(): void {
    const underWay = this.#loop.ended ? undefined : taskUnderWay(this.#loop.view.current.state.moveTasks);
    if (this.#seen !== undefined && this.#seen !== underWay?.id && !this.#loop.ended) this.#ended(this.#seen);
    this.#seen = underWay?.id;
    // Started here while this waits for another node to go on with an earlier one.
    if (underWay?.runner === this.#loop.view.writer) this.#patience.abort();
    this.#wake.abort();
    if (this.#running || !this.#task() || this.#stop.aborted) return;
    this.#running = true;
    void afterwards(this.#run(), () => {
      this.#running = false;
      if (this.#task() && !this.#stop.aborted) this.start();
    });
  }

  /** The mover submits a resolution next: a step submitted now goes with it, and finds the room that it makes. */
  resolving(): void {
    if (!this.#running) return;
    this.#roomComes = true;
    this.#wake.abort();
  }

  /** Undefined when there is nothing to do but for the mover. */
  #task(): MoveTask | undefined {
    if (this.#loop.ended) return undefined;
    const task = taskUnderWay(this.#loop.view.current.state.moveTasks);
    return task?.status === 'running' && task.failureReason === undefined ? task : undefined;
  }

  async #run(): Promise<void> {
    const { environment } = this.#context;
    let failures = 0;
    for (let task = this.#task(); task && !this.#stop.aborted; task = this.#task()) {
      try {
        if (this.#isOwn(task) || (await this.#mayTakeOver(task))) await this.#go(task);
        failures = 0;
      } catch (error) {
        environment.log.warn('a message move task waits', { queue: this.#loop.view.name, error });
        const ceiling = Math.min(retryMaxMillis, retryMinMillis * 2 ** failures++);
        await environment.clock.sleep(ceiling * (0.5 + environment.random.unit() / 2), this.#stop);
      }
    }
  }

  #isOwn(task: MoveTask): boolean {
    const { id, runner } = task;
    if (runner === this.#loop.view.writer) {
      if (this.#own?.id !== id) this.#begin(task);
      // From here on no predecessor is followed a second time.
      this.#own = { id, runner };
    } else if (this.#own?.id !== id || this.#own.runner !== runner) this.#own = undefined;
    return this.#own !== undefined;
  }

  #begin({ id, runner }: MoveTask): void {
    this.#own = { id, runner };
    this.#foundNothing = false;
    this.#unreadableSince = undefined;
    this.#pacedUntilMillis = Number.NEGATIVE_INFINITY;
  }

  /** Whether nobody has moved anything of it for a while. @throws StoreError, Unavailable */
  async #mayTakeOver(task: MoveTask): Promise<boolean> {
    const { environment, settings } = this.#context;
    const patience = settings.timing.foreignTaskPatienceMillis * (1 + environment.random.unit());
    this.#patience = new AbortController();
    await environment.clock.sleep(patience, AbortSignal.any([this.#stop, this.#patience.signal]));
    if (this.#stop.aborted || !isSame(this.#task(), task)) return false;
    const refreshed = await this.#loop.view.refresh();
    // The queue is gone, or has changed: its loop has to learn that.
    if (refreshed.kind === 'ended') this.#loop.wantRead();
    if (refreshed.kind === 'ended' || !isSame(this.#task(), task)) return false;
    environment.log.info('a message move task is taken over', { queue: this.#loop.view.name, task: task.id });
    this.#begin(task);
    return true;
  }

  /** One step, or some waiting for it. @throws StoreError, Unavailable */
  async #go(task: MoveTask): Promise<void> {
    const { clock } = this.#context.environment;
    const count = this.#nextStep(task);
    if (typeof count !== 'number') return this.#pause(count.afterMillis);
    this.#roomComes = false;
    const lastTry = this.#isTired();
    const began = clock.monotonicMillis();
    // Until it is known that it moved less.
    const before = this.#pacedUntilMillis;
    this.#pacedUntilMillis = pacedAfter(this.#localPace(task), began, count);
    const outcome = await this.#loop.submit({
      kind: 'step-move-task',
      id: task.id,
      runner: task.runner,
      messagesMax: count,
      lastTry,
    });
    if (outcome.kind !== 'task-stepped') return;
    this.#pacedUntilMillis = before;
    if (outcome.given > 0) this.#pacedUntilMillis = pacedAfter(this.#localPace(task), began, outcome.given);
    await this.#conclude(outcome);
  }

  async #conclude({ given, unreadable }: CommandOutcome & { readonly kind: 'task-stepped' }): Promise<void> {
    this.#foundNothing = given === 0;
    if (!unreadable) {
      this.#unreadableSince = undefined;
      // Whatever it was kept from: never one commit after the other in vain.
      if (given === 0) await this.#pause(pauseMinMillis);
    } else {
      this.#unreadableSince ??= this.#context.environment.clock.monotonicMillis();
      await this.#context.environment.clock.sleep(retryMaxMillis, this.#stop);
    }
  }

  /** How many messages to ask for now, or how long to wait. */
  #nextStep(task: MoveTask): number | { readonly afterMillis: number } {
    const { view } = this.#loop;
    const { clock } = this.#context.environment;
    const { intentsMax } = this.#context.settings.limits;
    const { intents } = view.current.state;
    const { messagesPerSecond = Number.POSITIVE_INFINITY } = task;
    const wanted = Math.max(1, Math.min(intentsMax, Math.floor(messagesPerSecond * stepSeconds)));
    const nowMillis = view.time().nowMillis;
    const monotonic = clock.monotonicMillis();
    const local = this.#localPace(task);
    const afterMillis = Math.max(
      untilAllowed(task, nowMillis, wanted),
      untilAllowed(local, monotonic, wanted),
    );
    if (afterMillis > 0) return { afterMillis };
    const room = this.#roomComes ? intentsMax : intentsMax - intents.size;
    // Room comes with the mover's next resolution; what the last step was kept from, too.
    if (room < Math.ceil(wanted / 2)) return { afterMillis: pauseMaxMillis };
    if (this.#foundNothing && intents.size > 0 && !this.#roomComes) {
      this.#foundNothing = false;
      return { afterMillis: pauseMaxMillis };
    }
    return Math.min(intentsMax, allowance(local, monotonic));
  }

  #localPace({ messagesPerSecond }: MoveTask) {
    const pacedUntilMillis = this.#pacedUntilMillis;
    return messagesPerSecond === undefined ? { pacedUntilMillis } : { pacedUntilMillis, messagesPerSecond };
  }

  #isTired(): boolean {
    const { timing } = this.#context.settings;
    const now = this.#context.environment.clock.monotonicMillis();
    return this.#unreadableSince !== undefined && now - this.#unreadableSince > timing.unreadableTaskMillis;
  }

  async #pause(millis: number): Promise<void> {
    this.#wake = new AbortController();
    const woken = AbortSignal.any([this.#stop, this.#wake.signal]);
    await this.#context.environment.clock.sleep(Math.max(1, Math.min(millis, pauseMaxMillis)), woken);
  }
}

/** Nothing of it was moved between the two. */
function isSame(now: MoveTask | undefined, before: MoveTask): boolean {
  return (
    now?.id === before.id &&
    now.runner === before.runner &&
    now.moved === before.moved &&
    now.pacedUntilMillis === before.pacedUntilMillis
  );
}
