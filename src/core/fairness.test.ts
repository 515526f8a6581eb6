import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  deleteOf,
  incarnation,
  newMessage,
  OneQueue,
  purgeOf,
  releaseOf,
  sendOf,
  sourceArn,
  sourceIncarnation,
} from '../../test/model/one-queue.ts';
import { QUIET_IN_A_ROW_MAX, queueLimits } from './limits.ts';
import { noFairness } from './queue-state.ts';
import { fromPairs, size } from './range-set.ts';

const minute = 60_000;

/** `name` as body, so that the order can be read. */
function of(group: string | undefined, ...names: string[]) {
  return names.map((name) => newMessage(name, { groupId: group }));
}

function many(group: string, count: number, from = 1) {
  return of(group, ...Array.from({ length: count }, (_, n) => `${group}${from + n}`));
}

/** 100 messages of a busy group wait. */
function withBacklog(attributes: Readonly<Record<string, string>> = {}): OneQueue {
  const queue = new OneQueue(attributes);
  queue.commit(sendOf(...many('busy', 100)));
  return queue;
}

describe('a standard queue with message groups', () => {
  it('hands out in the order of sends while no group is busy', () => {
    const queue = new OneQueue();
    queue.commit(sendOf(...of('a', 'a1', 'a2'), ...of('b', 'b1'), ...of('a', 'a3')));
    assert.deepEqual(queue.bodies(), ['a1', 'a2', 'b1', 'a3']);
  });

  it('hands out in the order of sends while all are equally busy', () => {
    const queue = new OneQueue();
    queue.commit(sendOf(...many('a', 50), ...many('b', 50), ...of('a', 'a51'), ...of('b', 'b51')));
    assert.equal(queue.state.fairness.quiet.length, 0);
    assert.deepEqual(queue.bodies(3), ['a1', 'a2', 'a3']);
  });

  it('hands out a quiet group first, but every fourth time the oldest', () => {
    const queue = withBacklog();
    queue.commit(sendOf(...many('quiet', 5)));
    assert.deepEqual(queue.bodies(8), [
      'quiet1',
      'quiet2',
      'quiet3',
      'busy1',
      'quiet4',
      'quiet5',
      'busy2',
      'busy3',
    ]);
  });

  it('counts what a move task brings back as if it were sent', () => {
    const queue = new OneQueue();
    queue.source = { kind: 'present', pending: new Set(Array.from({ length: 200 }, (_, n) => n)) };
    const redriven = [...many('busy', 100), ...of('quiet', 'q1')].map((sent, index) => ({
      number: index + 1,
      message: {
        ...sent.content,
        messageId: sent.messageId,
        senderId: sent.senderId,
        sentAtMillis: 1,
        deadLetterSourceArn: sourceArn,
      },
      contentBytes: sent.contentBytes,
      receiveCount: 1,
      firstReceivedAtMillis: 1,
      redriven: true as const,
    }));
    const source = { name: 'dead', incarnation: sourceIncarnation, arn: sourceArn };
    queue.commit({ kind: 'append-moved', source, messages: redriven });
    assert.deepEqual(queue.bodies(2), ['q1', 'busy1']);
  });

  it('counts those turns on through receives of one message', () => {
    const queue = withBacklog();
    const got: string[] = [];
    for (let n = 1; n <= 12; n++) {
      queue.commit(sendOf(...many('quiet', 2, 2 * n)));
      got.push(...queue.bodies(1));
    }
    assert.equal(got.filter((body) => body.startsWith('busy')).length, 12 / (QUIET_IN_A_ROW_MAX + 1));
  });

  it('tells by its sends of one transition, whatever their order', () => {
    const queue = new OneQueue();
    queue.commit(sendOf(...of('quiet', 'q1')), sendOf(...many('busy', 40)), sendOf(...of('quiet', 'q2')));
    assert.deepEqual(queue.bodies(3), ['q1', 'q2', 'busy1']);
  });

  it('remembers a lone group that was busy for as long as its messages wait', () => {
    const queue = withBacklog();
    queue.nowMillis += 60 * minute;
    queue.commit(sendOf(...of('quiet', 'q1')));
    queue.nowMillis += minute;
    queue.commit(sendOf(...many('quiet', 20, 2)));
    assert.deepEqual(queue.bodies(1), ['q1']);
  });

  it('calls a group that pauses and comes again busy while its messages wait', () => {
    const queue = withBacklog();
    queue.nowMillis += 60 * minute;
    queue.commit(sendOf(...many('busy', 3, 101), ...of('quiet', 'q1')));
    assert.equal(size(queue.state.fairness.quiet), 1);
  });

  it('protects a few from many busy ones, and all of a middling rate from one that sends far more', () => {
    const queue = new OneQueue();
    for (const group of ['a', 'b', 'c']) queue.commit(sendOf(...many(group, 200)));
    queue.commit(sendOf(...of('quiet', 'q1')));
    assert.deepEqual(queue.bodies(1), ['q1']);
    queue.commit(sendOf(...many('far more', 2_000)));
    queue.commit(sendOf(...of('a', 'again')));
    assert.deepEqual(queue.bodies(1), ['again']);
  });

  it('forgets who is quiet when nothing of a busy group waits', () => {
    const queue = withBacklog();
    queue.commit(sendOf(...of('quiet', 'q1', 'q2')));
    for (let n = 0; n < 20 && queue.state.fairness.busyBelow > 0; n++)
      queue.commit(deleteOf(...queue.receive(10).map(({ handle }) => handle)));
    assert.deepEqual(
      [...queue.state.fairness.rates.values()].map(({ count, peak }) => [count, peak]),
      [
        [100, 0],
        [2, 0],
      ],
    );
    queue.nowMillis += 20 * minute;
    queue.commit(sendOf(...of(undefined, 'x')));
    assert.equal(queue.state.fairness, noFairness);
  });

  it('takes a message without a group for one of its own', () => {
    const queue = withBacklog();
    queue.commit(sendOf(...of(undefined, ...Array.from({ length: 40 }, (_, n) => `alone${n}`))));
    assert.equal(size(queue.state.fairness.quiet), 40);
    assert.deepEqual(queue.bodies(2), ['alone0', 'alone1']);
  });

  it('gives a message that comes back unseen its turn again', () => {
    const queue = withBacklog();
    queue.commit(sendOf(...of('quiet', 'q1')));
    const [leased] = queue.receive(1);
    queue.commit(releaseOf(leased!.handle));
    assert.deepEqual(queue.bodies(1), ['q1']);
  });

  it('hands out quiet ones first also when all are delayed', () => {
    const queue = withBacklog({ DelaySeconds: '5' });
    queue.nowMillis += 10;
    queue.commit(sendOf(...many('quiet', 2)));
    assert.deepEqual(queue.bodies(10), []);
    queue.nowMillis += 6_000;
    queue.letRedeliveriesBegin();
    assert.deepEqual(queue.bodies(4), ['busy1', 'quiet1', 'busy2', 'quiet2']);
  });

  it('shares with what comes again: new ones of quiet groups get their turns', () => {
    const queue = withBacklog();
    for (let n = 0; n < 10; n++) queue.receive(10, 1);
    queue.commit(sendOf(...many('busy', 100, 101)));
    queue.nowMillis += 2_000;
    queue.commit(sendOf(...many('quiet', 4)));
    const got = queue.bodies(10);
    assert.deepEqual(
      got.filter((_, place) => place % 2 === 1),
      ['quiet1', 'quiet2', 'quiet3', 'busy101', 'quiet4'],
    );
  });

  it('forgets all but the counts by a purge', () => {
    const queue = withBacklog();
    queue.commit(sendOf(...many('quiet', 3)));
    queue.commit(purgeOf());
    const { rates, ...rest } = queue.state.fairness;
    assert.equal(rates.size, 2);
    assert.deepEqual({ ...rest, rates: noFairness.rates, minute: 0 }, noFairness);
    queue.commit(sendOf(...of('quiet', 'q1')));
    assert.deepEqual(queue.bodies(), ['q1']);
  });

  it('keeps a bounded number of quiet ranges: the newest are like any other', () => {
    const queue = withBacklog();
    queue.limits = { ...queueLimits, quietRangesMax: 3 };
    for (let n = 1; n <= 5; n++) queue.commit(sendOf(...of('quiet', `q${n}`), ...many('busy', 4, 100 * n)));
    assert.equal(queue.state.fairness.quiet.length / 2, 3);
    assert.deepEqual(queue.bodies(5, 30), ['q1', 'q2', 'q3', 'busy1', 'busy2']);
  });

  it('writes nothing of it while no message has a group', () => {
    const queue = new OneQueue();
    queue.commit(sendOf(...of(undefined, ...Array.from({ length: 200 }, (_, n) => `m${n}`))));
    queue.receive(10);
    assert.equal(queue.state.fairness, noFairness);
  });

  it('is never told of on a FIFO queue', () => {
    const queue = new OneQueue({ FifoQueue: 'true', ContentBasedDeduplication: 'true' }, incarnation);
    const entries = many('busy', 40).map((message, n) => ({
      ...message,
      deduplication: { explicitId: `id${n}`, bodyHash: '' },
    }));
    queue.commit(sendOf(...entries));
    assert.equal(queue.state.fairness, noFairness);
  });

  it('goes on from a hint that is stale', () => {
    const queue = withBacklog();
    queue.commit(sendOf(...many('quiet', 3)));
    const handles = queue.receive(4).map(({ handle }) => handle);
    // As if a node that does not know the field had committed the receive: what it says of those in flight is old.
    const stale = {
      ...queue.state.fairness,
      quiet: fromPairs([
        [1, 2],
        [101, 104],
      ]),
    };
    queue.state = { ...queue.state, fairness: stale };
    assert.deepEqual(queue.bodies(2), ['busy2', 'busy3']);
    queue.commit(deleteOf(...handles));
    assert.deepEqual(queue.state.fairness.quiet, []);
  });
});
