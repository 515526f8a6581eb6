import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  deleteOf,
  newMessage,
  OneQueue,
  receiveOf,
  redrive,
  sendOf,
  setOf,
  targetIncarnation,
  tidyOf,
  visibilityOf,
} from '../../test/model/one-queue.ts';

const minute = { MessageRetentionPeriod: '60' };
const big = (count: number) => sendOf(...Array.from({ length: count }, () => newMessage('x'.repeat(60_000))));

describe('retention', () => {
  it('ends an inline message exactly at its period, not a millisecond earlier, wherever it is', () => {
    const queue = new OneQueue(minute);
    queue.send('in flight', 'ready');
    queue.receive(1, 3_600);
    queue.commit({ kind: 'send', entries: [{ message: newMessage('delayed'), delaySeconds: 900 }] });
    queue.nowMillis += 59_999;
    assert.deepEqual(queue.counts, { visible: 1, inFlight: 1, delayed: 1 });
    assert.equal(queue.commit(tidyOf())[0]!.effect, false);
    queue.nowMillis += 1;
    assert.deepEqual(queue.counts, { visible: 0, inFlight: 0, delayed: 0 });
    queue.commit(tidyOf());
    assert.deepEqual(queue.places, {});
    assert.equal(queue.state.tail.size, 0);
  });

  it('goes by manifest time, however far the clock is', () => {
    const queue = new OneQueue(minute);
    queue.send('a');
    queue.manifestMillis = queue.nowMillis + 59_999;
    queue.nowMillis += 3_600_000;
    assert.deepEqual(queue.bodies(), ['a']);
    queue.manifestMillis += 1;
    queue.commit(tidyOf());
    assert.deepEqual(queue.places, {});
  });

  it('starts at the stamp, the upper bound of the time of the send', () => {
    const queue = new OneQueue(minute);
    queue.stampLeadMillis = 700;
    queue.send('a');
    queue.nowMillis += 60_699;
    assert.equal(queue.commit(tidyOf())[0]!.effect, false);
    queue.nowMillis += 1;
    assert.equal(queue.commit(tidyOf())[0]!.effect, true);
  });

  it('follows the period as it is now, for messages that are there already', () => {
    const queue = new OneQueue();
    queue.send('a');
    queue.nowMillis += 60_000;
    queue.commit(setOf(minute));
    assert.deepEqual(queue.counts, { visible: 0, inFlight: 0, delayed: 0 });
    queue.commit(tidyOf());
    assert.deepEqual(queue.places, {});
  });

  it('drops a segment when its youngest has expired, and before that what a receive meets', () => {
    const queue = new OneQueue(minute);
    queue.commit(big(3));
    queue.nowMillis += 10_000;
    queue.commit(big(2));
    assert.deepEqual(
      [...queue.state.segments.values()].map(({ liveCount }) => liveCount),
      [5],
    );
    queue.nowMillis += 50_000;
    assert.equal(queue.commit(tidyOf())[0]!.effect, false);
    assert.equal(queue.counts.visible, 5);
    const leased = queue.receive();
    assert.deepEqual(
      leased.map(({ handle }) => handle.sequence),
      [4, 5],
    );
    assert.deepEqual(queue.places, { 4: 'deliveries', 5: 'deliveries' });
    assert.deepEqual(
      [...queue.state.segments.values()].map(({ liveCount }) => liveCount),
      [2],
    );
    queue.nowMillis += 10_000;
    assert.equal(queue.commit(tidyOf())[0]!.effect, true);
    assert.deepEqual(queue.places, {});
    assert.equal(queue.state.segments.size, 0);
  });

  it('is an effect of a receive that finds nothing but what has expired', () => {
    const queue = new OneQueue(minute);
    queue.commit(big(3));
    queue.nowMillis += 10_000;
    queue.commit(big(2));
    queue.receive(3, 1);
    queue.receive(2, 3_600);
    queue.nowMillis += 50_000;
    assert.deepEqual(queue.commit(receiveOf(10), receiveOf(10)), [
      { outcome: { kind: 'received', messages: [], unreadable: false }, effect: true },
      { outcome: { kind: 'received', messages: [], unreadable: false }, effect: false },
    ]);
    assert.deepEqual(queue.places, { 4: 'deliveries', 5: 'deliveries' });
  });

  it('that takes a message from its holder in this very transition is an effect, or the answer could be premature', () => {
    const queue = new OneQueue(minute);
    queue.send('a', 'b');
    const [a, b] = queue.receive(2, 3_600);
    queue.nowMillis += 60_000;
    assert.deepEqual(queue.attempt([deleteOf(a!.handle)]).results, [
      { outcome: { kind: 'done' }, effect: true },
    ]);
    assert.deepEqual(queue.attempt([visibilityOf(b!.handle, 1)]).results, [
      { outcome: { kind: 'visibility', entries: ['not-available'] }, effect: true },
    ]);
    queue.commit(tidyOf());
    assert.equal(queue.commit(deleteOf(a!.handle))[0]!.effect, false);
    assert.equal(queue.commit(visibilityOf(b!.handle, 1))[0]!.effect, false);
  });

  it('leaves what is on its way to another queue, inline', () => {
    const queue = new OneQueue({ ...minute, ...redrive(1) });
    queue.send('letter');
    queue.receive(1, 0);
    queue.receive();
    queue.nowMillis += 60_000;
    assert.equal(queue.commit(tidyOf())[0]!.effect, false);
    assert.deepEqual(queue.places, { 1: 'intents' });
  });

  it('leaves what is on its way to another queue, in an expired segment', () => {
    const queue = new OneQueue({ ...minute, ...redrive(1) });
    queue.commit(big(5));
    queue.send('inline');
    queue.receive(2, 0);
    queue.receive(2, 3_600);
    assert.deepEqual(queue.places, {
      1: 'intents',
      2: 'intents',
      3: 'deliveries',
      4: 'deliveries',
      5: 'ready',
      6: 'ready',
    });
    queue.nowMillis += 60_000;
    queue.commit(tidyOf());
    assert.deepEqual(queue.places, { 1: 'intents', 2: 'intents' });
    assert.deepEqual(
      [...queue.state.segments.values()].map(({ liveCount }) => liveCount),
      [2],
    );
    // Nothing is left to end: the next look is without effect.
    assert.equal(queue.commit(tidyOf())[0]!.effect, false);
    queue.commit({ kind: 'resolve-moves', targetIncarnation, through: 2 });
    assert.equal(queue.state.segments.size, 0);
  });
});
