/**
 * The real clock behind the engine's `Environment`. Its sleeps never keep the process alive. Any number of them may
 * wait on one signal: the engine's own stop ends them all.
 */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../engine/environment.ts';

export const systemClock: Clock = {
  wallMillis: () => Date.now(),
  monotonicMillis: () => performance.now(),
  sleep: (millis, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, millis));
      timer.unref();
      if (signal === undefined) return;
      // Otherwise the eleventh sleep is taken for a leak, with a line on stderr that is no JSON.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', done, { once: true });
    }),
};
