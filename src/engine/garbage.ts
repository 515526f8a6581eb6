/**
 * The short way of collection: segments and pages that this loop's own commits dropped, deleted by key without LIST once
 * `collectedBelow` has passed their base version (DESIGN.md section 5 †). One rule for all deletions, so that this loop
 * need not know who could still name an object as old. As long as a batch names its uploads in one landed commit and
 * is then over, nobody could, once it was named and dropped; a reference that moves between objects would change that.
 * Whatever is missed here (a crash, another node's drops) the sweep finds.
 */

import type { QueueState } from '../core/queue-state.ts';
import { objectKey } from '../format/object-keys.ts';
import { StoreError } from '../store/object-store.ts';
import { afterwards } from './afterwards.ts';
import type { Landed } from './batch-commit.ts';
import type { CommitLoop } from './commit-loop.ts';
import type { EngineContext } from './context.ts';
import { droppedBetween, type NamedObject, namedBy, nameOf, names } from './named-objects.ts';

/** More than the lag, so that the tidy commit that a quiet queue gets can raise `collectedBelow` far enough. */
const tidyAfterLagFactor = 1.5;

export class Garbage {
  readonly #context: EngineContext;
  readonly #loop: CommitLoop;
  readonly #stop: AbortSignal;
  readonly #dropped = new Map<string, NamedObject>();
  #tidying = false;

  constructor(context: EngineContext, loop: CommitLoop, stop: AbortSignal) {
    this.#context = context;
    this.#loop = loop;
    this.#stop = stop;
  }

  get idle(): boolean {
    return this.#dropped.size === 0;
  }

  landed({ before, next }: Landed): void {
    if (next.kind !== 'queue') {
      // Our own tombstone is the proof that the incarnation is over.
      for (const object of namedBy(before)) void this.#delete(object);
      return;
    }
    for (const object of droppedBetween(before, next.state)) this.#dropped.set(nameOf(object), object);
    if (this.#dropped.size === 0) return;
    this.#collect(next.state);
    this.#tidyLater();
  }

  #collect(state: QueueState): void {
    for (const [name, object] of this.#dropped) {
      if (object.baseVersion >= state.collectedBelow || names(state, object)) continue;
      this.#dropped.delete(name);
      void this.#delete(object);
    }
  }

  async #delete(object: NamedObject): Promise<void> {
    const { name, incarnation } = this.#loop.view;
    try {
      await this.#context.environment.store.delete(objectKey({ name, incarnation, ...object }));
      this.#context.counters.collectedObjects++;
    } catch (error) {
      // The sweep will find it.
      if (!(error instanceof StoreError)) throw error;
    }
  }

  /** When the queue falls silent, one more commit lets the rest go. */
  #tidyLater(): void {
    if (this.#tidying) return;
    this.#tidying = true;
    void afterwards(this.#tidy(), () => {
      this.#tidying = false;
    });
  }

  async #tidy(): Promise<void> {
    const { clock } = this.#context.environment;
    while (this.#dropped.size > 0) {
      await clock.sleep(this.#context.settings.timing.collectLagMillis * tidyAfterLagFactor, this.#stop);
      if (this.#stop.aborted || this.#loop.ended) return;
      if (this.#dropped.size > 0)
        await this.#loop.submit({ kind: 'tidy', collectBelow: 0 }).catch(() => undefined);
    }
  }
}
