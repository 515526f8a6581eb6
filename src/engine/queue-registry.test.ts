/** Which loops a registry leaves to the LIST watch: nothing else shows what that still holds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { engineSettings } from '../../test/support/engine-settings.ts';
import { SeededRandom } from '../../test/support/seeded-random.ts';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { manifestKey } from '../format/object-keys.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { pageCache, segmentCache } from './caches.ts';
import type { CommitLoop } from './commit-loop.ts';
import { newCounters } from './counters.ts';
import { createQueue } from './create-queue.ts';
import { GroupCache } from './group-cache.ts';
import { ManifestWatch, type WatchedQueue } from './manifest-watch.ts';
import { QueueRegistry } from './queue-registry.ts';
import { loopsMax } from './settings.ts';
import { TimeSource } from './time-source.ts';

class SeenWatch extends ManifestWatch {
  readonly held = new Set<WatchedQueue>();

  override due(queue: WatchedQueue): number | undefined {
    this.held.add(queue);
    return super.due(queue);
  }

  override leave(queue: WatchedQueue): void {
    this.held.delete(queue);
    super.leave(queue);
  }
}

function stage() {
  const clock = new VirtualClock();
  const store = new MemoryStore({ nowMillis: () => clock.wallMillis() });
  const silent = () => {};
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const environment = { clock, random: new SeededRandom(1), store, log };
  const [settings, counters, time] = [engineSettings(), newCounters(), new TimeSource(environment)];
  const [bodies, pages] = [segmentCache(environment, counters), pageCache(environment, counters)];
  const watch = new SeenWatch(environment, settings, counters);
  const groups = new GroupCache();
  const context = { environment, settings, counters, time, bodies, pages, groups, watch };
  const registry = new QueueRegistry(context, new AbortController().signal);
  /** Of a queue that was just created, as after CreateQueue. */
  const open = async (name: string): Promise<CommitLoop> => {
    await time.prime(store);
    const { observed } = await createQueue(context, name, new Map());
    return registry.adopt(name, observed!);
  };
  return { clock, store, watch, open };
}

describe('a registry', () => {
  it('lets the watch hold one loop a name, whatever became of earlier incarnations', async () => {
    const { clock, store, watch, open } = stage();
    const past = await clock.runUntil(open('q'));
    watch.due(past);
    // By another process: this one's loop is idle and learns nothing of it.
    await store.delete(manifestKey('q'));
    const present = await clock.runUntil(open('q'));
    assert.notEqual(present, past);
    watch.due(present);
    assert.deepEqual([...watch.held], [present]);
    assert.equal(await clock.runUntil(open('q')), present, 'another look at the same incarnation');
    assert.deepEqual([...watch.held], [present]);
  });

  it('takes from the watch what it forgets', async () => {
    const { clock, watch, open } = stage();
    const first = await clock.runUntil(open('first'));
    watch.due(first);
    for (let n = 0; n < loopsMax; n++) await clock.runUntil(open(`queue-${n}`));
    assert.deepEqual([...watch.held], []);
  });
});
