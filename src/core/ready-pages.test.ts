import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  messageOfInlineBytes,
  OneQueue,
  purgeOf,
  receiveOf,
  releaseOf,
  sendOf,
  setOf,
  tidyOf,
} from '../../test/model/one-queue.ts';
import type { Leased } from './command.ts';
import { liveBodies } from './compaction-layout.ts';
import { hasVisible } from './counts.ts';
import { queueLimits } from './limits.ts';
import { iterate } from './range-set.ts';

const small = { ...queueLimits, readyRangesMax: 4, readyPageRanges: 3, tailBytesMax: 400 };
const spilling = () => sendOf(messageOfInlineBytes(399), messageOfInlineBytes(399));

/** 1 to 14 and two that are received, all in segments; of the 14 those with these numbers are ready again. */
function queueWith(...given: number[]): { queue: OneQueue; held: readonly Leased[] } {
  const queue = new OneQueue();
  queue.limits = small;
  queue.send(...Array.from({ length: 14 }, (_, i) => `${i + 1}`));
  queue.commit(spilling());
  const held = [...queue.receive(10, 600), ...queue.receive(6, 600)];
  assert.deepEqual([queue.state.tail.size, queue.state.ready.length], [0, 0]);
  const back = held.filter(({ handle }) => given.includes(handle.sequence));
  queue.commit(releaseOf(...back.map(({ handle }) => handle)));
  return { queue, held };
}
const odd = [1, 3, 5, 7, 9, 11, 13];

describe('pages of ready messages', () => {
  it('take the highest ranges out of the manifest', () => {
    const { queue } = queueWith(...odd);
    const [page] = queue.state.readyPages.values();
    assert.deepEqual([page!.count, page!.firstSequence, page!.lastSequence], [3, 9, 13]);
    assert.deepEqual([...iterate(queue.state.ready)], [1, 3, 5, 7]);
    assert.deepEqual(queue.counts, { visible: 7, inFlight: 9, delayed: 0 });
  });

  it('give their messages in their turn', () => {
    const { queue } = queueWith(...odd);
    assert.deepEqual(queue.bodies(4, 600), ['1', '3', '5', '7']);
    assert.equal(queue.state.readyPages.size, 1, 'nothing of it was wanted');
    assert.ok(hasVisible(queue.state, queue.nowMillis));
    assert.deepEqual(queue.bodies(10, 600), ['9', '11', '13']);
    assert.equal(queue.state.readyPages.size, 0);
  });

  it('let what is given back into their midst go first, in its turn', () => {
    const { queue, held } = queueWith(...odd);
    queue.receive(3, 600);
    queue.commit(releaseOf(held[9]!.handle));
    assert.deepEqual([...iterate(queue.state.ready)], [7, 10]);
    assert.equal(queue.state.readyPages.size, 1);
    assert.deepEqual(queue.bodies(10, 600), ['7', '9', '10', '11', '13']);
  });

  it('hold nothing of the tail, which ends one by one', () => {
    const { queue } = queueWith(1, 3, 5, 7);
    queue.send('a', 'b', 'c');
    const inTail = queue.receive(10, 600).slice(4);
    assert.deepEqual([...queue.state.tail.keys()], [17, 18, 19]);
    queue.commit(releaseOf(inTail[0]!.handle, inTail[2]!.handle));
    assert.equal(queue.state.readyPages.size, 0);
    const { queue: other } = queueWith(1, 3, 5, 7);
    other.send('a');
    assert.deepEqual([...iterate(other.state.ready)], [1, 17], 'the highest of the others left');
  });

  it('keep a compaction from taking for dead what they hold', () => {
    const { queue } = queueWith(...odd);
    const live = liveBodies(queue.state, queue.state.segments.keys()).map(({ sequence }) => sequence);
    for (const sequence of [9, 11, 13]) assert.ok(live.includes(sequence));
  });

  it('are dropped by a purge, whole', () => {
    const { queue } = queueWith(...odd);
    queue.commit(purgeOf());
    assert.equal(queue.state.readyPages.size, 0);
    assert.deepEqual(queue.bodies(), []);
  });

  it('come back before retention ends what they hold', () => {
    const { queue } = queueWith(...odd);
    queue.commit(setOf({ MessageRetentionPeriod: '60' }));
    queue.nowMillis += 60_000;
    queue.commit(tidyOf());
    assert.deepEqual(queue.counts, { visible: 0, inFlight: 0, delayed: 0 });
    assert.deepEqual([queue.state.readyPages.size, queue.state.segments.size], [0, 0]);
  });

  it('that cannot be read keep what they hold, and say so', () => {
    const { queue, held } = queueWith(...odd);
    queue.commit(releaseOf(held[9]!.handle, held[13]!.handle));
    const [id] = queue.state.readyPages.keys();
    queue.unreadablePages.add(id!);
    const first = queue.outcome(receiveOf(10, 600));
    assert.ok(first.kind === 'received');
    assert.deepEqual(
      first.messages.map(({ message }) => message.body),
      ['1', '3', '5', '7', '10', '14'],
    );
    assert.equal(first.unreadable, true);
    queue.commit(setOf({ MessageRetentionPeriod: '60' }));
    queue.nowMillis += 60_000;
    queue.commit(tidyOf());
    assert.deepEqual([...queue.state.readyPages.keys()], [id]);
    assert.equal(queue.state.segments.size, 1);
    queue.unreadablePages.clear();
    queue.commit(tidyOf());
    assert.equal(queue.state.segments.size, 0);
  });

  it('that were written for a swap that was lost are used as long as all in them is still ready', () => {
    for (const [rivals, used] of [
      [[tidyOf(1)], true],
      [[receiveOf(10, 600)], false],
      // The collector may have deleted it already.
      [[tidyOf(1), tidyOf(100)], false],
    ] as const) {
      const { queue, held } = queueWith(3, 5, 9, 13);
      const command = releaseOf(held[10]!.handle, held[6]!.handle, held[0]!.handle);
      const pages: Parameters<OneQueue['commitPrepared']>[2] = [];
      queue.attempt([command], [], pages);
      assert.equal(pages.length, 1);
      for (const rival of rivals) queue.commit(rival);
      queue.commitPrepared([command], [], pages);
      assert.equal(queue.state.readyPages.has(pages[0]!.id), used);
    }
  });
});
