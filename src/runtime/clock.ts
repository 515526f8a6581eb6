/** The real clock behind the engine's `Environment`. Its sleeps never keep the process alive. */
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
      signal?.addEventListener('abort', done, { once: true });
    }),
};
