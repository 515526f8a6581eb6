import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fifoQueue, sendIn } from '../../test/model/fifo.ts';
import { newMessage, OneQueue, sendOf } from '../../test/model/one-queue.ts';
import { emptyPage } from './deduplication-page.ts';
import { queueLimits } from './limits.ts';
import { type PageKind, PageReader, pageKinds } from './pages.ts';
import type { PageId } from './queue-state.ts';
import { emptyRanges } from './range-set.ts';

const empty = {
  delayed: new Map(),
  ready: emptyRanges,
  segments: new Map(),
  lease: { sequences: [], deliveries: [] },
  deduplication: emptyPage(0),
} as const;

/** With two pages of this kind, at least. */
function queueWithPages(kind: PageKind): OneQueue {
  if (kind === 'deduplication') return queueWithDeduplicationPages();
  const queue = new OneQueue();
  queue.limits = {
    ...queueLimits,
    tailBytesMax: 200,
    delayedInlineMax: 2,
    delayedPageEntries: 2,
    leaseInlineMax: 2,
    leasePageEntries: 2,
    readyRangesMax: 2,
    readyPageRanges: 1,
    segmentsInlineMax: 3,
    segmentPageEntries: 2,
  };
  // What is delayed or received lies between segments and keeps them out of pages.
  const others = kind !== 'segments';
  for (let n = 0; n < 20; n++) {
    const later = { message: newMessage(`later ${n}`), delaySeconds: 600 + n };
    const now = { message: newMessage(`now ${n}`), delaySeconds: 0 };
    queue.commit({
      kind: 'send',
      entries: others ? [later, now] : [now, { ...now, message: newMessage('x') }],
    });
  }
  for (let n = 0; others && n < 8; n++) queue.receive(1, 600);
  queue.commit(sendOf(newMessage('folds them')));
  return queue;
}

/** Only a FIFO queue has them. They tell each other apart by count and time alone. */
function queueWithDeduplicationPages(): OneQueue {
  const queue = fifoQueue();
  queue.limits = { ...queue.limits, deduplicationInlineMax: 1, deduplicationPageEntries: 2 };
  for (let n = 0; n < 8; n++) {
    queue.commit(sendIn('a', `a${n}`));
    queue.nowMillis += 1_000;
  }
  return queue;
}

function read(queue: OneQueue, kind: PageKind, of: PageId, content: unknown): readonly [boolean, boolean] {
  const reader = new PageReader(() => content as never);
  const reference = queue.state[`${kind}Pages`].get(of)!;
  return [reader.read(kind, of, reference as never) !== undefined, reader.unreadable];
}

describe('a page that is read', () => {
  it('is the one that its reference was made for, or as good as unreadable', () => {
    for (const kind of pageKinds) {
      const queue = queueWithPages(kind);
      const [one, other] = queue.state[`${kind}Pages`].keys();
      assert.ok(one !== undefined && other !== undefined, `two pages of ${kind}`);
      assert.deepEqual(read(queue, kind, one, queue.pages.get(one)), [true, false], kind);
      assert.deepEqual(read(queue, kind, one, queue.pages.get(other)), [false, true], `another ${kind} page`);
      assert.deepEqual(read(queue, kind, one, empty[kind]), [false, true], `an empty ${kind} page`);
    }
  });
});
