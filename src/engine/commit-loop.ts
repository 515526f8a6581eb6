/**
 * The single-flight loop of one queue in this process: collects commands, commits them in batches, parks receives
 * that found nothing and looks for their messages. A loop lives as long as its queue's incarnation.
 *
 * One commit carries everything: parked receives join the batch that brings them messages, so a message can be
 * stored and leased by one swap.
 *
 * Kept in one file: collecting, parking and watching hand the same commands to each other, and the order in which
 * they do is what has to be understood at once.
 */

import type { Command } from '../core/command.ts';
import { hasVisible, nextVisibleAt } from '../core/counts.ts';
import { isFifoName } from '../core/queue-arn.ts';
import { type QueueAttributes, resolveAttributes } from '../core/queue-attributes.ts';
import { StoreError } from '../store/object-store.ts';
import { afterwards } from './afterwards.ts';
import { BatchCommit, type BatchResult, type Landed } from './batch-commit.ts';
import type { EngineContext } from './context.ts';
import { commitAt, Linger, windowMillis } from './linger.ts';
import type { ObservedQueue } from './manifest-register.ts';
import type { Sighting, WatchedQueue } from './manifest-watch.ts';
import {
  awake,
  fittingBatch,
  type LoopOutcome,
  nothingReceived,
  type PendingCommand,
  type Poll,
  type ReceiveOptions,
  ReceiveWaiters,
  unreadableWords,
} from './pending.ts';
import { PollSchedule } from './poll-schedule.ts';
import { Unavailable } from './queue-api.ts';
import { QueueView } from './queue-view.ts';
import { batchBytesMax, betweenReceivesMillis, pendingBytesMax, pendingCommandsMax } from './settings.ts';
import { Staleness } from './staleness.ts';
import { VainReceives } from './vain-receives.ts';
import { messagesWanted } from './wanted.ts';

export interface LoopEvents {
  /** After every landed commit, and after a read that brought a new state. */
  changed(loop: CommitLoop, landed: Landed | undefined): void;
  /** `landed`: it ended by our own tombstone. */
  ended(loop: CommitLoop, landed: Landed | undefined): void;
}

/** Given as a reason, since without one each abort would make an exception with a stack. */
const woken = 'woken';

export class CommitLoop implements WatchedQueue {
  readonly view: QueueView;
  readonly #context: EngineContext;
  readonly #events: LoopEvents;
  readonly #stop: AbortSignal;
  readonly #linger: Linger;
  readonly #schedule: PollSchedule;
  readonly #staleness = new Staleness();
  /** How often a look at the queue showed another content. */
  readonly #changes = new Staleness();
  /** Monotonic; of the last LIST that showed the present content. */
  #sightedFrom = Number.NEGATIVE_INFINITY;
  /** Monotonic; of the last commit. */
  #lastSwapBegan = Number.NEGATIVE_INFINITY;
  /** The present window: what a command waits for company at most. */
  #windowMillis: number;
  readonly #waiters = new ReceiveWaiters();
  #pending: PendingCommand[] = [];
  #pendingBytes = 0;
  #running = false;
  #readWanted = false;
  #ended = false;
  #watching = false;
  #watchWake = new AbortController();
  /** Monotonic; when the last receive ended that could wait. */
  #waitedUntil = Number.NEGATIVE_INFINITY;
  /** How long receives without a wait of their own wait, and the attributes that say so. */
  #wait: { readonly attributes: QueueAttributes; readonly seconds: number };
  readonly #vain: VainReceives;
  readonly #fifo: boolean;
  /** A look at a FIFO queue found visible messages: whether they can be had is for the receives to say that it wakes. */
  #lookToJudge = false;

  /** `stop`: the process ends, no receive may wait any more. */
  constructor(
    context: EngineContext,
    events: LoopEvents,
    name: string,
    observed: ObservedQueue,
    stop: AbortSignal,
  ) {
    this.#context = context;
    this.#events = events;
    this.#stop = stop;
    this.view = new QueueView(context, name, observed);
    this.#fifo = isFifoName(name);
    this.#vain = new VainReceives(context.settings.timing.pollMaxMillis);
    this.#wait = waitOf(this.view);
    this.#linger = new Linger(context.environment.clock);
    this.#windowMillis = context.settings.lingerMillis;
    this.#schedule = new PollSchedule(context.settings.timing, context.environment.random);
  }

  get ended(): boolean {
    return this.#ended;
  }

  get idle(): boolean {
    return !this.#running && this.#pending.length === 0 && this.#waiters.size === 0;
  }

  /** Idle, and not just between two receives of a client that waits without end: the next one would have to read it. */
  get forgettable(): boolean {
    return this.idle && this.#now() - this.#waitedUntil > betweenReceivesMillis;
  }

  get name(): string {
    return this.view.name;
  }

  get waited(): boolean {
    return this.#waiters.size > 0 && !this.#ended;
  }

  get intervalMillis(): number {
    return this.#schedule.intervalMillis;
  }

  get changedShare(): number {
    return this.#changes.share;
  }

  lookAt(): number {
    return this.#schedule.pollAt(Math.max(this.view.current.observedFrom, this.#sightedFrom));
  }

  sighted({ tag, began, jitter }: Sighting): void {
    if (this.#ended) return;
    const { etag, observedFrom } = this.view.current;
    if (tag === etag) {
      this.#sightedFrom = Math.max(this.#sightedFrom, began);
      if (this.waited) {
        this.#schedule.polled(false, jitter);
        this.#changes.sampled(false);
      }
    } else if (this.waited && !this.#running && observedFrom < began) {
      // What was seen or written since the LIST began may be newer than what it shows; a commit under way will see.
      this.wantRead();
    }
    this.#watchWake.abort(woken);
  }

  unsighted(): void {
    this.#watchWake.abort(woken);
  }

  /** Rejects with Unavailable when the store does not answer or a bound is reached. */
  submit(command: Command, bytes = 0): Promise<LoopOutcome> {
    return this.#enqueue(command, bytes, undefined);
  }

  receive(
    command: Omit<Command & { readonly kind: 'receive' }, 'kind' | 'waits'>,
    options: ReceiveOptions,
  ): Promise<LoopOutcome> {
    this.#learnWait();
    const waitSeconds = () => options.waitSeconds ?? this.#wait.seconds;
    const deadline = () => options.since + waitSeconds() * 1000;
    const full: Command = { kind: 'receive', ...command, waits: waitSeconds() > 0 };
    const poll = { deadline, signal: options.signal };
    const { state } = this.view.current;
    // What an attempt may repeat is not visible.
    const nothingYet =
      command.attempt === undefined &&
      (messagesWanted([], state, this.view.time().nowMillis) === 0 ||
        (this.#fifo && this.#vain.restMillis(state, this.#now()) > 0));
    const outcome = full.waits && nothingYet ? this.#park(full, poll) : this.#enqueue(full, 0, poll);
    // One signal may serve call after call: it must not gather a listener from each.
    const gone = () => this.#tidyWaiters();
    options.signal.addEventListener('abort', gone, { once: true });
    return afterwards(outcome, () => {
      options.signal.removeEventListener('abort', gone);
      if (full.waits) this.#waitedUntil = this.#now();
    });
  }

  /**
   * Another node may have set another wait. Whose time is up by a shorter one has not been answered by any state that
   * says so: as a short poll, by a commit on what is visible now.
   */
  #learnWait(): void {
    if (this.#wait.attributes === this.view.current.state.attributes) return;
    this.#wait = waitOf(this.view);
    this.#pending.push(...awake(this.#waiters.takeExpired(this.#now()), this.#now()));
    if (this.#pending.length > 0) this.#kick();
  }

  /** Reads the manifest soon, to learn what other nodes did. */
  wantRead(): void {
    this.#readWanted = true;
    this.#kick();
  }

  /** Waiting receives end empty; what is pending is committed without lingering. */
  async drain(): Promise<void> {
    for (const waiter of this.#waiters.take(this.#waiters.size)) waiter.answer(nothingReceived);
    this.#linger.cut();
    while (!this.idle && !this.#ended) await this.#context.environment.clock.sleep(5);
  }

  #enqueue(command: Command, bytes: number, poll: PendingCommand['poll']): Promise<LoopOutcome> {
    if (this.#ended) return Promise.resolve({ kind: 'loop-ended' });
    if (this.#isFull(bytes))
      return Promise.reject(new Unavailable(`too much waits for queue ${this.view.name} on this node`));
    return new Promise((answer, fail) => {
      this.#pending.push({ command, arrivedAt: this.#now(), bytes, poll, answer, fail });
      this.#pendingBytes += bytes;
      if (this.#pendingBytes >= batchBytesMax) this.#linger.cut();
      this.#kick();
    });
  }

  /** What could not be committed in time is refused at the door, before it has cost anything. */
  #isFull(bytes: number): boolean {
    const first = this.#pending[0];
    if (!first) return false;
    if (this.#pending.length >= pendingCommandsMax || this.#pendingBytes + bytes > pendingBytesMax)
      return true;
    const { settings } = this.#context;
    const waitedMillis = this.#now() - first.arrivedAt - this.#windowMillis;
    return waitedMillis > settings.timing.commandAgeMaxMillis / 2;
  }

  /** Straight to the waiters: nothing to commit for, and the watch looks at the store when that is due. */
  #park(command: Command, poll: Poll): Promise<LoopOutcome> {
    if (this.#ended) return Promise.resolve({ kind: 'loop-ended' });
    if (this.#stop.aborted) return Promise.resolve(nothingReceived);
    return new Promise((answer, fail) => {
      this.#waiters.park({ command, arrivedAt: this.#now(), bytes: 0, poll, answer, fail });
      this.#watchWake.abort(woken);
      this.#watch();
    });
  }

  #kick(): void {
    if (this.#running || this.#ended) return;
    this.#running = true;
    void afterwards(this.#run(), () => {
      this.#running = false;
      if (this.#pending.length > 0) this.#kick();
      this.#watchWake.abort(woken);
      this.#watch();
    });
  }

  async #run(): Promise<void> {
    while (!this.#ended) {
      const first = this.#pending[0];
      if (first) {
        const readFirst = await this.#gather(first);
        if (!this.#ended) await this.#commit(this.#takeBatch(), readFirst);
      } else if (this.#readWanted) {
        this.#readWanted = false;
        await this.#poll();
      } else break;
    }
  }

  /** Waits for company, and looks at the manifest first when what we know of it is likely stale. */
  async #gather(first: PendingCommand): Promise<boolean> {
    const { lingerMillis, readPriceShare } = this.#context.settings;
    const crowd = this.view.crowdPace();
    this.#windowMillis = windowMillis(lingerMillis, crowd);
    const at = commitAt(first.arrivedAt, {
      lastSwapBegan: this.#lastSwapBegan,
      windowMillis: this.#windowMillis,
      crowded: crowd.others > 0,
    });
    const readFirst = this.#staleness.share > readPriceShare;
    await this.#linger.until(readFirst ? at - this.view.readMillis : at, () => this.#pendingBytes);
    if (readFirst) await this.#readFirst();
    return readFirst;
  }

  async #readFirst(): Promise<void> {
    try {
      const refreshed = await this.view.refresh();
      if (refreshed.kind === 'ended') return this.#end([]);
      this.#staleness.sampled(refreshed.kind === 'changed');
    } catch (error) {
      // The commit will find out, and knows what to answer.
      if (!(error instanceof StoreError || error instanceof Unavailable)) throw error;
    }
  }

  #takeBatch(): PendingCommand[] {
    const { count, bytes, room } = fittingBatch(this.#pending);
    const batch = this.#pending.splice(0, count).filter((pending) => this.#stillWanted(pending));
    this.#pendingBytes -= bytes;
    if (this.#waiters.size === 0) return batch;
    this.#waiters.endExpired(this.#now());
    const wanted = messagesWanted(
      batch.map(({ command }) => command),
      this.view.current.state,
      this.view.time().nowMillis,
    );
    return [...batch, ...this.#wake(wanted, wanted > room ? room : undefined)];
  }

  #wake(count: number, deliveriesMax?: number): PendingCommand[] {
    return awake(this.#waiters.take(count, deliveriesMax), this.#now());
  }

  #stillWanted(pending: PendingCommand): boolean {
    if (pending.poll?.signal.aborted) {
      pending.answer(nothingReceived);
      return false;
    }
    // Left behind by a batch that took long: alone, or its age would end the whole batch it came into.
    if (this.#now() - pending.arrivedAt <= this.#context.settings.timing.commandAgeMaxMillis) return true;
    pending.fail(new Unavailable('the store did not answer in time'));
    return false;
  }

  async #commit(batch: readonly PendingCommand[], readFirst: boolean): Promise<void> {
    if (batch.length === 0) return;
    let result: BatchResult;
    const { reads } = this.view;
    try {
      const mayRest = (observedFrom: number) => this.#now() < this.#schedule.dueAt(observedFrom);
      const commit = new BatchCommit(this.view, batch, mayRest);
      result = await commit.run();
      this.#lastSwapBegan = commit.lastSwapBegan ?? this.#lastSwapBegan;
      // After a read first, a swap that won says nothing of how stale the view had been.
      const { firstSwapLost } = commit;
      if (firstSwapLost || (firstSwapLost === false && !readFirst)) this.#staleness.sampled(firstSwapLost);
    } catch (error) {
      // Our own mistake: it stops this commit, not the queue.
      this.#context.environment.log.error('a commit failed', { queue: this.view.name, error });
      for (const pending of batch) pending.fail(error);
      return;
    }
    switch (result.kind) {
      case 'answered':
        this.#notePolls(result, this.view.reads > reads);
        this.#answer(batch, result);
        break;
      case 'unavailable':
        for (const pending of batch) pending.fail(new Unavailable(result.reason));
        if (result.ended) this.#end([]);
        break;
      case 'ended':
        this.#end(batch);
    }
  }

  #answer(
    batch: readonly PendingCommand[],
    { results, landed }: BatchResult & { readonly kind: 'answered' },
  ): void {
    this.#learnWait();
    const parked: PendingCommand[] = [];
    batch.forEach((pending, index) => {
      const { outcome } = results[index]!;
      if (outcome.kind === 'received' && outcome.messages.length === 0 && this.#mayWait(pending))
        parked.push(pending);
      else if (outcome.kind === 'received' && outcome.messages.length === 0 && outcome.unreadable)
        pending.fail(new Unavailable('messages are there, but their bodies cannot be read now'));
      else if (outcome.kind === 'unreadable')
        pending.fail(new Unavailable(unreadableWords(pending.command.kind)));
      else pending.answer(outcome);
    });
    this.#waiters.parkFirst(parked);
    if (landed?.next.kind === 'tombstone') this.#end([], landed);
    else this.#stateChanged(landed);
  }

  /** A receive that read the manifest was a poll; one in vain must not be woken again by the same state at once. */
  #notePolls({ results, landed }: BatchResult & { readonly kind: 'answered' }, read: boolean): void {
    const received = results.flatMap(({ outcome }) => (outcome.kind === 'received' ? [outcome] : []));
    if (received.length === 0) return;
    const found = received.some(({ messages }) => messages.length > 0);
    if (read || this.#lookToJudge) this.#schedule.polled(found);
    this.#lookToJudge = false;
    // All of a batch share one walk: where one of them finds nothing, the others left nothing that can be had.
    const inVain = this.#fifo ? received.some(({ messages }) => messages.length === 0) : !found && !landed;
    if (!inVain) return;
    const state = landed?.next.kind === 'queue' ? landed.next.state : this.view.current.state;
    const { nowMillis } = this.view.time();
    if (messagesWanted([], state, nowMillis) === 0) return;
    const now = this.#now();
    this.#vain.note(state, { triedMillisAgo: landed ? now - this.#lastSwapBegan : 0, nowMillis, now });
  }

  #mayWait({ poll }: PendingCommand): boolean {
    return poll !== undefined && !poll.signal.aborted && !this.#stop.aborted && poll.deadline() > this.#now();
  }

  #stateChanged(landed: Landed | undefined): void {
    this.#learnWait();
    this.#events.changed(this, landed);
    this.#watchWake.abort(woken);
    this.#watch();
  }

  async #poll(): Promise<void> {
    try {
      const refreshed = await this.view.refresh();
      if (refreshed.kind === 'ended') return this.#end([]);
      // What was visible before and nobody could take (in-flight bound, unreadable bodies) is no reason to hurry.
      const changed = refreshed.kind === 'changed';
      this.#changes.sampled(changed);
      const visible = changed && hasVisible(this.view.current.state, this.view.time().nowMillis);
      this.#lookToJudge = this.#fifo && visible;
      if (!this.#lookToJudge) this.#schedule.polled(visible);
      if (changed) this.#stateChanged(undefined);
      else this.#watchWake.abort(woken);
    } catch (error) {
      if (!(error instanceof StoreError || error instanceof Unavailable)) throw error;
      this.#schedule.failed(this.#now());
      this.#watchWake.abort(woken);
    }
  }

  /** While receives are parked: wakes them when a message is or becomes visible, polls, and ends them in time. */
  #watch(): void {
    if (this.#watching || this.#waiters.size === 0 || this.#ended) return;
    this.#watching = true;
    void afterwards(this.#watchWaiters(), () => {
      this.#watching = false;
      if (this.#waiters.size > 0) this.#watch();
    });
  }

  async #watchWaiters(): Promise<void> {
    while (!this.#ended) {
      this.#waiters.endExpired(this.#now());
      if (this.#waiters.size === 0) return;
      this.#watchWake = new AbortController();
      const { state } = this.view.current;
      const { nowMillis } = this.view.time();
      const now = this.#now();
      const vainIn = this.#vain.restMillis(state, now);
      const wanted = this.#running ? 0 : messagesWanted([], state, nowMillis);
      if (wanted > 0 && vainIn <= 0) {
        this.#pending.push(...this.#wake(wanted));
        this.#kick();
        continue;
      }
      const visibleIn = (nextVisibleAt(state, nowMillis) ?? Number.POSITIVE_INFINITY) - nowMillis;
      const lookIn = this.#running ? Number.POSITIVE_INFINITY : this.#look(now) - now;
      const againIn = wanted > 0 ? vainIn : Number.POSITIVE_INFINITY;
      const sleepMillis = Math.min(visibleIn, lookIn, againIn, this.#waiters.earliestDeadline() - now);
      await this.#context.environment.clock.sleep(
        Math.max(1, Math.ceil(sleepMillis)),
        this.#watchWake.signal,
      );
    }
  }

  /** Looks at the store when that is due, alone or with others. Monotonic; when to come back without an answer. */
  #look(now: number): number {
    const dueAt = this.lookAt();
    if (dueAt > now) return dueAt;
    const listedBy = this.#context.watch.due(this);
    if (listedBy !== undefined) return listedBy;
    this.wantRead();
    return Number.POSITIVE_INFINITY;
  }

  #tidyWaiters(): void {
    this.#waiters.endExpired(this.#now());
  }

  /**
   * Parked polls of a past incarnation end. Commands that were never tried look again: what ended this loop may have
   * been read before they came, and the name may hold another queue since.
   */
  #end(untried: readonly PendingCommand[], landed?: Landed): void {
    this.#ended = true;
    for (const pending of [...untried, ...this.#pending.splice(0)]) pending.answer({ kind: 'loop-ended' });
    // A poll that came after our last look may have come to the next incarnation already.
    const { observedFrom } = this.view.current;
    for (const waiter of this.#waiters.take(this.#waiters.size))
      waiter.answer({ kind: waiter.arrivedAt > observedFrom ? 'loop-ended' : 'queue-missing' });
    this.#watchWake.abort(woken);
    this.#events.ended(this, landed);
  }

  #now(): number {
    return this.#context.environment.clock.monotonicMillis();
  }
}

function waitOf({ current }: QueueView): { attributes: QueueAttributes; seconds: number } {
  const { attributes } = current.state;
  return { attributes, seconds: resolveAttributes(attributes).receiveWaitSeconds };
}
