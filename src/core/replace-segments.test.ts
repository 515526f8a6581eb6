import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  deleteOf,
  messageOfInlineBytes,
  newMessage,
  OneQueue,
  purgeOf,
  receiveOf,
  redrive,
  sendOf,
  setOf,
  tidyOf,
} from '../../test/model/one-queue.ts';
import type { Command, CommandOutcome } from './command.ts';
import { layOut, liveBodies } from './compaction-layout.ts';
import { TAIL_BYTES_MAX } from './limits.ts';
import { type SegmentId, type SegmentReference, segmentIdOf } from './queue-state.ts';
import { apply } from './transition.ts';

const quarter = TAIL_BYTES_MAX / 4;
let serial = 0;

/** Each of `segments` holds five messages; nothing is left in the tail. */
function backlog(segments: number, queue = new OneQueue()): OneQueue {
  for (let n = 0; n < segments; n++)
    queue.commit(sendOf(...Array.from({ length: 5 }, () => messageOfInlineBytes(quarter))));
  return queue;
}

/** Reads the segments and uploads their copy, as the engine does. */
function compacting(queue: OneQueue, from: readonly SegmentId[] = [...queue.state.segments.keys()]) {
  const { state } = queue;
  const { slots, bodyCount, runs } = layOut(state, new Set(from), liveBodies(state, from));
  const named = { baseVersion: state.version, nonce: `c${(++serial).toString(16).padStart(15, '0')}` };
  queue.segments.set(
    segmentIdOf(named),
    slots.map((slot) => {
      const message = slot && queue.segments.get(slot.segment)![slot.ordinal]!;
      return slot ? { ...message!, sentAtMillis: message!.sentAtMillis + slot.sentAtShiftMillis } : nothing;
    }),
  );
  const sentAtMaxMillis = Math.max(...from.map((id) => state.segments.get(id)!.sentAtMaxMillis));
  const command: Command = {
    kind: 'replace-segments',
    from,
    into: { ...named, bytes: 1_000, sentAtMaxMillis, bodyCount, runs },
  };
  return { command, id: segmentIdOf(named), into: command.into };
}

/** A test that met it would read a message without a body. */
const nothing = { ...newMessage(), body: 'nothing' } as never;
const kindOf = ({ kind }: CommandOutcome): string => kind;
const shapeOf = ({ runs }: SegmentReference) =>
  runs.map(({ firstSequence, firstOrdinal, count }) => [firstSequence, firstOrdinal, count]);
const onlyReference = (queue: OneQueue): SegmentReference => {
  assert.equal(queue.state.segments.size, 1);
  return [...queue.state.segments.values()][0]!;
};

describe('segments that are replaced', () => {
  it('are named no more, and one reference in one run is in their place', () => {
    const queue = backlog(3);
    const before = queue.state;
    const { command, id } = compacting(queue);
    assert.equal(kindOf(queue.outcome(command)), 'done');
    assert.deepEqual([...queue.state.segments.keys()], [id]);
    const reference = onlyReference(queue);
    assert.equal(reference.liveCount, 15);
    assert.deepEqual(shapeOf(reference), [[1, 0, 15]]);
    assert.equal(reference.bodyCount, undefined);
    assert.equal(reference.sentAtMaxMillis, queue.nowMillis);
    assert.deepEqual(
      [queue.state.ready, queue.state.nextSequence, queue.state.tail],
      [before.ready, before.nextSequence, before.tail],
    );
    assert.deepEqual(
      [...queue.receive(10), ...queue.receive(10)].map(({ handle }) => handle.sequence),
      Array.from({ length: 15 }, (_, index) => index + 1),
    );
  });

  it('may have lost messages since they were copied: the live count is theirs as it is now', () => {
    const queue = backlog(2);
    const leased = queue.receive(4);
    const { command } = compacting(queue);
    queue.commit(deleteOf(leased[0]!.handle, leased[1]!.handle));
    // One more in the very transition.
    const outcomes = queue.commit(command, deleteOf(leased[2]!.handle));
    assert.equal(kindOf(outcomes[0]!.outcome), 'done');
    assert.equal(onlyReference(queue).liveCount, 7);
    queue.commit(deleteOf(leased[3]!.handle));
    assert.equal(onlyReference(queue).liveCount, 6);
  });

  it('may lose a message to a receive of the same transition that finds it expired', () => {
    const queue = new OneQueue({ MessageRetentionPeriod: '60' });
    queue.commit(sendOf(messageOfInlineBytes(quarter)));
    queue.nowMillis += 30_000;
    backlog(1, queue);
    queue.nowMillis += 40_000;
    const { command } = compacting(queue);
    const results = queue.commit(command, receiveOf(1, 0));
    assert.equal(kindOf(results[0]!.outcome), 'done');
    assert.equal(onlyReference(queue).liveCount, 5, 'the first of six is gone');
  });

  it('leave out what was dead when they were copied, and pass over its number', () => {
    const queue = backlog(2);
    queue.commit(
      deleteOf(
        ...queue
          .receive(8)
          .map(({ handle }) => handle)
          .slice(1, 7),
      ),
    );
    const { command, into } = compacting(queue);
    assert.equal(into.bodyCount, 4);
    queue.commit(command);
    const reference = onlyReference(queue);
    assert.deepEqual(shapeOf(reference), [[1, 0, 10]]);
    assert.equal(reference.bodyCount, 4);
    assert.equal(reference.liveCount, 4);
  });

  it('never pass over the number of another segment or of the tail', () => {
    const queue = new OneQueue();
    queue.commit(sendOf(messageOfInlineBytes(100_000)));
    queue.commit(sendOf(messageOfInlineBytes(100_000)));
    queue.commit(sendOf(messageOfInlineBytes(100_000)));
    queue.send('in the tail');
    queue.commit(sendOf(messageOfInlineBytes(100_000)));
    const [first, , third, fourth] = [...queue.state.segments.keys()];
    queue.commit(compacting(queue, [first!, third!, fourth!]).command);
    assert.deepEqual(shapeOf([...queue.state.segments.values()].at(-1)!), [
      [1, 0, 1],
      [3, 1, 1],
      [5, 2, 1],
    ]);
    assert.equal(queue.receive(10).length, 5);
  });

  it('keep messages that wait for another queue', () => {
    const queue = new OneQueue({ ...redrive(1), VisibilityTimeout: '0' });
    backlog(2, queue);
    queue.receive(1);
    queue.receive(1);
    assert.deepEqual([...queue.state.intents.keys()], [1]);
    const { command } = compacting(queue);
    queue.commit(purgeOf());
    assert.equal(kindOf(queue.outcome(command)), 'superseded', 'the second segment is gone');
    const again = compacting(queue);
    assert.equal(kindOf(queue.outcome(again.command)), 'done');
    assert.equal(onlyReference(queue).liveCount, 1);
  });

  it('have their shifts baked in', () => {
    const queue = new OneQueue();
    const messages = Array.from({ length: 5 }, () => messageOfInlineBytes(quarter));
    const prepared: Parameters<OneQueue['commitPrepared']>[1] = [];
    queue.attempt([sendOf(...messages)], prepared);
    queue.nowMillis += 700;
    queue.commitPrepared([sendOf(...messages)], prepared);
    assert.equal(onlyReference(queue).runs[0]!.sentAtShiftMillis, 700);
    queue.commit(compacting(queue).command);
    assert.equal(onlyReference(queue).runs[0]!.sentAtShiftMillis, 0);
    assert.equal(queue.receive(1)[0]!.message.sentAtMillis, queue.nowMillis);
  });
});

describe('a replacement', () => {
  it('has no effect once one of its segments is gone, and drops none of the others', () => {
    const queue = backlog(2);
    const leased = queue.receive(5);
    const { command } = compacting(queue);
    queue.commit(deleteOf(...leased.map(({ handle }) => handle)));
    const before = queue.state;
    const [result] = queue.commit(command);
    assert.deepEqual(result, { outcome: { kind: 'superseded' }, effect: false });
    assert.equal(queue.state, before);
  });

  it('has no effect after another one of the same segments, in one transition too', () => {
    const queue = backlog(2);
    const [first, second] = [compacting(queue), compacting(queue)];
    assert.deepEqual(
      queue.commit(first.command, second.command).map(({ outcome }) => kindOf(outcome)),
      ['done', 'superseded'],
    );
    assert.deepEqual([...queue.state.segments.keys()], [first.id]);
  });

  it('has no effect after a purge, or when retention has ended its segments', () => {
    const purged = backlog(2);
    const first = compacting(purged);
    assert.deepEqual(
      purged.commit(first.command, purgeOf()).map(({ outcome }) => kindOf(outcome)),
      ['superseded', 'done'],
    );
    const expired = backlog(2);
    const second = compacting(expired);
    expired.commit(setOf({ MessageRetentionPeriod: '60' }));
    expired.nowMillis += 60_000;
    expired.commit(second.command, tidyOf());
    assert.equal(expired.state.segments.size, 0);
  });

  it('is refused once its base version is below collectedBelow, at which it is still good †', () => {
    const outcomeAt = (collectBelow: (baseVersion: number) => number) => {
      const queue = backlog(2);
      const { command, into } = compacting(queue);
      queue.send('a', 'later version');
      queue.send('another');
      queue.commit(tidyOf(collectBelow(into.baseVersion)));
      return kindOf(queue.outcome(command));
    };
    assert.equal(
      outcomeAt((base) => base),
      'done',
    );
    assert.equal(
      outcomeAt((base) => base + 1),
      'superseded',
    );
  });

  it('is refused when this very transition raises collectedBelow above it', () => {
    const queue = backlog(2);
    const { command, into } = compacting(queue);
    queue.send('a later version');
    const results = queue.commit(command, tidyOf(into.baseVersion + 1));
    assert.deepEqual(
      results.map(({ outcome }) => kindOf(outcome)),
      ['superseded', 'done'],
    );
  });

  it('of fewer bodies than are live is our own mistake and stops the commit', () => {
    const queue = backlog(2);
    const { command, into } = compacting(queue);
    const short = { ...command, into: { ...into, bodyCount: 9 } } as Command;
    assert.throws(
      () => apply(queue.input([short])),
      /10 messages are live in segments of which 9 were copied/,
    );
  });
});
