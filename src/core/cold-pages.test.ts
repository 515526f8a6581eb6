/** All kinds of pages together: a queue whose bounds are tiny is the queue that it would be without bounds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BoundedAndNot } from '../../test/model/bounded-and-not.ts';
import {
  newMessage,
  receiveOf,
  redrive,
  setOf,
  targetIncarnation,
  tidyOf,
} from '../../test/model/one-queue.ts';
import type { Command } from './command.ts';
import { type PageKind, pagesOf } from './pages.ts';

const tiny = {
  delayedInlineMax: 4,
  delayedPageEntries: 3,
  leaseInlineMax: 4,
  leasePageEntries: 3,
  readyRangesMax: 4,
  readyPageRanges: 3,
  segmentsInlineMax: 4,
  segmentPageEntries: 3,
};

type Entry = { readonly size: number; readonly delaySeconds: number };
const entry: fc.Arbitrary<Entry> = fc.record({
  size: fc.constantFrom(1, 1, 1, 150, 400),
  delaySeconds: fc.constantFrom(0, 0, 0, 0, 0, 0, 5, 40),
});
const sent = fc.array(entry, { minLength: 1, maxLength: 6 }).map(
  (entries): Command => ({
    kind: 'send',
    entries: entries.map(({ size, delaySeconds }) => ({
      message: newMessage('x'.repeat(size)),
      delaySeconds,
    })),
  }),
);
const picks = fc.array(fc.nat(50), { minLength: 1, maxLength: 6 });
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 12, arbitrary: sent },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 10 }).map((most) => receiveOf(most, 30)) },
  { weight: 2, arbitrary: fc.constant(tidyOf()) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('60', '90', '1000').map((s) => setOf({ MessageRetentionPeriod: s })),
  },
  { weight: 1, arbitrary: fc.constantFrom(1, 2).map((most) => setOf(redrive(most))) },
  { weight: 1, arbitrary: fc.constant<Command>({ kind: 'return-moves', targetIncarnation }) },
  {
    weight: 1,
    arbitrary: fc.nat(9).map((through): Command => ({ kind: 'resolve-moves', targetIncarnation, through })),
  },
);
const step = fc.oneof(
  { weight: 60, arbitrary: command.map((c) => (run: BoundedAndNot) => run.commit(c)) },
  {
    weight: 25,
    arbitrary: fc.tuple(fc.integer({ min: 1, max: 10 }), fc.constantFrom(0, 5, 60)).map(
      ([most, seconds]) =>
        (run: BoundedAndNot) =>
          void run.receive(most, seconds),
    ),
  },
  {
    weight: 40,
    arbitrary: fc
      .tuple(
        fc.constantFrom('delete' as const, 'release' as const, 'release' as const, 'hide' as const),
        picks,
      )
      .map(
        ([kind, chosen]) =>
          (run: BoundedAndNot) =>
            run.withHandles(kind, chosen),
      ),
  },
  {
    weight: 15,
    arbitrary: fc.tuple(sent, command, fc.boolean()).map(
      ([mine, rival, collect]) =>
        (run: BoundedAndNot) =>
          run.conflict(mine, rival, collect),
    ),
  },
  {
    weight: 20,
    arbitrary: fc.constantFrom(1_000, 5_000, 20_000).map((ms) => (run: BoundedAndNot) => run.wait(ms)),
  },
  {
    weight: 1,
    arbitrary: fc.constant((run: BoundedAndNot) => run.commit({ kind: 'purge', cooldownMillis: 0 })),
  },
);

const compaction = fc.tuple(picks, command).map(
  ([chosen, rival]) =>
    (run: BoundedAndNot) =>
      run.compact(chosen, rival),
);

function play(bounds: typeof tiny, kinds: readonly PageKind[], others = {}): void {
  // Two queues with the same bounds name the same segments.
  const steps = others === tiny ? fc.oneof({ weight: 12, arbitrary: step }, compaction) : step;
  const folded = new Set<PageKind>();
  fc.assert(
    fc.property(fc.array(steps, { minLength: 10, maxLength: 80, size: 'max' }), (drawn) => {
      const run = new BoundedAndNot(bounds, others);
      for (const act of drawn) {
        act(run);
        for (const { kind } of pagesOf(run.bounded.state)) folded.add(kind);
      }
    }),
    { numRuns: 60 },
  );
  assert.deepEqual([...folded].sort(), kinds);
}

describe('a queue with tiny bounds', () => {
  // Delayed messages that are due together may come in another order from pages.
  it('answers and becomes what a queue without bounds does', () => {
    play({ ...tiny, delayedInlineMax: 1_000, leaseInlineMax: 1_000 }, ['ready', 'segments']);
  });

  it('keeps every rule with all kinds of pages at once', () => {
    play(tiny, ['delayed', 'lease', 'ready', 'segments'], tiny);
  });
});
