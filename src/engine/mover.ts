/**
 * Walks a queue's intents to their targets: append there, then remove here (core/redrive.ts). Any node may do it at
 * any time and stop after any step: the target appends each number once, and only while the source still holds its
 * intent. A node moves its own intents at once and those of others, who may have crashed, after some patience.
 */

import type { MovedMessage } from '../core/command.ts';
import { type Incarnation, messageIdBytes, messageIdFrom } from '../core/ids.ts';
import { contentBytesOf } from '../core/message-size.ts';
import { taskUnderWay } from '../core/move-task.ts';
import { queueArn } from '../core/queue-arn.ts';
import type { Intent, QueueState } from '../core/queue-state.ts';
import { afterwards } from './afterwards.ts';
import type { CommitLoop } from './commit-loop.ts';
import type { EngineContext } from './context.ts';
import { ManifestRegister } from './manifest-register.ts';
import { readBody } from './read-body.ts';
import { batchBytesMax } from './settings.ts';
import type { TaskRunner } from './task-runner.ts';

export type LoopLookup = (name: string) => Promise<CommitLoop | undefined>;

const retryMinMillis = 100;
const retryMaxMillis = 5_000;

export class Mover {
  readonly #context: EngineContext;
  readonly #loop: CommitLoop;
  readonly #loopFor: LoopLookup;
  readonly #tasks: Pick<TaskRunner, 'resolving'>;
  readonly #stop: AbortSignal;
  #running = false;
  /** While only intents of others are known. */
  #patience: AbortController | undefined;

  constructor(
    context: EngineContext,
    loop: CommitLoop,
    loopFor: LoopLookup,
    tasks: Pick<TaskRunner, 'resolving'>,
    stop: AbortSignal,
  ) {
    this.#context = context;
    this.#loop = loop;
    this.#loopFor = loopFor;
    this.#tasks = tasks;
    this.#stop = stop;
  }

  get idle(): boolean {
    return !this.#running;
  }

  /** `own`: a commit of this process made some of them. */
  start(own: boolean): void {
    if (own) this.#patience?.abort();
    if (this.#running || this.#intents().size === 0) return;
    this.#running = true;
    void afterwards(this.#run(own), () => {
      this.#running = false;
      if (!this.#stop.aborted) this.start(true);
    });
  }

  #intents(): QueueState['intents'] {
    return this.#loop.ended ? new Map() : this.#loop.view.current.state.intents;
  }

  async #run(own: boolean): Promise<void> {
    const { environment } = this.#context;
    if (!own && !this.#isAnothersTask()) await this.#bePatient();
    let failures = 0;
    while (this.#intents().size > 0 && !this.#stop.aborted) {
      if (this.#isAnothersTask() && !(await this.#stands())) continue;
      const problem = await this.#moveToEach();
      if (!problem) failures = 0;
      else {
        environment.log.warn('dead letters wait', { queue: this.#loop.view.name, error: problem.error });
        const ceiling = Math.min(retryMaxMillis, retryMinMillis * 2 ** failures++);
        await environment.clock.sleep(ceiling * (0.5 + environment.random.unit() / 2), this.#stop);
      }
    }
  }

  /** A target that fails keeps no other waiting; the last problem, if any. */
  async #moveToEach(): Promise<{ readonly error: unknown } | undefined> {
    let problem: { readonly error: unknown } | undefined;
    for (const target of new Set([...this.#intents().values()].map((intent) => intent.targetIncarnation)))
      try {
        await this.#moveTo(target);
      } catch (error) {
        problem = { error };
      }
    return problem;
  }

  async #bePatient(): Promise<void> {
    const { environment, settings } = this.#context;
    this.#patience = new AbortController();
    const ended = AbortSignal.any([this.#stop, this.#patience.signal]);
    await environment.clock.sleep(settings.timing.foreignIntentPatienceMillis, ended);
    this.#patience = undefined;
    if (this.#intents().size > 0) await this.#loop.view.refresh().catch(() => undefined);
  }

  /** All are of a move task that another node runs: it makes new ones as long as it lives, and brings them there. */
  #isAnothersTask(): boolean {
    const intents = this.#intents();
    if (intents.size === 0) return false;
    for (const { redriven } of intents.values()) if (!redriven) return false;
    const { view } = this.#loop;
    return taskUnderWay(view.current.state.moveTasks)?.runner !== view.writer;
  }

  /** Whether one of its messages was not moved for as long as our patience lasts. */
  async #stands(): Promise<boolean> {
    const before = this.#intents();
    await this.#bePatient();
    for (const [sequence, { number }] of this.#intents())
      if (before.get(sequence)?.number === number) return true;
    return false;
  }

  async #moveTo(targetIncarnation: Incarnation): Promise<void> {
    const { state } = this.#loop.view.current;
    const { name, incarnation } = this.#loop.view;
    const queueName = state.outgoingLinks.get(targetIncarnation)?.queueName;
    if (queueName === undefined) throw new Error(`an intent of queue ${name} has no link`);
    const target = await this.#loopFor(queueName);
    if (!target || target.view.incarnation !== targetIncarnation) {
      if (!(await this.#isGone(queueName, targetIncarnation))) {
        target?.wantRead();
        throw new Error(`our view of queue ${queueName} is behind`);
      }
      await this.#loop.submit({ kind: 'return-moves', targetIncarnation });
      return;
    }
    const messages = await this.#messages(state, targetIncarnation);
    const { accountId, region } = this.#context.settings;
    const source = { name, incarnation, arn: queueArn({ accountId, region, name }) };
    const bytes = messages.reduce((sum, moved) => sum + moved.contentBytes, 0);
    const outcome = await target.submit({ kind: 'append-moved', source, messages }, bytes);
    if (outcome.kind !== 'appended') return;
    const moved = messages.filter(({ number }) => number <= outcome.through).length;
    if (moved === 0) {
      // What we know of our own intents is stale: another node has moved them.
      const refreshed = await this.#loop.view.refresh();
      // The queue is gone: its loop has to learn that, or this would go on for ever.
      if (refreshed.kind === 'ended') this.#loop.wantRead();
      if (refreshed.kind !== 'changed') throw new Error(`queue ${queueName} does not take the next number`);
      return;
    }
    this.#context.counters.movedMessages += moved;
    if (messages.some(({ redriven }) => redriven)) this.#tasks.resolving();
    await this.#loop.submit({ kind: 'resolve-moves', targetIncarnation, through: outcome.through });
  }

  /** By a read of its own: the loop we were given may be behind. */
  async #isGone(queueName: string, targetIncarnation: Incarnation): Promise<boolean> {
    const observed = await new ManifestRegister(this.#context.environment, queueName).readQueue();
    return observed?.state.incarnation !== targetIncarnation;
  }

  async #messages(state: QueueState, targetIncarnation: Incarnation): Promise<MovedMessage[]> {
    const waiting = [...state.intents].filter(([, intent]) => intent.targetIncarnation === targetIncarnation);
    waiting.sort(([, a], [, b]) => a.number - b.number);
    const messages: MovedMessage[] = [];
    let bytes = 0;
    // As many as one commit of the target may carry; the rest follows.
    for (const [sequence, intent] of waiting) {
      const moved = await this.#message(state, sequence, intent);
      bytes += moved.contentBytes;
      if (messages.length > 0 && bytes > batchBytesMax) break;
      messages.push(moved);
    }
    return messages;
  }

  async #message(state: QueueState, sequence: number, intent: Intent): Promise<MovedMessage> {
    const message = await readBody(this.#context, this.#loop.view.name, state, sequence);
    const { number, receiveCount, firstReceivedAtMillis, redriven } = intent;
    const contentBytes = contentBytesOf(message);
    const from = { number, contentBytes, receiveCount, firstReceivedAtMillis };
    if (!redriven) return { ...from, message };
    // A new message: of those that other attempts draw one lands.
    const messageId = messageIdFrom(this.#context.environment.random.bytes(messageIdBytes));
    return { ...from, message: { ...message, messageId }, redriven };
  }
}
