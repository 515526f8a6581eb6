import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  deleteOf,
  incarnation,
  leasedOf,
  messageOfInlineBytes,
  newMessage,
  OneQueue,
  receiveOf,
  sendOf,
  setOf,
  visibilityOf,
} from '../../test/model/one-queue.ts';
import type { DeliveryToken } from './ids.ts';
import { IN_FLIGHT_MAX, INLINE_MESSAGE_BYTES_MAX } from './limits.ts';
import {
  type Delivery,
  newQueueState,
  type QueueState,
  type SegmentId,
  type TailMessage,
} from './queue-state.ts';
import { rangesOf } from './range-set.ts';

const large = (body: string) => ({
  ...messageOfInlineBytes(INLINE_MESSAGE_BYTES_MAX + 1),
  content: { ...newMessage().content, body: body.repeat(INLINE_MESSAGE_BYTES_MAX + 1 - 75) },
});

describe('receive', () => {
  it('leases the oldest first, at most as many as asked for', () => {
    const queue = new OneQueue();
    queue.send('1', '2', '3');
    assert.deepEqual(queue.bodies(2), ['1', '2']);
    assert.deepEqual(queue.bodies(10), ['3']);
    assert.deepEqual(queue.bodies(10), []);
  });

  it('says what SQS tells a consumer, and puts the lease into the state', () => {
    const queue = new OneQueue({ VisibilityTimeout: '11' });
    queue.send('a');
    queue.nowMillis += 500;
    const [leased] = queue.receive();
    const delivery = queue.state.deliveries.get(1)!;
    assert.deepEqual(delivery, {
      visibleAtMillis: queue.nowMillis + 11_000,
      receiveCount: 1,
      firstReceivedAtMillis: queue.nowMillis,
      leasedAtMillis: queue.nowMillis,
      token: leased!.handle.token,
      leaseVersion: 3,
    });
    assert.deepEqual(leased!.handle, { incarnation, sequence: 1, leaseVersion: 3, token: delivery.token });
    assert.deepEqual([leased!.receiveCount, leased!.firstReceivedAtMillis], [1, queue.nowMillis]);
    assert.equal(leased!.message.sentAtMillis, queue.nowMillis - 500);
  });

  it("takes its own timeout before the queue's, zero too", () => {
    const queue = new OneQueue({ VisibilityTimeout: '11' });
    queue.send('a');
    queue.receive(1, 3);
    assert.equal(queue.state.deliveries.get(1)!.visibleAtMillis, queue.nowMillis + 3_000);
    queue.nowMillis += 3_000;
    queue.receive(1, 0);
    assert.equal(queue.state.deliveries.get(1)!.visibleAtMillis, queue.nowMillis);
    assert.deepEqual(queue.bodies(1), ['a']);
  });

  it('does not lease one message twice in a transition, though its timeout is zero', () => {
    const queue = new OneQueue();
    queue.send('a');
    const results = queue.commit(receiveOf(10, 0), receiveOf(10, 0));
    assert.deepEqual(
      results.map(({ outcome }) => leasedOf(outcome).length),
      [1, 0],
    );
  });

  it('redelivers exactly when the timeout is over, counts on, and keeps the first time', () => {
    const queue = new OneQueue();
    queue.send('a');
    const [first] = queue.receive(1, 30);
    const firstAt = queue.nowMillis;
    queue.nowMillis += 29_999;
    assert.deepEqual(queue.receive(), []);
    queue.nowMillis += 1;
    const [second] = queue.receive();
    assert.deepEqual([second!.receiveCount, second!.firstReceivedAtMillis], [2, firstAt]);
    assert.notEqual(second!.handle.token, first!.handle.token);
    assert.equal(second!.handle.leaseVersion, queue.state.version);
  });

  it('shows a delayed message exactly when it is due', () => {
    const queue = new OneQueue();
    queue.commit({ kind: 'send', entries: [{ message: newMessage('late'), delaySeconds: 5 }] });
    queue.nowMillis += 4_999;
    assert.deepEqual(queue.bodies(), []);
    queue.nowMillis += 1;
    assert.deepEqual(queue.bodies(), ['late']);
  });

  it('takes redeliveries and due delays, the longest visible first, in turns with the never received', () => {
    const queue = new OneQueue();
    queue.send('1');
    queue.commit({ kind: 'send', entries: [{ message: newMessage('late'), delaySeconds: 1 }] });
    queue.send('3');
    assert.deepEqual(queue.bodies(2, 2), ['1', '3']);
    for (const body of ['4', '5', '6', '7']) queue.send(body);
    queue.nowMillis += 2_000;
    assert.deepEqual(queue.bodies(), ['late', '4', '1', '5', '3', '6', '7']);
  });

  it('lets messages that are given back at once keep no other from anybody', () => {
    const queue = new OneQueue();
    for (let n = 0; n < 30; n++) queue.send(`${n}`);
    const seen = new Set<string>();
    for (let round = 0; round < 10; round++) for (const body of queue.bodies(10, 0)) seen.add(body);
    assert.equal(seen.size, 30);
  });

  it('gives a consumer of one message at a time the others too, though it gives back each time what it has', () => {
    const queue = new OneQueue();
    queue.send('bad', ...Array.from({ length: 20 }, (_, n) => `${n}`));
    const [bad] = queue.receive(1);
    queue.commit(visibilityOf(bad!.handle, 0));
    let others = 0;
    let badOnes = 0;
    for (let round = 0; round < 24; round++) {
      const [message] = queue.receive(1);
      if (message!.message.body === 'bad') {
        badOnes++;
        queue.commit(visibilityOf(message!.handle, 0));
      } else {
        others++;
        queue.commit(deleteOf(message!.handle));
      }
    }
    assert.ok(others >= 8 && badOnes >= 8, `${others} others, ${badOnes} times the bad one`);
  });

  it('stays within IN_FLIGHT_MAX: the last free places are filled, then short polls are refused and long ones empty', () => {
    const queue = new OneQueue();
    queue.state = stateInFlight(queue.nowMillis, IN_FLIGHT_MAX - 1);
    const results = queue.attempt([receiveOf(10), receiveOf(10), receiveOf(10, undefined, true)]).results;
    assert.equal(leasedOf(results[0]!.outcome).length, 1);
    assert.deepEqual(results[1], { outcome: { kind: 'over-limit' }, effect: false });
    assert.deepEqual(results[2], {
      outcome: { kind: 'received', messages: [], unreadable: false },
      effect: false,
    });
  });

  it('does not count expired leases, nor a lease of zero seconds, as in flight', () => {
    const queue = new OneQueue();
    queue.state = stateInFlight(queue.nowMillis, IN_FLIGHT_MAX - 1);
    const results = queue.attempt([receiveOf(2, 0), receiveOf(10)]).results;
    assert.deepEqual(
      results.map(({ outcome }) => leasedOf(outcome).length),
      [2, 1],
    );
    queue.nowMillis += 30_000;
    assert.equal(leasedOf(queue.attempt([receiveOf(10)]).results[0]!.outcome).length, 10);
  });

  it('asks for all the bodies of a batch in one round', () => {
    const queue = new OneQueue();
    queue.commit(sendOf(large('a')));
    queue.commit(sendOf(large('b')), sendOf(newMessage('c')));
    assert.equal(queue.state.segments.size, 2);
    const results = queue.commit(receiveOf(1), receiveOf(1), receiveOf(1));
    assert.equal(queue.asked.length, 1);
    assert.deepEqual(queue.asked[0]!.segments, new Set(queue.state.segments.keys()));
    assert.deepEqual(
      results.map(({ outcome }) => leasedOf(outcome)[0]!.message.body[0]),
      ['a', 'b', 'c'],
    );
  });

  it('goes round a body that cannot be read, says so, and keeps the message', () => {
    const queue = new OneQueue();
    queue.commit(sendOf(large('a')), sendOf(newMessage('b')));
    const [segment] = queue.state.segments.keys();
    queue.unreadable.add(segment as SegmentId);
    assert.deepEqual(
      queue
        .commit(receiveOf(1))
        .map(({ outcome }) => [
          outcome.kind === 'received' && outcome.unreadable,
          leasedOf(outcome).map(({ message }) => message.body),
        ]),
      [[true, ['b']]],
    );
    assert.deepEqual(queue.commit(receiveOf(1)), [
      { outcome: { kind: 'received', messages: [], unreadable: true }, effect: false },
    ]);
    assert.deepEqual(queue.places, { 1: 'ready', 2: 'deliveries' });
    queue.unreadable.clear();
    assert.equal(queue.bodies(1)[0]![0], 'a');
  });

  it('goes by the visibility timeout that the same transition sets', () => {
    const queue = new OneQueue();
    queue.send('a');
    queue.commit(receiveOf(), setOf({ VisibilityTimeout: '2' }));
    assert.equal(queue.state.deliveries.get(1)!.visibleAtMillis, queue.nowMillis + 2_000);
  });

  it('never leases what was deleted, nor what a visibility change hides again', () => {
    const queue = new OneQueue();
    queue.send('a', 'b', 'c');
    const [a, b] = queue.receive(3, 1);
    queue.nowMillis += 1_000;
    const results = queue.commit(receiveOf(), deleteOf(a!.handle), visibilityOf(b!.handle, 60));
    assert.deepEqual(
      leasedOf(results[0]!.outcome).map(({ message }) => message.body),
      ['c'],
    );
  });
});

/** `count` messages in flight for 30 s and 20 more ready. */
function stateInFlight(nowMillis: number, count: number): QueueState {
  const delivery: Delivery = {
    visibleAtMillis: nowMillis + 30_000,
    receiveCount: 1,
    firstReceivedAtMillis: nowMillis,
    leasedAtMillis: nowMillis,
    token: '0'.repeat(16) as DeliveryToken,
    leaseVersion: 1,
  };
  const base = newQueueState({
    incarnation,
    attributes: new Map(),
    timeMillis: nowMillis,
    stampMillis: nowMillis,
  });
  const deliveries = new Map<number, Delivery>();
  const tail = new Map<number, TailMessage>();
  const message = {
    ...newMessage().content,
    messageId: newMessage().messageId,
    senderId: '',
    sentAtMillis: nowMillis,
    deadLetterSourceArn: undefined,
  };
  for (let sequence = 1; sequence <= count + 20; sequence++) {
    if (sequence <= count) deliveries.set(sequence, delivery);
    tail.set(sequence, { message, bytes: 0 });
  }
  const ready = rangesOf(count + 1, count + 21);
  return { ...base, ready, deliveries, tail, nextSequence: count + 21 };
}
