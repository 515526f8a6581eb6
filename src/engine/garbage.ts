/**
 * The short way of collection: segments and pages that this loop's own commits dropped, deleted by key without LIST once
 * `collectedBelow` has passed their base version (DESIGN.md section 5 †). One rule for all deletions, so that this loop
 * need not know who could still name an object as old: a segment's reference moves between the manifest and pages.
 * Whatever is missed here (a crash, another node's drops) the sweep finds.
 *
 * A page of segments that is dropped has come back to the manifest, or has ended with all its segments. Only by purge
 * or retention can the latter be: then the page is read, and every page that is left, to be sure that none of them
 * names a segment of it. Where one can't be read, the sweep will see.
 */

import { resolveAttributes } from '../core/queue-attributes.ts';
import type { QueueState } from '../core/queue-state.ts';
import { pageIdOf } from '../core/queue-state.ts';
import { millisPerSecond } from '../core/time.ts';
import { objectKey } from '../format/object-keys.ts';
import { StoreError } from '../store/object-store.ts';
import { afterwards } from './afterwards.ts';
import type { Landed } from './batch-commit.ts';
import type { CommitLoop } from './commit-loop.ts';
import type { EngineContext } from './context.ts';
import {
  allNamedBy,
  type DroppedObject,
  droppedBetween,
  mayName,
  type NamedObject,
  namedBy,
  nameOf,
  readSegmentsPage,
} from './named-objects.ts';

interface Dropped extends DroppedObject {
  /** A page that may have ended with all its segments. */
  readonly whole: boolean;
}

/** More than the lag, so that the tidy commit that a quiet queue gets can raise `collectedBelow` far enough. */
const tidyAfterLagFactor = 1.5;

export class Garbage {
  readonly #context: EngineContext;
  readonly #loop: CommitLoop;
  readonly #stop: AbortSignal;
  readonly #dropped = new Map<string, Dropped>();
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
      for (const object of namedBy(before))
        void (object.kind === 'segments' ? this.#deleteAllIn(object) : this.#delete(object));
      return;
    }
    for (const object of droppedBetween(before, next.state))
      this.#dropped.set(nameOf(object), { ...object, whole: mayHaveEnded(object, before, next.state) });
    if (this.#dropped.size === 0) return;
    this.#collect(next.state);
    this.#tidyLater();
  }

  #collect(state: QueueState): void {
    for (const [name, object] of this.#dropped) {
      if (object.baseVersion >= state.collectedBelow) continue;
      this.#dropped.delete(name);
      // What was wrongly taken for dropped is dropped again when it is; what only may be named is for the sweep.
      if (mayName(state, object)) continue;
      void (object.whole ? this.#deleteAllIn(object, state) : this.#delete(object));
    }
  }

  /** A page with the segments in it that `state` doesn't name; without a state the incarnation is over. */
  async #deleteAllIn(page: NamedObject, state?: QueueState): Promise<void> {
    const read = await this.#readAll(page, state);
    if (!read) return;
    const { segments, named } = read;
    for (const { baseVersion, nonce } of segments.values()) {
      const segment = { kind: 'seg', baseVersion, nonce } as const;
      if (state && (baseVersion >= state.collectedBelow || named.has(nameOf(segment)))) continue;
      await this.#delete(segment);
    }
    await this.#delete(page);
  }

  /** Undefined: a page can't be read, and the sweep will find what is left. */
  async #readAll(page: NamedObject, state: QueueState | undefined) {
    const { name } = this.#loop.view;
    try {
      const segments = await readSegmentsPage(this.#context, this.#loop.view, page);
      const named = state ? await allNamedBy(this.#context, name, state) : new Set<string>();
      return segments && named && { segments, named };
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return undefined;
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

/** Whether `next` may be without the segments of this page. What comes back to the manifest is never purged, and seldom so old. */
function mayHaveEnded(object: DroppedObject, before: QueueState, next: QueueState): boolean {
  const page = object.kind === 'segments' ? before.segmentsPages.get(pageIdOf(object)) : undefined;
  if (!page) return false;
  const { retentionSeconds } = resolveAttributes(before.attributes);
  const expired = page.sentAtMaxMillis + retentionSeconds * millisPerSecond <= next.timeMillis;
  return expired || page.lastSequence < next.purgeWatermark;
}
