import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  messageOfInlineBytes,
  newMessage,
  OneQueue,
  purgeOf,
  receiveOf,
  sendOf,
  setOf,
  tidyOf,
} from '../../test/model/one-queue.ts';
import type { Command } from './command.ts';
import { nextVisibleAt } from './counts.ts';
import { queueLimits } from './limits.ts';

const small = { ...queueLimits, delayedInlineMax: 4, delayedPageEntries: 3, tailBytesMax: 400 };

const sendIn = (...seconds: number[]): Command => ({
  kind: 'send',
  entries: seconds.map((delaySeconds) => ({ message: newMessage(`in ${delaySeconds}`), delaySeconds })),
});
/** Sends so much that the tail, with all bodies that were in it, goes to a segment. */
const spilling = () => sendOf(messageOfInlineBytes(399), messageOfInlineBytes(399));

function queueWith(...seconds: number[]): OneQueue {
  const queue = new OneQueue();
  queue.limits = small;
  queue.commit(spilling());
  queue.commit({ kind: 'delete', handles: queue.receive().map(({ handle }) => handle) });
  for (const delay of seconds) queue.commit(sendIn(delay));
  queue.commit(spilling());
  queue.commit({ kind: 'delete', handles: queue.receive().map(({ handle }) => handle) });
  return queue;
}

describe('pages of delayed messages', () => {
  it('take the latest due out of the manifest', () => {
    const queue = queueWith(10, 20, 70, 60, 50, 40, 30);
    assert.equal(queue.state.delayedPages.size, 1);
    const [page] = queue.state.delayedPages.values();
    assert.equal(page!.count, 3);
    assert.equal(page!.firstDueAtMillis, queue.nowMillis + 50_000);
    assert.equal(page!.lastDueAtMillis, queue.nowMillis + 70_000);
    assert.equal(queue.state.delayed.size, 4);
    assert.deepEqual(queue.counts, { visible: 0, inFlight: 0, delayed: 7 });
  });

  it('take nothing that the same commit delays: its next attempt would delay it to another time', () => {
    const queue = new OneQueue();
    queue.limits = small;
    queue.commit(sendIn(10, 20, 30, 40, 50), spilling());
    assert.equal(queue.state.delayed.size, 5);
    assert.deepEqual(
      queue.asked.flatMap(({ newPages }) => newPages),
      [],
    );
    queue.send('next');
    assert.equal(queue.state.delayed.size, 2);
    assert.equal(queue.state.delayedPages.size, 1);
  });

  it('give every message when it is due, and no earlier', () => {
    const queue = queueWith(10, 70, 20, 60, 30, 50, 40);
    const came: string[] = [];
    for (let second = 1; second <= 80; second++) {
      queue.nowMillis += 1_000;
      for (const { message } of queue.receive(10, 600)) {
        assert.equal(message.body, `in ${second}`);
        came.push(message.body);
      }
    }
    assert.equal(came.length, 7);
    assert.equal(queue.state.delayedPages.size, 0);
  });

  it('tell when to look next, and count what is due in them', () => {
    const queue = queueWith(10, 20, 70, 60, 50, 40, 30);
    assert.equal(nextVisibleAt(queue.state, queue.nowMillis + 45_000), queue.nowMillis + 50_000);
    queue.nowMillis += 65_000;
    assert.deepEqual(queue.counts, { visible: 6, inFlight: 0, delayed: 1 });
  });

  it('are dropped by a purge, whole', () => {
    const queue = queueWith(10, 70, 20, 60, 30, 50, 40);
    queue.commit(purgeOf());
    assert.equal(queue.state.delayedPages.size, 0);
    queue.nowMillis += 100_000;
    assert.deepEqual(queue.bodies(), []);
  });

  it('come back before retention ends what they hold', () => {
    const queue = queueWith(10, 70, 20, 60, 30, 50, 40);
    queue.commit(setOf({ MessageRetentionPeriod: '60' }));
    queue.nowMillis += 60_000;
    queue.commit(tidyOf());
    assert.deepEqual(queue.counts, { visible: 0, inFlight: 0, delayed: 0 });
    assert.equal(queue.state.delayedPages.size, 0);
    assert.equal(queue.state.segments.size, 0);
  });

  it('that cannot be read keep what they hold, and say so', () => {
    const queue = queueWith(10, 70, 20, 60, 30, 50, 40);
    const [id] = queue.state.delayedPages.keys();
    queue.unreadablePages.add(id!);
    queue.nowMillis += 100_000;
    const first = queue.outcome(receiveOf(10));
    assert.ok(first.kind === 'received');
    assert.equal(first.messages.length, 4);
    assert.equal(first.unreadable, true);
    assert.deepEqual([...queue.state.delayedPages.keys()], [id]);
    queue.commit(setOf({ MessageRetentionPeriod: '60' }));
    queue.commit(tidyOf());
    assert.deepEqual([...queue.state.delayedPages.keys()], [id]);
    assert.equal(queue.state.segments.size, 1);
    queue.unreadablePages.clear();
    queue.commit(tidyOf());
    assert.equal(queue.state.segments.size, 0);
  });

  it('hold what a queue without bounds would hold, whatever is sent and received', () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 5 }) },
      { weight: 3, arbitrary: fc.constantFrom('receive', 'spill', 'wait', 'wait') },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const [bounded, unbounded] = [new OneQueue(), new OneQueue()];
        bounded.limits = small;
        unbounded.limits = { ...small, delayedInlineMax: 1_000 };
        for (const drawn of steps) {
          const seen = [bounded, unbounded].map((queue) => {
            if (drawn === 'wait') queue.nowMillis += 2_000;
            else if (drawn === 'spill') queue.commit(spilling());
            else if (drawn === 'receive') return queue.bodies(3, 600).length;
            else queue.commit(sendIn(...drawn));
            return queue.counts;
          });
          assert.deepEqual(seen[0], seen[1]);
          assert.ok(bounded.state.delayed.size <= small.delayedInlineMax + 15);
        }
      }),
    );
  });
});
