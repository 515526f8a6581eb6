import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  messageOfInlineBytes,
  OneQueue,
  purgeOf,
  receiveOf,
  redrive,
  releaseOf,
  sendOf,
  setOf,
  tidyOf,
} from '../../test/model/one-queue.ts';
import type { Command } from './command.ts';
import { layOut, liveBodies } from './compaction-layout.ts';
import { brokenStep } from './invariants.ts';
import { queueLimits } from './limits.ts';
import type { PageId } from './queue-state.ts';
import type { PreparedPage, PreparedSegment } from './resources.ts';

const small = {
  ...queueLimits,
  segmentsInlineMax: 4,
  segmentPageEntries: 3,
  tailBytesMax: 400,
  segmentBytesMax: 500,
};
/** A segment of its own for each. */
const filling = (count: number): Command =>
  sendOf(...Array.from({ length: count }, () => messageOfInlineBytes(450)));

function queueWith(segments: number, attributes = {}): OneQueue {
  const queue = new OneQueue(attributes);
  queue.limits = small;
  for (let n = 0; n < segments; n++) {
    queue.nowMillis += 1_000;
    queue.commit(filling(1));
  }
  return queue;
}
const hulls = (queue: OneQueue) =>
  [...queue.state.segmentsPages.values()].map((page) => [page.firstSequence, page.lastSequence]);
const sequences = (queue: OneQueue, most: number) =>
  queue.receive(most, 600).map(({ handle }) => handle.sequence);

describe('pages of segments', () => {
  it('take the coldest out of the manifest: neither what is received next nor what was sent last', () => {
    const queue = queueWith(5);
    assert.deepEqual(hulls(queue), [[2, 4]]);
    const [page] = queue.state.segmentsPages.values();
    const { count, liveCount, sentAtMinMillis, sentAtMaxMillis } = page!;
    assert.deepEqual([count, liveCount, sentAtMinMillis, sentAtMaxMillis], [3, 3, 1_002_000, 1_004_000]);
    assert.equal(queue.state.segments.size, 2);
    assert.deepEqual(queue.counts, { visible: 5, inFlight: 0, delayed: 0 });
  });

  it('come back when one of their messages is received, and leave the rest as they are', () => {
    const queue = queueWith(8);
    assert.deepEqual(hulls(queue), [
      [2, 4],
      [5, 7],
    ]);
    assert.deepEqual(sequences(queue, 1), [1]);
    assert.equal(queue.state.segmentsPages.size, 2);
    assert.deepEqual(sequences(queue, 2), [2, 3]);
    assert.deepEqual(hulls(queue), [[5, 7]]);
    assert.deepEqual(sequences(queue, 10), [4, 5, 6, 7, 8]);
    assert.equal(queue.state.segmentsPages.size, 0);
  });

  it('take no segment with a message that is delivered, delayed or on its way to another queue', () => {
    const queue = queueWith(4, redrive(1));
    queue.receive(1, 600);
    queue.receive(1, 0);
    queue.letRedeliveriesBegin();
    queue.receive(1, 600);
    assert.equal(queue.state.intents.size, 1);
    queue.commit({ kind: 'send', entries: [{ message: messageOfInlineBytes(450), delaySeconds: 60 }] });
    queue.commit(filling(6));
    queue.send('more');
    assert.deepEqual(hulls(queue), [
      [8, 10],
      [6, 7],
    ]);
  });

  it('reach over nothing that lies between and stays', () => {
    const queue = new OneQueue();
    queue.limits = { ...small, inlineMessageBytesMax: 300 };
    queue.commit(filling(4));
    queue.send('small');
    queue.commit(filling(8));
    queue.send('more');
    assert.deepEqual(hulls(queue), [
      [2, 4],
      [10, 12],
      [7, 9],
    ]);
    assert.deepEqual([...queue.state.tail.keys()], [5, 14]);
  });

  it('are found again after what was given back came to lie in front', () => {
    const queue = queueWith(8);
    const held = queue.receive(1, 600);
    queue.commit(releaseOf(held[0]!.handle));
    assert.deepEqual(sequences(queue, 10), [1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('are dropped by a purge, whole and unread', () => {
    const queue = queueWith(8);
    for (const id of queue.state.segmentsPages.keys()) queue.unreadablePages.add(id);
    queue.commit(purgeOf());
    assert.deepEqual([queue.state.segmentsPages.size, queue.state.segments.size], [0, 0]);
    assert.deepEqual(queue.bodies(), []);
  });

  it('end whole and unread when all in them has expired, and come back when the first has', () => {
    const queue = queueWith(8, { MessageRetentionPeriod: '60' });
    const [first] = queue.state.segmentsPages.keys();
    queue.unreadablePages.add(first!);
    queue.nowMillis = 1_000_000 + 64_000;
    queue.commit(tidyOf());
    assert.deepEqual(hulls(queue), [[5, 7]]);
    assert.equal(queue.counts.visible, 4);
    queue.nowMillis += 1_000;
    queue.commit(tidyOf());
    assert.equal(queue.state.segmentsPages.size, 0);
    assert.deepEqual(
      queue.asked.flatMap(({ pages }) => [...pages.values()]),
      ['segments'],
    );
    assert.deepEqual(sequences(queue, 10), [6, 7, 8]);
  });

  it('end with the ready pages in them, and not while one that reaches further cannot be read', () => {
    const queue = queueWith(20, { MessageRetentionPeriod: '60' });
    queue.limits = { ...small, segmentsInlineMax: 1_000, readyRangesMax: 2, readyPageRanges: 2 };
    const held = [...queue.receive(10, 600), ...queue.receive(10, 600)];
    queue.commit({ kind: 'delete', handles: held.filter((_, i) => i % 2 === 1).map(({ handle }) => handle) });
    queue.commit(releaseOf(...held.filter((_, i) => i % 2 === 0).map(({ handle }) => handle)));
    assert.deepEqual(
      [...queue.state.readyPages.values()].map((page) => [page.firstSequence, page.lastSequence]),
      [
        [17, 19],
        [13, 15],
        [9, 11],
        [5, 7],
      ],
    );
    queue.limits = { ...small, readyRangesMax: 2, readyPageRanges: 2 };
    queue.send('more');
    assert.deepEqual(hulls(queue), [
      [13, 17],
      [7, 11],
    ]);
    const across = [...queue.state.readyPages].find(([, page]) => page.firstSequence === 5)![0];
    queue.unreadablePages.add(across);
    queue.nowMillis = 1_000_000 + 71_000;
    queue.commit(tidyOf());
    assert.deepEqual(hulls(queue), [
      [13, 17],
      [7, 11],
    ]);
    queue.unreadablePages.clear();
    queue.commit(tidyOf());
    assert.deepEqual(sequences(queue, 10), [13, 15, 17, 19, 21]);
  });

  it('that cannot be read are passed over as a whole, and say so', () => {
    const queue = queueWith(8);
    const [first] = queue.state.segmentsPages.keys();
    queue.unreadablePages.add(first!);
    const outcome = queue.outcome(receiveOf(10, 600));
    assert.ok(outcome.kind === 'received');
    assert.deepEqual(
      outcome.messages.map(({ handle }) => handle.sequence),
      [1, 5, 6, 7, 8],
    );
    assert.equal(outcome.unreadable, true);
    queue.commit(setOf({ MessageRetentionPeriod: '60' }));
    queue.nowMillis = 1_000_000 + 62_000;
    queue.commit(tidyOf());
    assert.ok(queue.state.segmentsPages.has(first!));
    queue.unreadablePages.clear();
    queue.commit(tidyOf());
    assert.deepEqual(sequences(queue, 10), [3, 4]);
  });

  it('that were written for a swap that was lost are used only if all they cover is unchanged', () => {
    for (const [rivals, used] of [
      [[tidyOf(1)], true],
      [[receiveOf(1, 600)], true],
      [[receiveOf(2, 600)], false],
      [[purgeOf()], false],
      [[tidyOf(1), tidyOf(100)], false],
    ] as const) {
      const queue = queueWith(4);
      const [command, pages, prepared] = [filling(1), [] as PreparedPage[], [] as PreparedSegment[]];
      queue.attempt([command], prepared, pages);
      assert.equal(pages.length, 1);
      for (const rival of rivals) queue.commit(rival);
      queue.commitPrepared([command], prepared, pages);
      assert.equal(queue.state.segmentsPages.has(pages[0]!.id), used);
    }
  });

  it('are not used when one of their segments has lost a message meanwhile', () => {
    const queue = new OneQueue();
    queue.limits = small;
    const pair = () => sendOf(messageOfInlineBytes(210), messageOfInlineBytes(210));
    for (let n = 0; n < 4; n++) queue.commit(pair());
    const [command, pages, prepared] = [pair(), [] as PreparedPage[], [] as PreparedSegment[]];
    queue.attempt([command], prepared, pages);
    assert.equal(pages.length, 1);
    const [, , third, fourth] = queue.receive(4, 600);
    queue.commit({ kind: 'delete', handles: [third!.handle] });
    queue.commit(releaseOf(fourth!.handle));
    queue.commitPrepared([command], prepared, pages);
    assert.ok(!queue.state.segmentsPages.has(pages[0]!.id));
    const [page] = queue.state.segmentsPages.values();
    assert.deepEqual([page!.firstSequence, page!.liveCount], [5, 4]);
  });

  it('never hold a segment that no manifest has named: its sequence numbers are not certain yet', () => {
    const queue = new OneQueue();
    queue.limits = small;
    queue.commit(filling(20));
    assert.equal(queue.state.segmentsPages.size, 0);
    queue.send('next');
    assert.ok(queue.state.segmentsPages.size > 0);
  });

  it('are not passed over by the runs of what is compacted around them', () => {
    const queue = queueWith(5);
    const from = new Set(queue.state.segments.keys());
    const { runs } = layOut(queue.state, from, liveBodies(queue.state, from));
    assert.deepEqual(
      runs.map(({ firstSequence, count }) => [firstSequence, count]),
      [
        [1, 1],
        [5, 1],
      ],
    );
  });

  it('let a compaction that chose one of their segments before do nothing', () => {
    const queue = queueWith(4);
    const from = [...queue.state.segments.keys()];
    const bodies = liveBodies(queue.state, from);
    const layout = layOut(queue.state, new Set(from), bodies);
    queue.commit(filling(1));
    assert.deepEqual(hulls(queue), [[2, 4]]);
    const into = {
      baseVersion: 5,
      nonce: 'ab'.repeat(8),
      sentAtMaxMillis: 1_004_000,
      bytes: 2_000,
      ...layout,
    };
    assert.equal(queue.outcome({ kind: 'replace-segments', from, into }).kind, 'superseded');
    assert.deepEqual(sequences(queue, 10), [1, 2, 3, 4, 5]);
  });

  it('let nobody name a collected segment under their name', () => {
    const queue = queueWith(8);
    const { state } = queue;
    const [id, page] = [...state.segmentsPages][0]!;
    const writers = [{ id: '1'.repeat(32) as never, attempt: 1, version: state.version + 1, roundMillis: 0 }];
    const base = { ...state, version: state.version + 1, writers, collectedBelow: 6 };
    const back = new Map([...state.segments, ...(queue.pages.get(id) as typeof state.segments)]);
    const without = new Map([...state.segmentsPages].filter(([other]) => other !== id));
    assert.equal(brokenStep(state, { ...base, segments: back, segmentsPages: without }), undefined);
    assert.match(brokenStep(state, { ...base, segments: back })!, /is new/);
    const renamed = new Map([...state.segmentsPages, ['2-00' as PageId, { ...page, baseVersion: 2 }]]);
    assert.match(brokenStep(state, { ...base, segmentsPages: renamed })!, /is new/);
  });
});
