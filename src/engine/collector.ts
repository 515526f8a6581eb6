/**
 * The long way of collection, once a day: everything under `s/` that no manifest names, whoever left it (a crash
 * between upload and swap, a lost race, another node's drops), old tombstones, and what crashed under `probe/`.
 * DESIGN.md section 5.
 *
 * Order matters †. `s/` is listed first; an incarnation is removed only if a GET of its manifest begun afterwards
 * shows another incarnation or none:
 *   1. the collector reads m/q: absent;
 *   2. somebody creates q and spills a segment;
 *   3. the collector lists s/ and would take the new segment for an orphan of no queue.
 * Within a live incarnation `collectedBelow` is raised by a swap first, then objects below it that the state made
 * by (or read after) that swap does not name, directly or through a page, are deleted. A state or a page that cannot be
 * read stops its collection.
 */
import type { Incarnation } from '../core/ids.ts';
import type { QueueState } from '../core/queue-state.ts';
import { isTombstoneSize } from '../format/manifest-codec.ts';
import {
  isThrowAwayKey,
  manifestsPrefix,
  type ObjectKeyParts,
  objectsPrefix,
  parseObjectKey,
  queueNameOfManifestKey,
  throwAwayPrefix,
} from '../format/object-keys.ts';
import { type ListedObject, StoreError } from '../store/object-store.ts';
import type { EngineContext } from './context.ts';
import { logFailure } from './log-failure.ts';
import { ManifestRegister } from './manifest-register.ts';
import { allNamedBy, nameOf, names } from './named-objects.ts';
import type { QueueRegistry } from './queue-registry.ts';

interface Listed {
  readonly key: string;
  readonly parts: ObjectKeyParts;
}

/** The first sweep of a process comes within this part of the interval, so that short-lived ones sweep too. */
const firstSweepPart = 1 / 24;

export class Collector {
  readonly #context: EngineContext;
  readonly #registry: QueueRegistry;
  readonly #stop: AbortSignal;

  constructor(context: EngineContext, registry: QueueRegistry, stop: AbortSignal) {
    this.#context = context;
    this.#registry = registry;
    this.#stop = stop;
  }

  /** Sweeps until the engine stops. */
  async run(): Promise<void> {
    const { environment, settings } = this.#context;
    const { clock, random, log } = environment;
    const { sweepIntervalMillis } = settings.timing;
    await clock.sleep(sweepIntervalMillis * firstSweepPart * random.unit(), this.#stop);
    while (!this.#stop.aborted) {
      try {
        const deleted = await this.sweep();
        log.info('swept the bucket', { deleted });
      } catch (error) {
        logFailure(log, 'the sweep of the bucket ended early', error);
      }
      await clock.sleep(sweepIntervalMillis * (0.9 + 0.2 * random.unit()), this.#stop);
    }
  }

  /** One sweep; returns how many objects it deleted. @throws StoreError, Unavailable */
  async sweep(): Promise<number> {
    await this.#context.time.prime(this.#context.environment.store);
    let deleted = 0;
    const groups = await this.#listByIncarnation();
    const versions = new Map<string, number>();
    for (const [group, objects] of groups) {
      const { parts } = objects[0]!;
      deleted += await this.#ofQueue(parts, async () => {
        const state = await this.#stateOf(parts.name, parts.incarnation);
        if (!state) return this.#delete(objects);
        versions.set(group, state.version);
        return 0;
      });
    }
    if (versions.size > 0) {
      const { clock, store } = this.#context.environment;
      await this.#context.time.ask(store);
      await clock.sleep(this.#context.settings.timing.collectLagMillis, this.#stop);
      // A quiet node's time is confirmed by this: retention ends nothing before.
      await this.#context.time.ask(store);
    }
    for (const [group, version] of versions) {
      if (this.#stop.aborted) break;
      const objects = groups.get(group)!;
      deleted += await this.#ofQueue(objects[0]!.parts, () => this.#sweepLive(objects, version));
    }
    return deleted + (await this.#collectAged());
  }

  /** A queue that can't be read or committed to leaves the others their sweep. @throws StoreError */
  async #ofQueue({ name, incarnation }: ObjectKeyParts, sweep: () => Promise<number>): Promise<number> {
    try {
      return await sweep();
    } catch (error) {
      if (error instanceof StoreError) throw error;
      logFailure(this.#context.environment.log, 'a queue was not swept', error, { queue: name, incarnation });
      return 0;
    }
  }

  async #sweepLive(objects: readonly Listed[], version: number): Promise<number> {
    const { name, incarnation } = objects[0]!.parts;
    const before = await this.#stateOf(name, incarnation);
    if (!before) return 0;
    const unnamed = objects.filter(({ parts }) => !names(before, parts));
    // Also with nothing unnamed: retention may have ended what a quiet queue names.
    const loop = await this.#registry.loopFor(name);
    if (!loop || loop.view.incarnation !== incarnation) return 0;
    await loop.submit({ kind: 'tidy', collectBelow: version });
    return this.#deleteUnnamed(unnamed, undefined);
  }

  /**
   * `triedAt`: the version of a state that named a page of segments which was not to be read. It may have been dropped
   * and collected since; when the state is the same, it is missed.
   */
  async #deleteUnnamed(objects: readonly Listed[], triedAt: number | undefined): Promise<number> {
    const { name, incarnation } = objects[0]?.parts ?? {};
    if (name === undefined || incarnation === undefined) return 0;
    const state = await this.#stateOf(name, incarnation);
    if (!state) return 0;
    const old = objects.filter(({ parts }) => parts.baseVersion < state.collectedBelow);
    if (old.length === 0) return 0;
    const named = await allNamedBy(this.#context, name, state);
    if (named) return this.#delete(old.filter(({ parts }) => !named.has(nameOf(parts))));
    if (triedAt !== state.version) return this.#deleteUnnamed(old, state.version);
    const message = 'a page of segments cannot be read: nothing of its queue is collected';
    this.#context.environment.log.error(message, { queue: name, incarnation });
    return 0;
  }

  /** The queue's state by a GET begun now, or undefined when the name holds another incarnation or none. */
  async #stateOf(name: string, incarnation: Incarnation): Promise<QueueState | undefined> {
    const observed = await new ManifestRegister(this.#context.environment, name).readQueue();
    return observed?.state.incarnation === incarnation ? observed.state : undefined;
  }

  /** By name and incarnation. */
  async #listByIncarnation(): Promise<Map<string, Listed[]>> {
    const groups = new Map<string, Listed[]>();
    for await (const { key } of this.#list(objectsPrefix)) {
      const parts = parseObjectKey(key);
      if (!parts) continue;
      const group = `${parts.name}/${parts.incarnation}`;
      const objects = groups.get(group);
      if (objects) objects.push({ key, parts });
      else groups.set(group, [{ key, parts }]);
    }
    return groups;
  }

  async *#list(prefix: string): AsyncGenerator<ListedObject, void, undefined> {
    let startAfter: string | undefined;
    do {
      const page = await this.#context.environment.store.list({
        prefix,
        ...(startAfter === undefined ? {} : { startAfter }),
      });
      yield* page.objects;
      startAfter = page.truncated ? page.objects.at(-1)?.key : undefined;
    } while (startAfter !== undefined);
  }

  async #delete(objects: readonly Listed[]): Promise<number> {
    for (const { key } of objects) await this.#context.environment.store.delete(key);
    this.#context.counters.collectedObjects += objects.length;
    return objects.length;
  }

  /** What goes by its age. */
  async #collectAged(): Promise<number> {
    const { settings, environment, time } = this.#context;
    // Nothing is destroyed by an unconfirmed time, and a process that only waits has asked but once, at its start.
    await time.ask(environment.store);
    const oldest = time.bounds().lowerMillis - settings.timing.tombstoneAgeMillis;
    const thrownAway = await this.#collectThrowAways(oldest);
    return settings.conditionalDelete ? thrownAway + (await this.#collectTombstones(oldest)) : thrownAway;
  }

  /** Of processes that died, or whose DELETE was lost. */
  async #collectThrowAways(oldest: number): Promise<number> {
    const { environment, counters } = this.#context;
    let deleted = 0;
    for await (const { key, lastModified } of this.#list(throwAwayPrefix)) {
      if (!isThrowAwayKey(key) || lastModified.millis + lastModified.resolutionMillis > oldest) continue;
      await environment.store.delete(key);
      deleted++;
    }
    counters.collectedObjects += deleted;
    return deleted;
  }

  /** Only by conditional DELETE, so that a queue created meanwhile is never touched. */
  async #collectTombstones(oldest: number): Promise<number> {
    const { environment } = this.#context;
    let deleted = 0;
    for await (const { key, bytes, etag, lastModified } of this.#list(manifestsPrefix)) {
      if (!isTombstoneSize(bytes) || queueNameOfManifestKey(key) === undefined) continue;
      if (lastModified.millis + lastModified.resolutionMillis > oldest) continue;
      const outcome = await environment.store.deleteIfMatch(key, etag);
      if (outcome.kind === 'done') deleted++;
    }
    return deleted;
  }
}
