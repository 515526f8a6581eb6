/** Order and exclusivity, with exact values. Over 300 lines: each way to lock a group is a case over the same queue. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fifoQueue, messageIn, sendIn, withoutTail } from '../../test/model/fifo.ts';
import {
  deleteOf,
  leasedOf,
  type OneQueue,
  purgeOf,
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
import { FIFO_LOOK_AHEAD_MAX } from './limits.ts';
import { groupHashOf } from './message-groups.ts';

const bodiesOf = (...outcomes: Parameters<typeof leasedOf>) =>
  leasedOf(...outcomes).map(({ message }) => message.body);

function queueOf(groups: Readonly<Record<string, readonly string[]>>): OneQueue {
  const queue = fifoQueue();
  for (const [group, bodies] of Object.entries(groups)) queue.commit(sendIn(group, ...bodies));
  return queue;
}

/** Each case with bodies in the manifest, and in segments. */
for (const [where, prepare] of [
  ['in the manifest', (queue: OneQueue) => queue],
  ['in segments', withoutTail],
] as const)
  describe(`receives of a FIFO queue, bodies ${where}`, () => {
    it('take messages in order, several consecutive ones of a group too, and keep their group', () => {
      const queue = prepare(fifoQueue());
      queue.commit(sendIn('a', 'a1', 'a2'), sendIn('b', 'b1'), sendIn('a', 'a3'));
      assert.deepEqual(queue.bodies(2), ['a1', 'a2']);
      assert.equal(queue.state.deliveries.get(1)!.group, groupHashOf('a'));
      assert.deepEqual(queue.bodies(), ['b1'], 'a1 and a2 are in flight before a3');
    });

    it('fill up from one group before they take of the next, each from where the last one ended', () => {
      const queue = prepare(fifoQueue());
      for (const body of ['a1', 'b1', 'c1', 'b2', 'a2', 'c2', 'a3', 'b3', 'd1'])
        queue.commit(sendIn(body[0]!, body));
      const results = queue.commit(receiveOf(2), receiveOf(4), receiveOf(3), receiveOf(3));
      assert.deepEqual(
        results.map(({ outcome }) => bodiesOf(outcome)),
        [['a1', 'a2'], ['b1', 'b2', 'b3', 'c1'], ['d1'], []],
      );
    });

    it('take a group that was given back behind what had been sent when it was received, before what is sent later', () => {
      const queue = prepare(queueOf({ a: ['a1', 'a2'], b: ['b1'], c: ['c1'] }));
      const [a1] = queue.receive(1);
      queue.commit(sendIn('d', 'd1'));
      queue.commit(visibilityOf(a1!.handle, 0));
      assert.deepEqual(queue.bodies(1), ['b1'], 'nobody gets the bad one for ever');
      assert.deepEqual(queue.bodies(1), ['c1']);
      assert.deepEqual(queue.bodies(), ['a1', 'a2', 'd1']);
    });

    it('come in the order in which AWS was recorded to give groups that came back (LocalStack, test_sqs.py)', () => {
      const queue = prepare(queueOf({ 1: ['g1-m1'], 2: ['g2-m1', 'g2-m2'], 3: ['g3-m1'] }));
      queue.commit(sendIn('1', 'g1-m2'));
      assert.deepEqual(queue.bodies(3, 0), ['g1-m1', 'g1-m2', 'g2-m1']);
      assert.deepEqual(queue.bodies(10, 0), ['g3-m1', 'g1-m1', 'g1-m2', 'g2-m1', 'g2-m2']);
    });

    it('find the others also behind more messages that came back than a walk keeps', () => {
      const many = Array.from({ length: FIFO_LOOK_AHEAD_MAX + 50 }, (_, n) => `${n}`);
      const queue = prepare(fifoQueue());
      for (let n = 0; n < many.length; n += 10)
        queue.commit(...many.slice(n, n + 10).map((body) => sendIn(body, body)));
      queue.commit(sendIn('last', 'last'));
      for (let n = 0; n < many.length; n += 10) queue.receive(10, 0);
      assert.deepEqual(queue.bodies(1, 0), ['last']);
      assert.deepEqual(queue.bodies(2, 0), ['0', '1'], 'then the first that came back');
    });

    it('flow round a locked group', () => {
      const queue = prepare(fifoQueue());
      queue.commit(sendIn('a', 'a1', 'a2'), sendIn('b', 'b1'), sendIn('c', 'c1'));
      assert.deepEqual(queue.bodies(1), ['a1']);
      assert.deepEqual(queue.bodies(1), ['b1']);
      assert.deepEqual(queue.bodies(), ['c1']);
    });

    it('unlock a group when what was in flight is deleted', () => {
      const queue = prepare(fifoQueue());
      queue.commit(sendIn('a', 'a1', 'a2', 'a3'));
      const [a1, a2] = queue.receive(2);
      queue.commit(deleteOf(a2!.handle));
      assert.deepEqual(queue.bodies(), [], 'a1 is still in flight');
      queue.commit(deleteOf(a1!.handle));
      assert.deepEqual(queue.bodies(), ['a3']);
    });

    it('hand out an earlier message again while a later one is out, and nothing beyond that', () => {
      const queue = prepare(fifoQueue());
      queue.commit(sendIn('a', 'a1', 'a2', 'a3', 'a4'));
      assert.deepEqual(queue.bodies(2, 5), ['a1', 'a2']);
      assert.deepEqual(queue.bodies(), []);
      queue.nowMillis += 5_000;
      const [again, out] = queue.receive(2, 30);
      assert.deepEqual([again!.message.body, out!.message.body], ['a1', 'a2']);
      queue.commit(visibilityOf(again!.handle, 0));
      assert.deepEqual(queue.bodies(), ['a1'], 'not a2, which is out, nor a3 and a4 behind it');
    });

    it('give a group to one receive of a commit alone', () => {
      const queue = prepare(fifoQueue());
      queue.commit(sendIn('a', 'a1', 'a2'), sendIn('b', 'b1', 'b2'));
      const results = queue.commit(receiveOf(1), receiveOf(1), receiveOf(10));
      assert.deepEqual(
        results.map(({ outcome }) => bodiesOf(outcome)),
        [['a1'], ['b1'], []],
      );
    });

    it('do not hand a message out twice in a commit, though its timeout is zero', () => {
      const queue = prepare(fifoQueue());
      queue.commit(sendIn('a', 'a1', 'a2'));
      const results = queue.commit(receiveOf(1, 0), receiveOf(1, 0));
      assert.deepEqual(
        results.map(({ outcome }) => bodiesOf(outcome)),
        [['a1'], []],
      );
      assert.deepEqual(queue.bodies(1, 0), ['a1']);
    });

    it('begin with what was given back, at the head of its group', () => {
      const queue = prepare(fifoQueue());
      queue.commit(sendIn('a', 'a1', 'a2'), sendIn('b', 'b1'));
      const [a1] = queue.receive(1);
      queue.commit(releaseOf(a1!.handle));
      assert.deepEqual(
        queue.receive().map(({ message, receiveCount }) => [message.body, receiveCount]),
        [
          ['a1', 1],
          ['a2', 1],
          ['b1', 1],
        ],
      );
    });

    it('find every group anew after a purge', () => {
      const queue = prepare(queueOf({ a: ['a1', 'a2'] }));
      queue.receive(1);
      queue.commit(purgeOf(0), sendIn('a', 'a3'));
      assert.deepEqual(queue.bodies(), ['a3']);
    });
  });

describe('a group of a FIFO queue is locked', () => {
  it('by a message on its way to the dead-letter queue, until that has it', () => {
    const queue = fifoQueue(redrive(1));
    queue.commit(sendIn('a', 'a1', 'a2'), sendIn('b', 'b1'));
    assert.deepEqual(queue.bodies(1, 1), ['a1']);
    queue.nowMillis += 1_000;
    assert.deepEqual(queue.bodies(), ['b1']);
    assert.equal(queue.state.intents.get(1)!.group, groupHashOf('a'));
    assert.deepEqual(queue.bodies(), []);
    queue.commit({ kind: 'resolve-moves', targetIncarnation, through: 1 });
    assert.deepEqual(queue.bodies(), ['a2']);
  });

  it('by a message that waits to become a dead letter', () => {
    const queue = fifoQueue(redrive(1));
    queue.limits = { ...queue.limits, intentsMax: 1 };
    queue.commit(sendIn('a', 'a1', 'a2'), sendIn('b', 'b1', 'b2'));
    assert.deepEqual(queue.bodies(10, 1), ['a1', 'a2', 'b1', 'b2']);
    queue.nowMillis += 1_000;
    queue.commit(sendIn('b', 'b3'), sendIn('c', 'c1'));
    assert.deepEqual(queue.bodies(), ['c1']);
    assert.deepEqual([...queue.state.intents.keys()], [1]);
  });

  it('by a letter that comes back, when its target is gone: it is the head again', () => {
    const queue = fifoQueue(redrive(1));
    queue.commit(sendIn('a', 'a1', 'a2'));
    queue.receive(1, 1);
    queue.nowMillis += 1_000;
    queue.receive();
    queue.commit({ kind: 'return-moves', targetIncarnation }, setOf({ RedrivePolicy: '' }));
    assert.deepEqual(queue.bodies(1), ['a1']);
    assert.deepEqual(queue.bodies(), []);
  });

  it('by a body that cannot be read, and others are not when its group is known', () => {
    const queue = withoutTail(fifoQueue());
    queue.commit(sendIn('a', 'a1'));
    queue.commit(sendIn('a', 'a2'), sendIn('b', 'b1'));
    queue.receive(1, 1);
    queue.nowMillis += 1_000;
    const [first] = queue.state.segments.keys();
    queue.unreadable.add(first!);
    const outcome = queue.outcome(receiveOf());
    assert.deepEqual(bodiesOf(outcome), ['b1'], 'of a1 the group is in its delivery');
    assert.ok(outcome.kind === 'received' && outcome.unreadable);
  });

  it('with every other, when nobody can tell of which group a body is', () => {
    const queue = withoutTail(fifoQueue());
    queue.commit(sendIn('a', 'a1'));
    queue.commit(sendIn('b', 'b1'));
    const [first, second] = queue.state.segments.keys();
    queue.unreadable.add(first!);
    const outcome = queue.outcome(receiveOf());
    assert.deepEqual(outcome, { kind: 'received', messages: [], unreadable: true });
    queue.unreadable.delete(first!);
    queue.unreadable.add(second!);
    assert.deepEqual(queue.bodies(), ['a1'], 'what is before it may go');
  });
});

describe('a FIFO queue', () => {
  it('looks through no more visible messages than its bound', () => {
    const queue = queueOf({ a: ['a1', 'a2', 'a3', 'a4'], b: ['b1'] });
    queue.receive(1);
    queue.limits = { ...queue.limits, fifoLookMax: 3 };
    assert.deepEqual(queue.bodies(), []);
    queue.limits = { ...queue.limits, fifoLookMax: 4 };
    assert.deepEqual(queue.bodies(), ['b1']);
  });

  it('looks for more of a group no further than another bound, and forgets nothing that it passed over', () => {
    for (const [between, second] of [
      [FIFO_LOOK_AHEAD_MAX - 1, 'a2'],
      [FIFO_LOOK_AHEAD_MAX, '0'],
    ] as const) {
      const queue = fifoQueue();
      const others = Array.from({ length: between }, (_, n) => messageIn(`other ${n}`, `${n}`));
      queue.commit(sendOf(messageIn('a', 'a1'), ...others, messageIn('a', 'a2')));
      const results = queue.commit(receiveOf(2), receiveOf(between + 9));
      assert.deepEqual(bodiesOf(results[0]!.outcome), ['a1', second]);
      const rest = others.map(({ content }) => content.body).filter((body) => body !== second);
      assert.deepEqual(bodiesOf(results[1]!.outcome), rest);
    }
  });

  it('returns nothing more at its bound of messages in flight, to short polls too', () => {
    const queue = queueOf({ a: ['a1'], b: ['b1'], c: ['c1'] });
    queue.limits = { ...queue.limits, inFlightMax: 2 };
    assert.deepEqual(queue.bodies(), ['a1', 'b1']);
    assert.deepEqual(queue.outcome(receiveOf()), { kind: 'received', messages: [], unreadable: false });
  });

  it('ends what retention is over for, and goes on with its group', () => {
    const queue = withoutTail(fifoQueue({ MessageRetentionPeriod: '60' }));
    queue.stampLeadMillis = -30_000;
    const early = { ...messageIn('a', 'early') };
    queue.limits = { ...queue.limits, tailBytesMax: 1e6 };
    queue.commit({ kind: 'send', entries: [{ message: early, delaySeconds: undefined }] });
    queue.stampLeadMillis = 0;
    queue.limits = { ...queue.limits, tailBytesMax: 0 };
    queue.commit(sendIn('a', 'late'));
    assert.equal(queue.state.segments.size, 1, 'one segment, which ends with its youngest');
    queue.nowMillis += 45_000;
    assert.deepEqual(queue.bodies(), ['late']);
    assert.deepEqual(queue.places, { 2: 'deliveries' });
  });

  it('keeps a letter in its group, in order with its own messages, and counts its retention from the move', () => {
    const source = fifoQueue();
    source.commit(sendIn('g', 'letter'));
    const message = source.state.tail.get(1)!.message;
    const queue = fifoQueue({ MessageRetentionPeriod: '60' });
    queue.commit(sendIn('g', 'before'));
    queue.nowMillis += 50_000;
    queue.source = { kind: 'present', pending: new Set([1]) };
    const moved = { number: 1, message, contentBytes: 6, receiveCount: 3, firstReceivedAtMillis: 5 };
    const from = { name: 'source.fifo', incarnation: sourceIncarnation, arn: sourceArn };
    queue.commit({ kind: 'append-moved', source: from, messages: [moved] }, sendIn('g', 'after'));
    const letter = queue.state.tail.get(3)!.message;
    assert.deepEqual(
      [letter.deduplicationId, letter.movedAtMillis, letter.sentAtMillis],
      [message.messageId, queue.nowMillis, message.sentAtMillis],
    );
    assert.deepEqual(
      queue.receive(10, 0).map((leased) => [leased.message.body, leased.receiveCount]),
      [
        ['before', 1],
        ['after', 1],
        ['letter', 4],
      ],
    );
    queue.nowMillis += 59_999;
    assert.deepEqual(queue.bodies(10, 0), ['after', 'letter']);
    queue.nowMillis += 1;
    assert.deepEqual(queue.bodies(), []);
  });
});

describe('the delay of a FIFO queue', () => {
  it("is the queue's own, and a message that is not due holds up all that come after it", () => {
    const queue = fifoQueue({ DelaySeconds: '5' });
    queue.commit(sendIn('a', 'a1'));
    queue.nowMillis += 1_000;
    // Of another node, whose clock is behind.
    queue.nowMillis -= 3_000;
    queue.commit(sendIn('b', 'b1'));
    queue.nowMillis += 5_000;
    assert.deepEqual(queue.bodies(), [], 'b1 is due, but not a1 before it');
    queue.nowMillis += 2_000;
    assert.deepEqual(queue.bodies(), ['a1', 'b1']);
  });

  it('changes for what is delayed already', () => {
    const queue = fifoQueue({ DelaySeconds: '60' });
    queue.commit(sendIn('a', 'a1'));
    queue.nowMillis += 1_000;
    queue.commit(setOf({ DelaySeconds: '0' }));
    assert.deepEqual(queue.bodies(1, 0), ['a1']);
    queue.commit(setOf({ DelaySeconds: '10' }), sendIn('b', 'b1'));
    queue.nowMillis += 10_000;
    queue.commit(setOf({ DelaySeconds: '20' }));
    assert.deepEqual(queue.counts, { visible: 1, inFlight: 0, delayed: 1 });
    queue.nowMillis += 10_000;
    assert.deepEqual(queue.bodies(), ['a1', 'b1']);
  });
});

describe('handles of a FIFO queue', () => {
  it('are refused when their time is over, though nobody else has the message', () => {
    const queue = queueOf({ a: ['a1', 'a2'] });
    const [a1, a2] = queue.receive(2, 5);
    queue.nowMillis += 5_000;
    assert.deepEqual(queue.commit(deleteOf(a1!.handle, a2!.handle)), [
      { outcome: { kind: 'done', expired: [0, 1] }, effect: false },
    ]);
    assert.deepEqual(queue.commit(visibilityOf(a1!.handle, 9)), [
      { outcome: { kind: 'visibility', entries: ['expired'] }, effect: false },
    ]);
    assert.deepEqual(queue.bodies(), ['a1', 'a2']);
  });

  it('are refused when another delivery or an intent has taken their place', () => {
    const queue = fifoQueue(redrive(2));
    queue.commit(sendIn('a', 'a1'));
    const [first] = queue.receive(1, 5);
    queue.nowMillis += 5_000;
    const [second] = queue.receive(1, 5);
    assert.deepEqual(queue.outcome(deleteOf(first!.handle, second!.handle)), { kind: 'done', expired: [0] });
    queue.commit(sendIn('a', 'a2'));
    const [third] = queue.receive(1, 0);
    queue.receive(1, 0);
    queue.receive();
    assert.deepEqual(queue.places, { 2: 'intents' });
    assert.deepEqual(queue.outcome(deleteOf(third!.handle)), { kind: 'done', expired: [0] });
  });

  it('delete what is gone without complaint, and change nothing of it', () => {
    const queue = queueOf({ a: ['a1'], b: ['b1'] });
    const [a1, b1] = queue.receive();
    assert.deepEqual(queue.outcome(deleteOf(a1!.handle)), { kind: 'done' });
    assert.deepEqual(queue.outcome(deleteOf(a1!.handle)), { kind: 'done' });
    assert.deepEqual(queue.outcome(visibilityOf(a1!.handle, 5)), {
      kind: 'visibility',
      entries: ['not-available'],
    });
    queue.commit(purgeOf(0));
    assert.deepEqual(queue.outcome(deleteOf(b1!.handle)), { kind: 'done' });
  });

  it('are void once retention has ended the message, which stands only when it is swapped in', () => {
    const queue = fifoQueue({ MessageRetentionPeriod: '60' });
    queue.commit(sendIn('a', 'a1'));
    const [first] = queue.receive(1, 5);
    queue.nowMillis += 5_000;
    const [second] = queue.receive(1, 5);
    queue.nowMillis += 60_000;
    const there = queue.state;
    for (const { handle } of [first!, second!]) {
      queue.state = there;
      assert.deepEqual(queue.commit(deleteOf(handle), visibilityOf(handle, 9)), [
        { outcome: { kind: 'done' }, effect: true },
        { outcome: { kind: 'visibility', entries: ['not-available'] }, effect: true },
      ]);
    }
  });

  it('are good as long as they are extended in time', () => {
    const queue = queueOf({ a: ['a1'] });
    const [a1] = queue.receive(1, 5);
    queue.nowMillis += 4_999;
    queue.commit(visibilityOf(a1!.handle, 5));
    queue.nowMillis += 4_999;
    assert.deepEqual(queue.outcome(deleteOf(a1!.handle)), { kind: 'done' });
    assert.deepEqual(queue.places, {});
  });
});
