/** Faults in watching many waited queues by LISTs. */
import type { Mutant } from './mutant.ts';
import { loop } from './spoiled-files.ts';

export const watchFaults: readonly Mutant[] = [
  {
    name: 'any-listed-tag-is-no-news',
    breaks: 'a waiting receive learns what other nodes did',
    patches: [{ file: loop, text: '    if (tag === etag) {', by: '    if (tag === etag || this.waited) {' }],
  },
];
