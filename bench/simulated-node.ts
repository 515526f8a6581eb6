/** One process on the simulated bucket: the real engine, its own clock and randomness, every request metered. */
import type { Clock, Log } from '../src/engine/environment.ts';
import { createQueueService, type Engine, type EngineOptions } from '../src/engine/queue-service.ts';
import { MeteredStore } from '../src/store/metered-store.ts';
import type { ObjectStore } from '../src/store/object-store.ts';
import type { Scheduler } from '../test/simulation/scheduler.ts';
import { SeededRandom } from '../test/support/seeded-random.ts';
import { Draw } from './draw.ts';
import { type Distance, SimulatedStore } from './simulated-store.ts';

export const originMillis = 1_800_000_000_000;

export type EngineTuning = Pick<EngineOptions, 'lingerMillis'> & Partial<EngineOptions>;

export interface SimulatedNode {
  readonly meter: MeteredStore;
  readonly engine: Engine;
}

export function simulatedNode(
  bucket: ObjectStore,
  scheduler: Scheduler,
  seed: number,
  distance: Distance,
  tuning: EngineTuning,
): SimulatedNode {
  const way = new SimulatedStore(bucket, scheduler, new Draw(seed * 2 + 1), distance);
  const meter = new MeteredStore(way);
  const loud = (message: string, fields: unknown) => console.error(message, fields);
  const log: Log = { debug: () => {}, info: () => {}, warn: loud, error: loud };
  const engine = createQueueService(
    { clock: new SimulatedClock(scheduler), random: new SeededRandom(seed * 2), store: meter, log },
    {
      accountId: '000000000000',
      region: 'us-east-1',
      cooldowns: false,
      conditionalDelete: true,
      listTags: true,
      ...tuning,
      // What a node lists by the clock, once a minute, is no cost of its messages (docs/design/0008-move-tasks.md).
      timing: { taskListMillis: Number.POSITIVE_INFINITY, ...tuning.timing },
    },
  );
  return { meter, engine };
}

class SimulatedClock implements Clock {
  readonly #scheduler: Scheduler;
  #looks = 0;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  monotonicMillis(): number {
    // Two looks never show the same instant, as on a real clock.
    return this.#scheduler.now + ++this.#looks * 1e-7;
  }

  wallMillis(): number {
    return Math.floor(originMillis + this.#scheduler.now);
  }

  sleep(millis: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.#scheduler.at(this.#scheduler.now + Math.max(0, millis), () => {
        signal?.removeEventListener('abort', cancelled);
        resolve();
      });
      const cancelled = () => {
        this.#scheduler.cancel(timer);
        resolve();
      };
      signal?.addEventListener('abort', cancelled, { once: true });
    });
  }
}
