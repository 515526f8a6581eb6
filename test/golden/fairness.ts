/** What the golden bytes of fairness.json (a standard queue with message groups) say. Neither changes any more. */
import type { GroupHash } from '../../src/core/ids.ts';
import type { QueueState } from '../../src/core/queue-state.ts';
import { fromPairs } from '../../src/core/range-set.ts';
import { state as v1 } from './storage-v1.ts';

export const state: QueueState = {
  ...v1,
  fairness: {
    rates: new Map([
      ['0123456789abcdef' as GroupHash, { count: 2, peak: 0 }],
      ['ffeeddccbbaa9988' as GroupHash, { count: 0, peak: 12_000 }],
    ]),
    minute: 30_000_000,
    quiet: fromPairs([[v1.ready[0]!, v1.ready[0]! + 1]]),
    busyBelow: v1.nextSequence,
    quietInARow: 2,
  },
};
