import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  deleteOf,
  newMessage,
  OneQueue,
  otherIncarnation,
  purgeOf,
  receiveOf,
  redrive,
  sendOf,
} from '../../test/model/one-queue.ts';
import type { DeliveryToken } from './ids.ts';

const done = (effect: boolean) => [{ outcome: { kind: 'done' }, effect }];

describe('delete', () => {
  it('ends the message and its body', () => {
    const queue = new OneQueue();
    queue.send('a', 'b');
    const [a] = queue.receive(1);
    assert.deepEqual(queue.commit(deleteOf(a!.handle)), done(true));
    assert.deepEqual(queue.places, { 2: 'ready' });
    assert.deepEqual([...queue.state.tail.keys()], [2]);
  });

  it('takes effect once: a repeat, in the same command, transition or later, is done without effect', () => {
    const queue = new OneQueue();
    queue.send('a');
    const [a] = queue.receive();
    const before = queue.state.version;
    assert.deepEqual(queue.commit(deleteOf(a!.handle, a!.handle), deleteOf(a!.handle)), [
      ...done(true),
      ...done(false),
    ]);
    assert.deepEqual(queue.commit(deleteOf(a!.handle)), done(false));
    assert.equal(queue.state.version, before + 1);
  });

  it('works with an expired handle whose message was not delivered again', () => {
    const queue = new OneQueue();
    queue.send('a');
    const [a] = queue.receive(1, 1);
    queue.nowMillis += 3_600_000;
    assert.deepEqual(queue.commit(deleteOf(a!.handle)), done(true));
    assert.deepEqual(queue.places, {});
  });

  it('never takes a message from under its new holder', () => {
    const queue = new OneQueue();
    queue.send('a');
    const [first] = queue.receive(1, 1);
    queue.nowMillis += 1_000;
    const [second] = queue.receive(1);
    assert.deepEqual(queue.commit(deleteOf(first!.handle)), done(false));
    assert.deepEqual(queue.places, { 1: 'deliveries' });
    assert.deepEqual(queue.commit(deleteOf(second!.handle)), done(true));
  });

  it('comes before a redelivery in the same transition: the holder of the time wins', () => {
    const queue = new OneQueue();
    queue.send('a');
    const [a] = queue.receive(1, 1);
    queue.nowMillis += 1_000;
    const results = queue.commit(receiveOf(), deleteOf(a!.handle));
    assert.deepEqual(
      results.map(({ effect }) => effect),
      [false, true],
    );
    assert.deepEqual(queue.places, {});
  });

  it('refuses the handle of another incarnation, though sequence and token are right', () => {
    const queue = new OneQueue();
    queue.send('a');
    const [a] = queue.receive();
    const foreign = { ...a!.handle, incarnation: otherIncarnation };
    assert.deepEqual(queue.commit(deleteOf(foreign)), done(false));
    assert.deepEqual(queue.places, { 1: 'deliveries' });
  });

  it('goes by the token, not by the lease version or the sequence alone', () => {
    const queue = new OneQueue();
    queue.send('a', 'b');
    const [a, b] = queue.receive();
    const forged = { ...a!.handle, token: 'f'.repeat(16) as DeliveryToken };
    const crossed = { ...a!.handle, token: b!.handle.token };
    assert.deepEqual(queue.commit(deleteOf(forged, crossed)), done(false));
    assert.deepEqual(queue.commit(deleteOf({ ...a!.handle, leaseVersion: 999 })), done(true));
  });

  it('does nothing for what was purged, or is on its way to another queue', () => {
    const queue = new OneQueue(redrive(1));
    queue.send('a');
    const [a] = queue.receive(1, 0);
    queue.receive();
    assert.deepEqual(queue.places, { 1: 'intents' });
    assert.deepEqual(queue.commit(deleteOf(a!.handle)), done(false));
    queue.send('b');
    const [b] = queue.receive();
    queue.commit(purgeOf());
    assert.deepEqual(queue.commit(deleteOf(b!.handle)), done(false));
    assert.deepEqual(queue.places, { 1: 'intents' });
  });

  it('lowers the live count of a segment and drops the reference with its last message', () => {
    const queue = new OneQueue();
    queue.commit(sendOf(...Array.from({ length: 5 }, () => newMessage('x'.repeat(60_000)))));
    const [segment] = queue.state.segments.keys();
    const leased = queue.receive();
    assert.equal(queue.state.segments.get(segment!)!.liveCount, 5);
    queue.commit(deleteOf(leased[0]!.handle, leased[3]!.handle));
    assert.equal(queue.state.segments.get(segment!)!.liveCount, 3);
    queue.commit(deleteOf(leased[1]!.handle, leased[2]!.handle, leased[4]!.handle));
    assert.equal(queue.state.segments.size, 0);
  });
});
