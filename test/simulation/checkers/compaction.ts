/** Compaction changes no message: body, attributes and stamp are those that the manifest before gave. */
import { isDeepStrictEqual } from 'node:util';
import { stampOf } from '../../../src/core/stamps.ts';
import { type Ledger, liveSequences, markerOf } from '../ledger.ts';
import { type DiffChecker, isCompacted } from './check.ts';

export function compactionChecker(ledger: Ledger): DiffChecker {
  return {
    name: 'a compacted message is what it was',
    diff: ({ before, after, incarnation }) => {
      if (!before || before.segments === after.segments) return undefined;
      const were = { ...incarnation, state: before };
      let live: ReadonlySet<number> | undefined;
      for (const [id, reference] of after.segments) {
        if (before.segments.has(id) || !isCompacted(before, reference)) continue;
        live ??= liveSequences(after);
        let count = 0;
        for (const { firstSequence, count: numbers } of reference.runs)
          for (let sequence = firstSequence; sequence < firstSequence + numbers; sequence++) {
            if (!live.has(sequence)) continue;
            count++;
            const was = ledger.bodyOf(were, sequence);
            const is = ledger.bodyOf(incarnation, sequence);
            if (!was || !isDeepStrictEqual(is, was))
              return `sequence ${sequence} of ${incarnation.queue} was ${was && markerOf(was.body)} of ${was?.sentAtMillis}, and is ${is && markerOf(is.body)} of ${is?.sentAtMillis}`;
            if (stampOf(was) > reference.sentAtMaxMillis)
              return `segment ${id} of ${incarnation.queue} would end before its sequence ${sequence}`;
          }
        if (count !== reference.liveCount)
          return `segment ${id} of ${incarnation.queue} counts ${reference.liveCount} live messages of ${count}`;
      }
      return undefined;
    },
  };
}
