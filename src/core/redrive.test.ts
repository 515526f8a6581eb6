/** Over 300 lines: source and target of a move keep one protocol, and its cases are read together. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  deleteOf,
  leasedOf,
  newMessage,
  OneQueue,
  otherIncarnation,
  receiveOf,
  redrive,
  releaseOf,
  sendOf,
  setOf,
  sourceArn,
  sourceIncarnation,
  targetIncarnation,
  visibilityOf,
} from '../../test/model/one-queue.ts';
import type { Command, MovedMessage } from './command.ts';
import type { Incarnation } from './ids.ts';
import { INTENTS_MAX } from './limits.ts';
import { pendingNumbers } from './redrive.ts';

const resolve = (through: number, target = targetIncarnation): Command => ({
  kind: 'resolve-moves',
  targetIncarnation: target,
  through,
});
const giveBack = (target = targetIncarnation): Command => ({
  kind: 'return-moves',
  targetIncarnation: target,
});
const forget = (incoming: Incarnation[], outgoing: Incarnation[]): Command => ({
  kind: 'forget-links',
  incoming,
  outgoing,
});
const append = (...messages: MovedMessage[]): Command => ({
  kind: 'append-moved',
  source: { name: 'source', incarnation: sourceIncarnation, arn: sourceArn },
  messages,
});

function moved(number: number, body = `${number}`): MovedMessage {
  const { messageId, content, contentBytes } = newMessage(body);
  return {
    number,
    message: {
      ...content,
      messageId,
      senderId: 'AKIDEXAMPLE',
      sentAtMillis: 900_000,
      deadLetterSourceArn: undefined,
    },
    contentBytes,
    receiveCount: 4,
    firstReceivedAtMillis: 950_000,
  };
}

/** Delivers every message, each lease over at once, until `times` receives are made. */
function deliver(queue: OneQueue, times: number): number[] {
  return Array.from({ length: times }, () => queue.receive(10, 0).length);
}

describe('a message that was received too often', () => {
  for (const maxReceiveCount of [1, 3])
    it(`is delivered ${maxReceiveCount} times under a maxReceiveCount of ${maxReceiveCount}, and then goes`, () => {
      const queue = new OneQueue(redrive(maxReceiveCount));
      queue.send('a');
      assert.deepEqual(deliver(queue, maxReceiveCount), Array(maxReceiveCount).fill(1));
      assert.deepEqual(queue.places, { 1: 'deliveries' });
      assert.deepEqual(deliver(queue, 1), [0]);
      assert.deepEqual(queue.places, { 1: 'intents' });
      assert.deepEqual(queue.state.intents.get(1), {
        targetIncarnation,
        number: 1,
        receiveCount: maxReceiveCount,
        firstReceivedAtMillis: queue.nowMillis,
      });
    });

  it('goes by the receive that would exceed the count, which has an effect though it returns nothing', () => {
    const queue = new OneQueue(redrive(1));
    queue.send('a');
    queue.receive(1, 30);
    queue.nowMillis += 29_999;
    assert.equal(queue.commit(receiveOf())[0]!.effect, false);
    queue.nowMillis += 1;
    const before = queue.state.version;
    assert.deepEqual(queue.commit(receiveOf(), receiveOf()), [
      { outcome: { kind: 'received', messages: [], unreadable: false }, effect: true },
      { outcome: { kind: 'received', messages: [], unreadable: false }, effect: false },
    ]);
    assert.equal(queue.state.version, before + 1);
    assert.deepEqual(queue.counts, { visible: 0, inFlight: 0, delayed: 0 });
  });

  it('makes room for the next message in the same receive', () => {
    const queue = new OneQueue(redrive(1));
    queue.send('dead', 'next');
    queue.receive(1, 0);
    queue.letRedeliveriesBegin();
    assert.deepEqual(queue.bodies(1), ['next']);
    assert.deepEqual(queue.places, { 1: 'intents', 2: 'deliveries' });
  });

  it('is numbered by target and goes on from there with the next one', () => {
    const queue = new OneQueue(redrive(1));
    queue.send('a', 'b');
    deliver(queue, 2);
    assert.deepEqual(
      [...queue.state.intents.values()].map(({ number }) => number),
      [1, 2],
    );
    queue.commit(resolve(2));
    queue.send('c');
    deliver(queue, 2);
    assert.equal(queue.state.intents.get(3)!.number, 3);
    assert.deepEqual(queue.state.outgoingLinks.get(targetIncarnation), { queueName: 'dead', lastNumber: 3 });
    queue.target = { kind: 'present', incarnation: otherIncarnation };
    queue.send('d');
    deliver(queue, 2);
    assert.deepEqual(
      [queue.state.intents.get(4)!.targetIncarnation, queue.state.intents.get(4)!.number],
      [otherIncarnation, 1],
    );
  });

  it('voids its handles', () => {
    const queue = new OneQueue(redrive(1));
    queue.send('a');
    const [a] = queue.receive(1, 0);
    queue.receive();
    assert.equal(queue.commit(deleteOf(a!.handle))[0]!.effect, false);
    assert.deepEqual(queue.places, { 1: 'intents' });
  });

  it('stays and is delivered on when its target is missing', () => {
    const queue = new OneQueue(redrive(1));
    queue.target = { kind: 'missing' };
    queue.send('a');
    assert.deepEqual(deliver(queue, 3), [1, 1, 1]);
    assert.equal(queue.state.deliveries.get(1)!.receiveCount, 3);
    assert.equal(queue.state.outgoingLinks.size, 0);
  });

  it('waits, visible and undelivered, while INTENTS_MAX others are under way', () => {
    const queue = new OneQueue(redrive(1));
    queue.commit(sendOf(...Array.from({ length: INTENTS_MAX + 1 }, () => newMessage('d'))));
    queue.commit(...Array.from({ length: 11 }, () => receiveOf(10, 0)));
    queue.send('next');
    assert.deepEqual(queue.bodies(), ['next']);
    assert.equal(queue.state.intents.size, INTENTS_MAX);
    assert.equal(queue.places[INTENTS_MAX + 1], 'deliveries');
    assert.equal(queue.counts.visible, 1);
    // A receive that finds nothing else changes nothing.
    assert.equal(queue.commit(receiveOf())[0]!.effect, false);
    queue.commit(resolve(1));
    queue.commit(receiveOf());
    assert.equal(queue.places[INTENTS_MAX + 1], 'intents');
  });

  it('is counted from its arrival, through redelivery, release, a new visibility and a move that came back', () => {
    const queue = new OneQueue(redrive(2));
    queue.source = { kind: 'present', pending: new Set([1]) };
    queue.commit(append(moved(1)));
    assert.equal(queue.state.deliveries.get(1)!.receivedElsewhere, 4);
    const [first] = queue.receive(1, 30);
    assert.equal(first!.receiveCount, 5);
    queue.commit(visibilityOf(first!.handle, 0));
    const [second] = queue.receive(1, 30);
    queue.commit(releaseOf(second!.handle));
    assert.equal(queue.receive(1, 0)[0]!.receiveCount, 6);
    assert.deepEqual(queue.receive(1), []);
    const { receiveCount, receivedElsewhere } = queue.state.intents.get(1)!;
    assert.deepEqual([receiveCount, receivedElsewhere], [6, 4]);
    queue.commit(giveBack());
    assert.equal(queue.state.deliveries.get(1)!.receivedElsewhere, 4);
  });

  it('asks for the target before it decides, and only when there is something to decide', () => {
    const queue = new OneQueue(redrive(1));
    queue.send('a');
    queue.receive(1, 0);
    assert.deepEqual(queue.asked, []);
    queue.receive();
    assert.deepEqual(
      queue.asked.map(({ targets }) => targets),
      [new Set(['dead'])],
    );
  });

  it('goes by the policy that the same transition sets', () => {
    const queue = new OneQueue();
    queue.send('a');
    queue.receive(1, 0);
    queue.commit(receiveOf(), setOf(redrive(1)));
    assert.deepEqual(queue.places, { 1: 'intents' });
    queue.send('b');
    queue.receive(1, 0);
    assert.equal(leasedOf(queue.commit(receiveOf(), setOf({ RedrivePolicy: '' }))[0]!.outcome).length, 1);
  });
});

describe('the source of a move', () => {
  function withIntents(): OneQueue {
    const queue = new OneQueue(redrive(1));
    queue.send('a', 'b', 'c');
    deliver(queue, 2);
    return queue;
  }

  it('removes what the target has appended, through that number and for that target only', () => {
    const queue = withIntents();
    assert.equal(queue.commit(resolve(3, otherIncarnation))[0]!.effect, false);
    assert.equal(queue.commit(resolve(0))[0]!.effect, false);
    queue.commit(resolve(2));
    assert.deepEqual(queue.places, { 3: 'intents' });
    assert.deepEqual([...queue.state.tail.keys()], [3]);
    assert.equal(queue.commit(resolve(2))[0]!.effect, false);
    assert.equal(queue.state.outgoingLinks.get(targetIncarnation)!.lastNumber, 3);
  });

  it('takes its messages back when the target is gone: old number, visible, count kept, link dropped', () => {
    const queue = withIntents();
    queue.commit(resolve(1));
    queue.nowMillis += 5;
    assert.equal(queue.commit(giveBack(otherIncarnation))[0]!.effect, false);
    assert.equal(queue.commit(giveBack())[0]!.effect, true);
    assert.deepEqual(queue.places, { 2: 'deliveries', 3: 'deliveries' });
    const { token: _, ...back } = queue.state.deliveries.get(2)!;
    assert.deepEqual(back, {
      visibleAtMillis: queue.nowMillis,
      receiveCount: 1,
      firstReceivedAtMillis: queue.nowMillis - 5,
      leasedAtMillis: queue.nowMillis,
      leaseVersion: queue.state.version,
    });
    assert.equal(queue.state.outgoingLinks.size, 0);
    queue.target = { kind: 'missing' };
    assert.deepEqual(queue.bodies(), ['b', 'c']);
    assert.equal(queue.commit(giveBack())[0]!.effect, false);
  });

  it('drops the link of a target that is gone also when nothing was under way', () => {
    const queue = withIntents();
    queue.commit(resolve(3));
    assert.equal(queue.commit(giveBack())[0]!.effect, true);
    assert.equal(queue.state.outgoingLinks.size, 0);
  });

  it('forgets the link of a target that is gone, but not while a letter waits for it', () => {
    const queue = withIntents();
    const forgets = () => queue.commit(forget([], [targetIncarnation, otherIncarnation]))[0]!.effect;
    queue.commit(resolve(2));
    assert.equal(forgets(), false);
    assert.equal(queue.state.outgoingLinks.get(targetIncarnation)!.lastNumber, 3);
    queue.commit(resolve(3));
    // An incarnation is one end or the other, never both.
    assert.equal(queue.commit(forget([targetIncarnation], []))[0]!.effect, false);
    assert.equal(forgets(), true);
    assert.equal(queue.state.outgoingLinks.size, 0);
    assert.equal(forgets(), false);
  });

  it('forgets after what resolves in the same transition', () => {
    const queue = withIntents();
    queue.commit(forget([], [targetIncarnation]), resolve(3));
    assert.equal(queue.state.outgoingLinks.size, 0);
  });

  it('tells which numbers a target still waits for', () => {
    const queue = withIntents();
    queue.commit(resolve(1));
    assert.deepEqual(pendingNumbers(queue.state.intents, targetIncarnation), new Set([2, 3]));
    assert.deepEqual(pendingNumbers(queue.state.intents, otherIncarnation), new Set());
  });
});

describe('the target of a move', () => {
  const pending = (...numbers: number[]) => ({ kind: 'present', pending: new Set(numbers) }) as const;
  const through = (queue: OneQueue, command: Command) => {
    const [{ outcome, effect }] = queue.commit(command) as [ReturnType<OneQueue['commit']>[number]];
    assert.ok(outcome.kind === 'appended');
    return [outcome.through, effect];
  };

  it('reads the source after the state that it appends to, and only then appends †', () => {
    const queue = new OneQueue();
    queue.source = pending(1);
    assert.deepEqual(through(queue, append(moved(1))), [1, true]);
    assert.deepEqual(
      queue.asked.map(({ sources }) => sources),
      [new Map([[sourceIncarnation, 'source']])],
    );
  });

  it('keeps id, body, stamp and first receive; the count goes on; the source is named', () => {
    const queue = new OneQueue();
    queue.source = pending(1);
    const message = moved(1, 'body');
    queue.commit(append(message));
    assert.deepEqual(queue.state.tail.get(1), {
      message: { ...message.message, deadLetterSourceArn: sourceArn },
      bytes: 4 + 11 + 64,
    });
    const [leased] = queue.receive();
    assert.deepEqual(
      [leased!.receiveCount, leased!.firstReceivedAtMillis, leased!.message.messageId],
      [5, 950_000, message.message.messageId],
    );
    assert.deepEqual(
      [leased!.message.deadLetterSourceArn, leased!.message.sentAtMillis],
      [sourceArn, 900_000],
    );
  });

  it('can hand out in the very commit that appends', () => {
    const queue = new OneQueue();
    queue.source = pending(1);
    const results = queue.commit(receiveOf(), append(moved(1)));
    assert.equal(leasedOf(results[0]!.outcome)[0]!.receiveCount, 5);
  });

  it('appends the next number only: no gap, no repeat', () => {
    const queue = new OneQueue();
    queue.source = pending(1, 2, 3, 4, 5);
    assert.deepEqual(through(queue, append(moved(2))), [0, false]);
    assert.deepEqual(through(queue, append(moved(1), moved(2), moved(4))), [2, true]);
    assert.deepEqual(queue.bodies(), ['1', '2']);
    assert.deepEqual(through(queue, append(moved(1), moved(2))), [2, false]);
    assert.deepEqual(through(queue, append(moved(1), moved(2), moved(3))), [3, true]);
    assert.deepEqual(queue.bodies(), ['3']);
    assert.deepEqual(queue.state.incomingLinks.get(sourceIncarnation), {
      queueName: 'source',
      lastNumber: 3,
    });
  });

  it('counts on within one transition, when two nodes carry the same moves', () => {
    const queue = new OneQueue();
    queue.source = pending(1, 2, 3);
    const results = queue.commit(append(moved(1), moved(2)), append(moved(1), moved(2), moved(3)));
    assert.deepEqual(
      results.map(({ outcome }) => outcome.kind === 'appended' && outcome.through),
      [2, 3],
    );
    assert.equal(queue.state.nextSequence, 4);
  });

  it('refuses what the source no longer holds: its intent was resolved or returned meanwhile †', () => {
    const queue = new OneQueue();
    queue.source = pending();
    assert.deepEqual(through(queue, append(moved(1))), [0, false]);
    queue.source = pending(2);
    assert.deepEqual(through(queue, append(moved(1), moved(2))), [0, false]);
    assert.deepEqual(queue.places, {});
  });

  it('refuses a source that is gone, and then forgets its link', () => {
    const queue = new OneQueue();
    queue.source = pending(1);
    queue.commit(append(moved(1)));
    queue.source = { kind: 'gone' };
    assert.deepEqual(through(queue, append(moved(2))), [1, true]);
    assert.equal(queue.state.incomingLinks.size, 0);
    assert.deepEqual(queue.places, { 1: 'deliveries' });
    assert.deepEqual(through(queue, append(moved(2))), [0, false]);
  });

  it('forgets the link of a source that is gone, and refuses what still comes of it', () => {
    const queue = new OneQueue();
    queue.source = pending(1);
    queue.commit(append(moved(1)));
    assert.equal(queue.commit(forget([otherIncarnation], [sourceIncarnation]))[0]!.effect, false);
    assert.equal(queue.commit(forget([sourceIncarnation], []))[0]!.effect, true);
    assert.equal(queue.state.incomingLinks.size, 0);
    queue.source = { kind: 'gone' };
    assert.deepEqual(through(queue, append(moved(1))), [0, false]);
    assert.deepEqual(queue.places, { 1: 'deliveries' });
  });

  it('appends before it forgets in one transition, so that no number is free again', () => {
    const queue = new OneQueue();
    queue.source = pending(1);
    queue.commit(append(moved(1)));
    const results = queue.commit(forget([sourceIncarnation], []), append(moved(1)));
    assert.deepEqual(results[1]!.outcome, { kind: 'appended', through: 1 });
    assert.deepEqual(queue.places, { 1: 'deliveries' });
    assert.equal(queue.state.incomingLinks.size, 0);
  });

  it('keeps the counts of two sources apart', () => {
    const queue = new OneQueue();
    queue.source = pending(1);
    const other = { name: 'other', incarnation: '4'.repeat(32) as Incarnation, arn: sourceArn };
    queue.commit(append(moved(1)), { kind: 'append-moved', source: other, messages: [moved(1)] });
    assert.deepEqual(
      [...queue.state.incomingLinks.values()],
      [
        { queueName: 'source', lastNumber: 1 },
        { queueName: 'other', lastNumber: 1 },
      ],
    );
  });
});
