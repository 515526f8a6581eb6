/**
 * Commits one batch of commands: apply, load what is needed, swap; on a lost or unknown swap read, look first for
 * the attempts that may have landed, then apply on the fresh state (DESIGN.md section 3).
 *
 * Invariants
 * - Answers leave only with a landed swap, or from a state fresh enough for an outcome without effect (rule 5).
 * - While an attempt is unresolved the batch keeps its commands; a batch whose attempts can't be judged any more is
 *   given up, never applied again.
 * - Bounded in time: a store that is down makes the batch `unavailable`, not slow for ever.
 */
import type { Command, CommandResult } from '../core/command.ts';
import { brokenStep } from '../core/invariants.ts';
import type { QueueLimits } from '../core/limits.ts';
import type { ManifestContent, QueueState } from '../core/queue-state.ts';
import { apply } from '../core/transition.ts';
import { StoreError } from '../store/object-store.ts';
import { type Attempt, judgeAttempts } from './attempts.ts';
import { BatchResources } from './batch-resources.ts';
import { Unavailable } from './queue-api.ts';
import type { QueueView } from './queue-view.ts';

export interface BatchCommand {
  readonly command: Command;
  /** Monotonic time of arrival. */
  readonly arrivedAt: number;
}

export type BatchResult =
  | {
      readonly kind: 'answered';
      readonly results: readonly CommandResult[];
      readonly landed: Landed | undefined;
    }
  /** Retryable; it may have taken effect all the same when attempts were unresolved. */
  | { readonly kind: 'unavailable'; readonly reason: string; readonly ended: Ended | undefined }
  /** The incarnation ended before any of it was tried; the name now holds `content`. */
  | ({ readonly kind: 'ended' } & Ended);

export interface Ended {
  readonly content: ManifestContent | undefined;
}

export interface Landed {
  readonly before: QueueState;
  readonly next: ManifestContent;
}

/** Whether an empty receive may be answered from a state observed at `observedFrom` (the polling schedule). */
export type EmptyReceiveRule = (observedFrom: number, arrivedAt: number) => boolean;

const tokenSeedBytes = 8;
/** A crowd of eight loses this many in a row for one batch in two hundred. */
const lossesToAsk = 4;
const backoffMinMillis = 20;
const backoffMaxMillis = 1_000;

export class BatchCommit {
  readonly #view: QueueView;
  readonly #commands: readonly BatchCommand[];
  readonly #emptyMayRest: EmptyReceiveRule;
  readonly #resources: BatchResources;
  readonly #oldestArrival: number;
  /**
   * Of all its attempts: an upload takes time, by which the pace allows a longer tail. Judged anew, the batch would not need
   * what it uploaded, nor name it, and the next one would upload the same again.
   */
  readonly #limits: QueueLimits;
  #unresolved: readonly Attempt[] = [];
  #failures = 0;
  #lost = 0;
  #lastSwapBegan: number | undefined;
  #firstSwapLost: boolean | undefined;
  #lastFailure = 'the store did not answer in time';
  /** An attempt was lost or unknown since the last read. */
  #mustRead = false;

  constructor(view: QueueView, commands: readonly BatchCommand[], emptyMayRest: EmptyReceiveRule) {
    this.#view = view;
    this.#commands = commands;
    this.#emptyMayRest = emptyMayRest;
    this.#resources = new BatchResources(view);
    this.#limits = view.limits;
    this.#oldestArrival = Math.min(...commands.map(({ arrivedAt }) => arrivedAt));
  }

  /** Whether the view was stale when the first swap was sent; undefined: none was sent. */
  get firstSwapLost(): boolean | undefined {
    return this.#firstSwapLost;
  }

  /** Monotonic; of the latest swap, undefined when there was none. */
  get lastSwapBegan(): number | undefined {
    return this.#lastSwapBegan;
  }

  async run(): Promise<BatchResult> {
    this.#mustRead = this.#hasHandleFromTheFuture();
    for (;;) {
      if (this.#tooOld()) return unavailable(this.#lastFailure);
      try {
        const result = this.#mustRead ? await this.#read() : await this.#attempt();
        if (result) return result;
      } catch (error) {
        const reason = await this.#absorb(error);
        if (reason !== undefined) return unavailable(reason);
      }
    }
  }

  async #read(): Promise<BatchResult | undefined> {
    const view = this.#view;
    const before = view.current.state;
    const refreshed = await view.refresh();
    const fresh: ManifestContent | undefined =
      refreshed.kind === 'ended' ? refreshed.content : { kind: 'queue', state: view.current.state };
    const verdict = judgeAttempts(this.#unresolved, fresh, view.writer, view.incarnation);
    switch (verdict.kind) {
      case 'landed':
        view.context.counters.lateHits++;
        return this.#answered(verdict.attempt.results, { before, next: verdict.attempt.next });
      case 'lost-track':
        return unavailable(
          'it is not known whether the commit took effect',
          refreshed.kind === 'ended' ? { content: refreshed.content } : undefined,
        );
      case 'none':
        this.#unresolved = verdict.open;
    }
    if (refreshed.kind === 'ended') return { kind: 'ended', content: refreshed.content };
    this.#mustRead = false;
    return undefined;
  }

  async #attempt(): Promise<BatchResult | undefined> {
    const view = this.#view;
    const { environment, settings } = view.context;
    const base = view.current;
    // The view may have moved on while something was loaded, to a state that one of our attempts made.
    if (this.#unresolved.some((open) => open.version <= base.state.version)) {
      this.#mustRead = true;
      return undefined;
    }
    const attempt = view.nextAttempt();
    const appliedAt = environment.clock.monotonicMillis();
    const applied = apply({
      state: base.state,
      commands: this.#commands.map(({ command }) => command),
      time: view.time(),
      tokenSeed: environment.random.bytes(tokenSeedBytes),
      writer: { id: view.writer, attempt, roundMillis: view.roundMillis },
      resources: this.#resources,
      collectBelow: view.collectBelow(),
      // Else the outcome of an attempt that may land late is known only when somebody else commits.
      supersedes: this.#unresolved.length > 0,
      limits: this.#limits,
    });
    if (applied.kind === 'needs') {
      if ((await this.#resources.fetch(applied.needs)) === 'stale') this.#mustRead = true;
      return undefined;
    }
    if (!applied.changed) {
      if (!this.#isFreshEnough(applied.results)) {
        this.#mustRead = true;
        return undefined;
      }
      return this.#answered(applied.results, undefined);
    }
    this.#check(base.state, applied.next);
    // A process paused here for long would swap in times of the past: apply anew instead.
    if (environment.clock.monotonicMillis() - appliedAt > settings.timing.attemptAgeMaxMillis)
      return undefined;
    return this.#swap({
      number: attempt,
      version: base.state.version + 1,
      next: applied.next,
      results: applied.results,
    });
  }

  async #swap(attempt: Attempt): Promise<BatchResult | undefined> {
    const view = this.#view;
    const { counters } = view.context;
    const base = view.current;
    this.#lastSwapBegan = view.context.environment.clock.monotonicMillis();
    const result = await view.swap(attempt.next);
    this.#firstSwapLost ??= result.kind === 'lost';
    if (result.kind === 'done') {
      if (attempt.next.kind === 'queue') view.adopt(attempt.next.state, result.etag, result.observedFrom);
      return this.#answered(attempt.results, { before: base.state, next: attempt.next });
    }
    this.#unresolved = [...this.#unresolved, attempt];
    this.#mustRead = true;
    if (result.kind === 'lost') {
      counters.conflicts++;
      if (++this.#lost >= lossesToAsk) view.askForTurn();
      return undefined;
    }
    counters.unknowns++;
    this.#lastFailure = result.reason;
    await this.#backOff(result.throttled);
    return undefined;
  }

  #answered(results: readonly CommandResult[], landed: Landed | undefined): BatchResult {
    const { counters } = this.#view.context;
    if (landed) {
      counters.commits++;
      this.#view.leaveTurns();
      counters.commands += results.length;
    }
    return { kind: 'answered', results, landed };
  }

  #check(current: QueueState, next: ManifestContent): void {
    const broken = next.kind === 'queue' ? brokenStep(current, next.state) : undefined;
    if (broken !== undefined) throw new Error(`a commit of queue ${this.#view.name} is wrong: ${broken}`);
  }

  #isFreshEnough(results: readonly CommandResult[]): boolean {
    const { observedFrom } = this.#view.current;
    return results.every(({ outcome, effect }, index) => {
      if (effect) return true;
      const { arrivedAt, command } = this.#commands[index]!;
      if (observedFrom >= arrivedAt) return true;
      // What it asks for once more may have been handed out since.
      if (command.kind === 'receive' && command.attempt !== undefined) return false;
      return outcome.kind === 'received' && this.#emptyMayRest(observedFrom, arrivedAt);
    });
  }

  /** A lease made after the state we know: that state would call a valid handle superseded. */
  #hasHandleFromTheFuture(): boolean {
    const { version } = this.#view.current.state;
    return this.#commands.some(({ command }) => {
      if (command.kind === 'delete' || command.kind === 'release')
        return command.handles.some((handle) => handle.leaseVersion > version);
      if (command.kind === 'change-visibility')
        return command.entries.some(({ handle }) => handle.leaseVersion > version);
      return false;
    });
  }

  #tooOld(): boolean {
    const { clock } = this.#view.context.environment;
    const { commandAgeMaxMillis, unresolvedAgeMaxMillis } = this.#view.context.settings.timing;
    const age = clock.monotonicMillis() - this.#oldestArrival;
    return age > (this.#unresolved.length === 0 ? commandAgeMaxMillis : unresolvedAgeMaxMillis);
  }

  /** The reason to give up at once, or undefined after waiting a little. Rethrows what is our own mistake. */
  async #absorb(error: unknown): Promise<string | undefined> {
    if (error instanceof Unavailable) return error.message;
    if (!(error instanceof StoreError)) throw error;
    this.#lastFailure = error.message;
    if (!error.retryable && this.#unresolved.length === 0) return error.message;
    await this.#backOff(error.throttled);
    return undefined;
  }

  /** Full jitter. Never after a plain conflict: backing off starves the loser. */
  #backOff(throttled: boolean): Promise<void> {
    const { clock, random } = this.#view.context.environment;
    const ceiling = Math.min(backoffMaxMillis, backoffMinMillis * 2 ** this.#failures++);
    return clock.sleep((throttled ? ceiling * 2 : ceiling) * (0.5 + random.unit() / 2));
  }
}

function unavailable(reason: string, ended?: Ended): BatchResult {
  return { kind: 'unavailable', reason, ended };
}
