/** One engine: what all queues of a process share, put together behind the façade of queue-api.ts. */
import { queueLimits } from '../core/limits.ts';
import { pageCache, segmentCache } from './caches.ts';
import { Collector } from './collector.ts';
import type { EngineContext } from './context.ts';
import { type Counters, newCounters } from './counters.ts';
import type { Environment } from './environment.ts';
import { GroupCache } from './group-cache.ts';
import { ManifestWatch } from './manifest-watch.ts';
import type { QueueService } from './queue-api.ts';
import { QueueCalls } from './queue-calls.ts';
import { QueueRegistry } from './queue-registry.ts';
import {
  defaultListPageKeys,
  defaultListPriceInReads,
  defaultReadPriceShare,
  defaultTiming,
  type EngineSettings,
} from './settings.ts';
import { TaskFinder } from './task-finder.ts';
import { TimeSource } from './time-source.ts';

export interface Engine {
  readonly service: QueueService;
  counters(): Readonly<Counters>;
  /** One sweep of the bucket now; returns how many objects went. */
  sweep(): Promise<number>;
  /** Waiting receives end empty, pending commits finish; later calls reject with Unavailable. */
  stop(): Promise<void>;
}

type Tuned = 'readPriceShare' | 'listPriceInReads' | 'listPageKeys' | 'limits';

export type EngineOptions = Omit<EngineSettings, 'timing' | Tuned> &
  Partial<Pick<EngineSettings, Tuned>> & { readonly timing?: Partial<EngineSettings['timing']> };

export function createQueueService(environment: Environment, options: EngineOptions): Engine {
  const settings: EngineSettings = {
    readPriceShare: defaultReadPriceShare,
    listPriceInReads: defaultListPriceInReads,
    listPageKeys: defaultListPageKeys,
    limits: queueLimits,
    ...options,
    timing: { ...defaultTiming, ...options.timing },
  };
  const counters = newCounters();
  const time = new TimeSource(environment);
  const listening: Environment = { ...environment, store: time.listen(environment.store) };
  const bodies = segmentCache(listening, counters);
  const pages = pageCache(listening, counters);
  const watch = new ManifestWatch(listening, settings, counters);
  const groups = new GroupCache();
  const kept = { bodies, pages, groups };
  const context: EngineContext = { environment: listening, settings, counters, time, watch, ...kept };
  const stop = new AbortController();
  const registry = new QueueRegistry(context, stop.signal);
  const finder = new TaskFinder(context, registry, stop.signal);
  const collector = new Collector(context, registry, stop.signal);
  void collector.run();
  void finder.run();
  return {
    service: new QueueCalls(context, registry, finder, stop.signal),
    counters: () => ({ ...counters }),
    sweep: () => collector.sweep(),
    stop: async () => {
      stop.abort();
      await Promise.all(registry.loops.map((loop) => loop.drain()));
    },
  };
}
