import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fifoQueue, sendIn, withoutTail } from '../../test/model/fifo.ts';
import { deleteOf, type OneQueue, receiveOf, setOf } from '../../test/model/one-queue.ts';
import { rangeCount } from './range-set.ts';

function pagedQueue(attributes: Readonly<Record<string, string>> = {}): OneQueue {
  const queue = withoutTail(fifoQueue(attributes));
  queue.limits = {
    ...queue.limits,
    delayedInlineMax: 2,
    delayedPageEntries: 2,
    leaseInlineMax: 2,
    leasePageEntries: 2,
    readyRangesMax: 2,
    readyPageRanges: 1,
    segmentsInlineMax: 2,
    segmentPageEntries: 2,
  };
  return queue;
}

describe('pages of a FIFO queue', () => {
  it('of leases that cannot be read end the walk before the first of their messages', () => {
    const queue = pagedQueue({ VisibilityTimeout: '600' });
    for (const group of ['a', 'b', 'c', 'd', 'e', 'f']) queue.commit(sendIn(group, `${group}1`));
    const [a1] = queue.receive(1, 1);
    for (let n = 0; n < 4; n++) queue.receive(1);
    queue.nowMillis += 1_000;
    assert.equal(a1!.handle.sequence, 1);
    const [id, page] = [...queue.state.leasePages][0]!;
    queue.unreadablePages.add(id);
    const before = page.firstSequence === 1 ? [] : ['a1'];
    const outcome = queue.outcome(receiveOf());
    assert.ok(outcome.kind === 'received' && outcome.unreadable);
    assert.deepEqual(
      outcome.messages.map(({ message }) => message.body),
      before,
      'f1 may be behind something',
    );
    queue.unreadablePages.clear();
    assert.ok(queue.bodies().includes('f1'));
  });

  it('are looked into and stay where they are, until one of their messages is taken', () => {
    const queue = pagedQueue({ VisibilityTimeout: '600' });
    // Every second message is of the blocked group, so that a range is a message once the others are gone.
    for (let n = 0; n < 12; n++) {
      queue.commit(sendIn('blocked', `a${n}`));
      queue.commit(sendIn('free', `f${n}`));
    }
    queue.receive(1);
    for (let n = 0; n < 12; n++) {
      const [free] = queue.receive(1);
      assert.equal(free!.message.body, `f${n}`);
      queue.commit(deleteOf(free!.handle));
    }
    const pages = (): readonly string[] => [
      ...queue.state.readyPages.keys(),
      ...queue.state.segmentsPages.keys(),
    ];
    const before = pages();
    assert.ok(queue.state.readyPages.size > 1, 'there are some');
    queue.limits = { ...queue.limits, tailBytesMax: 10_000 };
    queue.commit(sendIn('new', 'n'), receiveOf());
    assert.deepEqual(pages().slice(0, before.length), before);
    queue.nowMillis += 600_000;
    assert.deepEqual(queue.bodies(3), ['a0', 'a1', 'a2']);
  });

  it('of ready messages are not written anew by each receive that takes from among them', () => {
    const queue = pagedQueue({ VisibilityTimeout: '600' });
    queue.limits = { ...queue.limits, readyRangesMax: 12, readyPageRanges: 4, segmentsInlineMax: 1_000 };
    const count = 60;
    for (let n = 0; n < count; n++) {
      queue.commit(sendIn('blocked', `a${n}`));
      queue.commit(sendIn('free', `f${n}`));
    }
    queue.receive(1);
    const written = new Set<string>();
    for (let n = 0; n < count; n++) {
      const [free] = queue.receive(1);
      assert.equal(free!.message.body, `f${n}`);
      queue.commit(deleteOf(free!.handle));
      for (const id of queue.state.readyPages.keys()) written.add(id);
    }
    assert.ok(rangeCount(queue.state.ready) <= 12);
    assert.ok(queue.state.readyPages.size > 5, 'there are some');
    assert.ok(written.size <= count / 4, `${written.size} for ${count} ranges`);
  });

  it('of delayed messages all come back and leave anew when the delay is changed; none does while one cannot be read', () => {
    const queue = pagedQueue({ DelaySeconds: '60' });
    for (let n = 0; n < 7; n++) queue.commit(sendIn('a', `a${n}`));
    const before = [...queue.state.delayedPages.keys()];
    assert.ok(before.length > 1);
    queue.unreadablePages.add(before[0]!);
    const { state } = queue;
    assert.deepEqual(queue.outcome(setOf({ DelaySeconds: '90' })), { kind: 'unreadable' });
    assert.equal(queue.state, state);
    queue.unreadablePages.clear();
    queue.commit(setOf({ DelaySeconds: '90' }));
    assert.ok(queue.state.delayedPages.size > 1);
    assert.ok(before.every((id) => !queue.state.delayedPages.has(id)));
    const dues = [...queue.whole.delayed.values()];
    assert.deepEqual(new Set(dues), new Set([queue.nowMillis + 90_000]));
    queue.nowMillis += 90_000;
    assert.equal(queue.bodies().length, 7);
  });
});
