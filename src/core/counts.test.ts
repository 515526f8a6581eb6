import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newMessage, OneQueue, redrive, visibilityOf } from '../../test/model/one-queue.ts';
import type { Command } from './command.ts';
import { countMessages, hasVisible, nextVisibleAt } from './counts.ts';

const delayed = (delaySeconds: number): Command => ({
  kind: 'send',
  entries: [{ message: newMessage(), delaySeconds }],
});

describe('counts', () => {
  it('move with delay and visibility, without a commit', () => {
    const queue = new OneQueue();
    queue.send('a', 'b', 'c');
    queue.commit(delayed(5));
    queue.receive(2, 10);
    assert.deepEqual(queue.counts, { visible: 1, inFlight: 2, delayed: 1 });
    queue.nowMillis += 4_999;
    assert.deepEqual(queue.counts, { visible: 1, inFlight: 2, delayed: 1 });
    queue.nowMillis += 1;
    assert.deepEqual(queue.counts, { visible: 2, inFlight: 2, delayed: 0 });
    queue.nowMillis += 4_999;
    assert.deepEqual(queue.counts, { visible: 2, inFlight: 2, delayed: 0 });
    queue.nowMillis += 1;
    assert.deepEqual(queue.counts, { visible: 4, inFlight: 0, delayed: 0 });
  });

  it('leave out what retention has ended and what is on its way to another queue', () => {
    const queue = new OneQueue({ MessageRetentionPeriod: '60', ...redrive(1) });
    queue.send('a', 'b');
    queue.receive(1, 0);
    queue.letRedeliveriesBegin();
    queue.receive(1, 3_600);
    assert.deepEqual(queue.places, { 1: 'intents', 2: 'deliveries' });
    assert.deepEqual(queue.counts, { visible: 0, inFlight: 1, delayed: 0 });
    const later = { ...queue.time, manifestMillis: queue.nowMillis + 60_000 };
    assert.deepEqual(countMessages(queue.state, later), { visible: 0, inFlight: 0, delayed: 0 });
    // Counting is a look: the state is as it was.
    assert.deepEqual(queue.places, { 1: 'intents', 2: 'deliveries' });
  });
});

describe('the next time that something becomes visible', () => {
  it('is the earliest of what is delayed and in flight, and later than now', () => {
    const queue = new OneQueue();
    const start = queue.nowMillis;
    assert.equal(nextVisibleAt(queue.state, start), undefined);
    queue.send('a');
    assert.equal(nextVisibleAt(queue.state, start), undefined);
    queue.receive(1, 30);
    assert.equal(nextVisibleAt(queue.state, start), start + 30_000);
    queue.commit(delayed(5), delayed(7));
    assert.equal(nextVisibleAt(queue.state, start), start + 5_000);
    assert.equal(nextVisibleAt(queue.state, start + 5_000), start + 7_000);
    assert.equal(nextVisibleAt(queue.state, start + 7_000), start + 30_000);
    assert.equal(nextVisibleAt(queue.state, start + 30_000), undefined);
  });

  it('follows a visibility change', () => {
    const queue = new OneQueue();
    queue.send('a');
    const [a] = queue.receive(1, 30);
    queue.commit(visibilityOf(a!.handle, 3));
    assert.equal(nextVisibleAt(queue.state, queue.nowMillis), queue.nowMillis + 3_000);
  });
});

describe('whether a receive would find anything', () => {
  it('is so for what is ready, due, or out of its lease, exactly from then on', () => {
    const queue = new OneQueue();
    const start = queue.nowMillis;
    assert.equal(hasVisible(queue.state, start), false);
    queue.commit(delayed(5));
    assert.equal(hasVisible(queue.state, start + 4_999), false);
    assert.equal(hasVisible(queue.state, start + 5_000), true);
    queue.nowMillis += 5_000;
    queue.receive(1, 10);
    assert.equal(hasVisible(queue.state, start + 14_999), false);
    assert.equal(hasVisible(queue.state, start + 15_000), true);
    queue.send('ready');
    assert.equal(hasVisible(queue.state, start), true);
  });
});
