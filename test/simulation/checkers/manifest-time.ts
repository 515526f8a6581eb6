/** Manifest time destroys, so it never runs ahead of the store's true clock, apart from what each lie may add. */
import type { DiffChecker } from './check.ts';

/** The allowance of core/time.ts, and rounding. */
const slackMillis = 5_100;

export function manifestTimeChecker(liesTold: () => number): DiffChecker {
  return {
    name: 'manifest time is not ahead of the store',
    diff: ({ after, landing, incarnation }) => {
      const ahead = after.timeMillis - landing.storeMillis;
      if (ahead > liesTold() * slackMillis)
        return `manifest time of ${incarnation.queue} is ${ahead} ms ahead`;
      return undefined;
    },
  };
}
