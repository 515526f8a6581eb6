/** Fairness in a queue that is larger than its bounds: what is quiet stays where a receive gets it without a page. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  deleteOf,
  newMessage,
  OneQueue,
  purgeOf,
  receiveOf,
  releaseOf,
  sendOf,
} from '../../test/model/one-queue.ts';
import type { Leased } from './command.ts';
import { QUIET_IN_A_ROW_MAX, queueLimits } from './limits.ts';
import { countWithin, difference, first, has, rangesOf, size } from './range-set.ts';

const tiny = {
  ...queueLimits,
  tailBytesMax: 2_000,
  inlineMessageBytesMax: 600,
  segmentBytesMax: 1_000,
  delayedInlineMax: 4,
  delayedPageEntries: 2,
  readyRangesMax: 6,
  readyPageRanges: 2,
  segmentsInlineMax: 12,
  segmentPageEntries: 4,
  leaseInlineMax: 4,
  leasePageEntries: 3,
  groupRatesMax: 4,
  quietRangesMax: 5,
};

const named = (group: string | undefined, body: string) => newMessage(body, { groupId: group });

function tinyQueue(): OneQueue {
  const queue = new OneQueue();
  queue.limits = tiny;
  return queue;
}

/** Twenty segments of a busy group, with a quiet message in every fourth. */
function manySegments(): OneQueue {
  const queue = tinyQueue();
  queue.limits = { ...tiny, segmentsInlineMax: 16 };
  for (let n = 0; n < 20; n++)
    queue.commit(
      sendOf(
        ...Array.from({ length: 40 }, () => named('busy', 'b')),
        ...(n % 4 === 1 ? [named('quiet', `q${n}`)] : []),
      ),
    );
  return queue;
}

describe('fairness of a long queue', () => {
  it('leaves the segments of quiet messages in the manifest, and takes one without a page', () => {
    const queue = manySegments();
    assert.ok(queue.state.segmentsPages.size > 0, 'segments have left');
    assert.ok(size(queue.state.fairness.quiet) >= 4);
    const [leased] = queue.receive(1);
    assert.equal(leased!.message.groupId, 'quiet');
    assert.ok(queue.asked.every(({ pages, newPages }) => pages.size + newPages.length === 0));
  });

  it('lets them go where there are too many all the same, and they are like any other', () => {
    const queue = manySegments();
    const before = size(queue.state.fairness.quiet);
    queue.limits = { ...tiny, segmentsInlineMax: 3 };
    for (let n = 0; n < 6; n++) queue.commit(sendOf(named('busy', 'b')));
    const { fairness, segmentsPages } = queue.state;
    assert.ok(size(fairness.quiet) < before);
    for (const { firstSequence, lastSequence } of segmentsPages.values())
      assert.equal(countWithin(fairness.quiet, firstSequence, lastSequence + 1), 0);
  });

  it('leaves ranges with quiet messages in the manifest when the others go to pages', () => {
    const queue = tinyQueue();
    queue.limits = { ...tiny, segmentsInlineMax: queueLimits.segmentsInlineMax };
    queue.commit(sendOf(...Array.from({ length: 400 }, () => named('busy', 'b'))));
    // Every quiet message that is taken leaves a hole; those of the last round wait.
    for (let n = 0; n < 30; n++) {
      queue.commit(sendOf(named('busy', 'b'), named('quiet', `q${n}`), named('busy', 'b')));
      if (n < 26) queue.commit(deleteOf(...queue.receive(1).map(({ handle }) => handle)));
    }
    const { readyPages, ready, fairness } = queue.state;
    assert.ok(readyPages.size > 0);
    assert.ok(size(fairness.quiet) > 0);
    for (let i = 0; i < fairness.quiet.length; i += 2) assert.ok(has(ready, fairness.quiet[i]!));
  });

  it('leaves delayed quiet messages in the manifest, and hands them out when they are due', () => {
    const queue = new OneQueue({ DelaySeconds: '5' });
    queue.limits = { ...tiny, delayedInlineMax: 8 };
    for (let n = 0; n < 10; n++) {
      queue.nowMillis += 100;
      const busy = Array.from({ length: 20 }, () => named('busy', 'b'));
      queue.commit(sendOf(...busy, ...(n === 5 ? [named('quiet', 'q1'), named('quiet', 'q2')] : [])));
    }
    assert.ok(queue.state.delayedPages.size > 20);
    queue.nowMillis += 10_000;
    const got = queue.bodies(4);
    assert.deepEqual(
      got.filter((_, place) => place % 2 === 1),
      ['q1', 'q2'],
    );
  });

  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('send' as const),
        groups: fc.array(fc.nat(5), { minLength: 1, maxLength: 12 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('receive' as const), max: fc.integer({ min: 1, max: 10 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'release' as const), of: fc.nat(20) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('pass' as const),
        millis: fc.constantFrom(500, 60_000, 300_000),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('purge' as const) }) },
  );

  it('loses nothing, and hands out the oldest at least every fourth time, whatever happens', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const run = new Run();
        for (const each of steps) run.step(each);
        run.drain();
      }),
      { numRuns: 150 },
    );
    assert.ok(true);
  });
});

type Step =
  | { kind: 'send'; groups: number[] }
  | { kind: 'receive'; max: number }
  | { kind: 'delete' | 'release'; of: number }
  | { kind: 'pass'; millis: number }
  | { kind: 'purge' };

class Run {
  readonly #queue = tinyQueue();
  #held: Leased[] = [];
  #alive = new Set<string>();
  #serial = 0;
  #youngerInARow = 0;

  step(step: Step): void {
    const queue = this.#queue;
    if (step.kind === 'pass') queue.nowMillis += step.millis;
    else if (step.kind === 'send') this.#send(step.groups);
    else if (step.kind === 'receive') this.#receive(step.max);
    else if (step.kind === 'purge') {
      queue.commit(purgeOf());
      this.#alive.clear();
      this.#held = [];
      this.#youngerInARow = 0;
    } else {
      const [taken] = this.#held.splice(step.of % (this.#held.length || 1), 1);
      if (!taken) return;
      queue.commit(step.kind === 'delete' ? deleteOf(taken.handle) : releaseOf(taken.handle));
      if (step.kind === 'delete') this.#alive.delete(taken.message.body);
    }
  }

  drain(): void {
    for (;;) {
      const messages = this.#receive(10);
      if (messages.length === 0) break;
      this.#queue.commit(deleteOf(...messages.map(({ handle }) => handle)));
      for (const { message } of messages) this.#alive.delete(message.body);
      this.#held = this.#held.filter((held) => !messages.includes(held));
    }
    for (const { message } of this.#held) this.#alive.delete(message.body);
    assert.deepEqual([...this.#alive], []);
  }

  /** Groups: by 5 the busy one, 4 none. */
  #send(drawn: readonly number[]): void {
    const entries = drawn.flatMap((group) =>
      group === 5
        ? Array.from({ length: 20 }, () => this.#message('busy'))
        : [this.#message(group === 4 ? undefined : `g${group}`)],
    );
    this.#queue.commit(sendOf(...entries));
  }

  #message(group: string | undefined) {
    const body = `${group}-${++this.#serial}`;
    this.#alive.add(body);
    return named(group, body);
  }

  /** Long timeouts: nothing comes again but what is given back. */
  #receive(max: number): readonly Leased[] {
    let { ready } = this.#queue.whole;
    const messages = this.#queue.outcome(receiveOf(max, 40_000));
    assert.ok(messages.kind === 'received');
    for (const leased of messages.messages) {
      const { sequence } = leased.handle;
      assert.ok(this.#alive.has(leased.message.body), `${leased.message.body} is not there`);
      assert.ok(has(ready, sequence));
      this.#youngerInARow = first(ready) === sequence ? 0 : this.#youngerInARow + 1;
      assert.ok(
        this.#youngerInARow <= QUIET_IN_A_ROW_MAX,
        `the oldest waits for ${this.#youngerInARow} others`,
      );
      ready = difference(ready, rangesOf(sequence, sequence + 1));
      this.#held.push(leased);
    }
    return messages.messages;
  }
}
