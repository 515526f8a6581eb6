import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  deleteOf,
  OneQueue,
  otherIncarnation,
  redrive,
  releaseOf,
  visibilityOf,
} from '../../test/model/one-queue.ts';
import { LEASE_MILLIS_MAX } from './limits.ts';

const answer = (result: string, effect = result === 'done') => [
  { outcome: { kind: 'visibility', entries: [result] }, effect },
];

describe('change visibility', () => {
  it('counts the new timeout from now and keeps the handle and the count', () => {
    const queue = new OneQueue();
    queue.send('a');
    const [a] = queue.receive(1, 30);
    queue.nowMillis += 20_000;
    const before = queue.state.deliveries.get(1)!;
    assert.deepEqual(queue.commit(visibilityOf(a!.handle, 60)), answer('done'));
    assert.deepEqual(queue.state.deliveries.get(1), {
      ...before,
      visibleAtMillis: queue.nowMillis + 60_000,
    });
    queue.commit(deleteOf(a!.handle));
    assert.deepEqual(queue.places, {});
  });

  it('makes the message visible at once with 0, and its handle still deletes until somebody receives it', () => {
    const queue = new OneQueue();
    queue.send('a');
    const [a] = queue.receive();
    queue.commit(visibilityOf(a!.handle, 0));
    assert.deepEqual(queue.counts, { visible: 1, inFlight: 0, delayed: 0 });
    const [again] = queue.receive();
    assert.equal(again!.receiveCount, 2);
    assert.deepEqual(queue.commit(visibilityOf(a!.handle, 9)), answer('not-available'));
  });

  it('works with an expired handle whose message was not delivered again', () => {
    const queue = new OneQueue();
    queue.send('a');
    const [a] = queue.receive(1, 1);
    queue.nowMillis += 5_000;
    assert.deepEqual(queue.commit(visibilityOf(a!.handle, 10)), answer('done'));
    assert.deepEqual(queue.bodies(), []);
  });

  it('allows exactly 12 hours from the receive and not a millisecond more', () => {
    const queue = new OneQueue();
    queue.send('a');
    const [a] = queue.receive(1, 30);
    assert.deepEqual(queue.commit(visibilityOf(a!.handle, 43_200)), answer('done'));
    queue.nowMillis += 1;
    assert.deepEqual(queue.commit(visibilityOf(a!.handle, 43_200)), answer('beyond-limit'));
    queue.nowMillis += 999;
    assert.deepEqual(queue.commit(visibilityOf(a!.handle, 43_199)), answer('done'));
    assert.equal(
      queue.state.deliveries.get(1)!.visibleAtMillis,
      queue.state.deliveries.get(1)!.leasedAtMillis + LEASE_MILLIS_MAX,
    );
  });

  it('counts the 12 hours of a redelivery from that redelivery', () => {
    const queue = new OneQueue();
    queue.send('a');
    queue.receive(1, 30);
    queue.nowMillis += 7 * 3_600_000;
    const [again] = queue.receive(1, 30);
    assert.deepEqual(queue.commit(visibilityOf(again!.handle, 43_200)), answer('done'));
  });

  it('judges each entry of a batch alone', () => {
    const queue = new OneQueue();
    queue.send('a', 'b');
    const [a, b] = queue.receive();
    queue.nowMillis += 1_000;
    const [result] = queue.commit({
      kind: 'change-visibility',
      entries: [
        { handle: { ...a!.handle, incarnation: otherIncarnation }, timeoutSeconds: 1 },
        { handle: a!.handle, timeoutSeconds: 43_200 },
        { handle: b!.handle, timeoutSeconds: 5 },
      ],
    });
    assert.deepEqual(result, {
      outcome: { kind: 'visibility', entries: ['not-available', 'beyond-limit', 'done'] },
      effect: true,
    });
  });

  it('finds neither a deleted message nor one on its way to another queue', () => {
    const queue = new OneQueue(redrive(1));
    queue.send('a', 'b');
    const [a, b] = queue.receive(2, 0);
    queue.commit(deleteOf(b!.handle));
    assert.deepEqual(queue.commit(visibilityOf(b!.handle, 1)), answer('not-available'));
    queue.receive();
    assert.deepEqual(queue.places, { 1: 'intents' });
    assert.deepEqual(queue.commit(visibilityOf(a!.handle, 1)), answer('not-available'));
  });
});

describe('release', () => {
  it('undoes a first receive: in its old place, never received, and the handle is void', () => {
    const queue = new OneQueue();
    queue.send('1', '2', '3');
    const [, second] = queue.receive(2);
    assert.deepEqual(queue.commit(releaseOf(second!.handle)), [{ outcome: { kind: 'done' }, effect: true }]);
    assert.deepEqual(queue.places, { 1: 'deliveries', 2: 'ready', 3: 'ready' });
    assert.equal(queue.commit(deleteOf(second!.handle))[0]!.effect, false);
    const leased = queue.receive();
    assert.deepEqual(
      leased.map(({ message, receiveCount }) => [message.body, receiveCount]),
      [
        ['2', 1],
        ['3', 1],
      ],
    );
  });

  it('undoes a later receive: visible at once, the count restored, the first time kept, the handle void', () => {
    const queue = new OneQueue();
    queue.send('a');
    const firstAt = queue.nowMillis;
    queue.receive(1, 1);
    queue.nowMillis += 1_000;
    const [second] = queue.receive(1, 60);
    queue.nowMillis += 5;
    queue.commit(releaseOf(second!.handle));
    assert.equal(queue.state.deliveries.get(1)!.visibleAtMillis, queue.nowMillis);
    assert.equal(queue.commit(visibilityOf(second!.handle, 1))[0]!.effect, false);
    assert.equal(queue.commit(deleteOf(second!.handle))[0]!.effect, false);
    const [third] = queue.receive();
    assert.deepEqual([third!.receiveCount, third!.firstReceivedAtMillis], [2, firstAt]);
  });

  it('does not bring a message nearer to its dead-letter queue', () => {
    const queue = new OneQueue(redrive(1));
    queue.send('a');
    for (let n = 0; n < 3; n++) {
      const [a] = queue.receive();
      assert.equal(a!.receiveCount, 1);
      queue.commit(releaseOf(a!.handle));
    }
    assert.deepEqual(queue.places, { 1: 'ready' });
  });

  it('of a superseded handle or a repeat changes nothing', () => {
    const queue = new OneQueue();
    queue.send('a');
    const [first] = queue.receive(1, 0);
    const [second] = queue.receive(1);
    assert.equal(queue.commit(releaseOf(first!.handle))[0]!.effect, false);
    assert.equal(queue.commit(releaseOf(second!.handle, second!.handle))[0]!.effect, true);
    assert.equal(queue.state.deliveries.get(1)!.receiveCount, 1);
  });
});
