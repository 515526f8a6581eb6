/** Over 300 lines: what goes to segments and what comes of them is told by exact values, a case each, over the same queue. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  deleteOf,
  leasedOf,
  messageOfInlineBytes,
  newMessage,
  OneQueue,
  receiveOf,
  sendOf,
  setOf,
  tidyOf,
} from '../../test/model/one-queue.ts';
import type { NewMessage } from './command.ts';
import { INLINE_MESSAGE_BYTES_MAX, SEGMENT_BYTES_MAX, TAIL_BYTES_MAX } from './limits.ts';
import type { SegmentReference } from './queue-state.ts';
import type { PreparedSegment } from './resources.ts';
import { apply } from './transition.ts';

const many = (count: number, bytes: number): NewMessage[] =>
  Array.from({ length: count }, () => messageOfInlineBytes(bytes));
const references = (queue: OneQueue): SegmentReference[] => [...queue.state.segments.values()];
const onlyReference = (queue: OneQueue): SegmentReference => {
  const [reference, ...others] = references(queue);
  assert.ok(reference && others.length === 0, 'one segment');
  return reference;
};
const tailOf = (queue: OneQueue): number[] => [...queue.state.tail.keys()];
const quarter = TAIL_BYTES_MAX / 4;

describe('spill', () => {
  it('keeps a tail of exactly TAIL_BYTES_MAX and spills all of it one byte later, older messages too', () => {
    const queue = new OneQueue();
    queue.commit(sendOf(...many(4, quarter)));
    assert.equal(queue.state.segments.size, 0);
    assert.deepEqual(tailOf(queue), [1, 2, 3, 4]);
    queue.send('x');
    assert.deepEqual(tailOf(queue), []);
    const reference = onlyReference(queue);
    assert.equal(reference.liveCount, 5);
    assert.deepEqual(reference.runs, [{ firstSequence: 1, firstOrdinal: 0, count: 5, sentAtShiftMillis: 0 }]);
    assert.equal(reference.baseVersion, 2);
    assert.equal(reference.sentAtMaxMillis, queue.nowMillis);
  });

  it('keeps a message of exactly INLINE_MESSAGE_BYTES_MAX and takes one byte more to a segment, together with others', () => {
    const queue = new OneQueue();
    queue.commit(
      sendOf(
        messageOfInlineBytes(INLINE_MESSAGE_BYTES_MAX),
        messageOfInlineBytes(INLINE_MESSAGE_BYTES_MAX + 1),
      ),
      sendOf(newMessage('small'), messageOfInlineBytes(INLINE_MESSAGE_BYTES_MAX + 1)),
    );
    assert.deepEqual(tailOf(queue), [1, 3]);
    assert.deepEqual(
      references(queue).map(({ runs }) => runs),
      [
        [
          { firstSequence: 2, firstOrdinal: 0, count: 1, sentAtShiftMillis: 0 },
          { firstSequence: 4, firstOrdinal: 1, count: 1, sentAtShiftMillis: 0 },
        ],
      ],
    );
  });

  it('does not count large messages against the tail', () => {
    const queue = new OneQueue();
    queue.commit(sendOf(...many(4, quarter), messageOfInlineBytes(500_000)));
    assert.deepEqual(tailOf(queue), [1, 2, 3, 4]);
    assert.equal(onlyReference(queue).liveCount, 1);
  });

  it('leaves gaps between the sequence numbers of a run where a large message lies', () => {
    const queue = new OneQueue();
    const large = messageOfInlineBytes(INLINE_MESSAGE_BYTES_MAX + 1);
    queue.commit(sendOf(...many(2, quarter), large));
    queue.commit(sendOf(...many(3, quarter)));
    assert.deepEqual(
      references(queue)
        .map(({ runs }) =>
          runs.map(({ firstSequence, firstOrdinal, count }) => [firstSequence, firstOrdinal, count]),
        )
        .sort((a, b) => a.length - b.length),
      [
        [[3, 0, 1]],
        [
          [1, 0, 2],
          [4, 2, 3],
        ],
      ],
    );
    assert.deepEqual(
      queue.receive().map(({ handle }) => handle.sequence),
      [1, 2, 3, 4, 5, 6],
    );
  });

  it('cuts a spill into segments of exactly SEGMENT_BYTES_MAX at most', () => {
    const perSegment = SEGMENT_BYTES_MAX / quarter;
    const queue = new OneQueue();
    queue.commit(sendOf(...many(perSegment + 1, quarter)));
    assert.deepEqual(
      references(queue).map(({ liveCount }) => liveCount),
      [perSegment, 1],
    );
    const other = new OneQueue();
    other.commit(
      sendOf(...many(perSegment - 1, quarter), messageOfInlineBytes(quarter - 1), newMessage('xx')),
    );
    assert.deepEqual(
      references(other).map(({ liveCount }) => liveCount),
      [perSegment, 1],
    );
  });

  it('never uploads what is deleted from the tail in time', () => {
    const queue = new OneQueue();
    queue.commit(sendOf(...many(4, quarter)));
    const [first] = queue.receive(1);
    queue.commit(deleteOf(first!.handle), sendOf(messageOfInlineBytes(quarter)));
    assert.equal(queue.state.segments.size, 0);
  });

  it('carries leased and delayed messages along', () => {
    const queue = new OneQueue();
    queue.send('leased');
    const [leased] = queue.receive();
    queue.commit({ kind: 'send', entries: [{ message: newMessage('delayed'), delaySeconds: 5 }] });
    queue.commit(sendOf(...many(4, quarter)));
    assert.equal(onlyReference(queue).liveCount, 6);
    assert.equal(queue.places[1], 'deliveries');
    assert.equal(queue.places[2], 'delayed');
    queue.commit(deleteOf(leased!.handle));
    assert.equal(onlyReference(queue).liveCount, 5);
    queue.nowMillis += 5_000;
    queue.letRedeliveriesBegin();
    assert.equal(queue.bodies(1)[0], 'delayed');
  });

  it('hands out and stores in one commit also what goes to a segment', () => {
    const queue = new OneQueue();
    const results = queue.commit(sendOf(...many(5, quarter)), receiveOf(2));
    const leased = leasedOf(results[1]!.outcome);
    assert.equal(leased.length, 2);
    queue.commit(deleteOf(...leased.map(({ handle }) => handle)));
    assert.equal(onlyReference(queue).liveCount, 3);
    assert.deepEqual(
      queue.receive().map(({ handle }) => handle.sequence),
      [3, 4, 5],
    );
  });

  it('names what to upload, with what each message came from', () => {
    const queue = new OneQueue();
    queue.send('old');
    const fresh = many(4, quarter);
    const result = apply(queue.input([sendOf(...fresh)]));
    assert.ok(result.kind === 'needs');
    const [spilled, ...others] = result.needs.spills;
    assert.equal(others.length, 0);
    assert.deepEqual(
      spilled!.map(({ sequence, origin, bytes }) => [sequence, origin, bytes]),
      [[1, undefined, 78], ...fresh.map((message, n) => [n + 2, message, quarter])],
    );
  });

  it('spills for a batch that changes something else too, and not for one that changes nothing', () => {
    const queue = new OneQueue();
    queue.commit(sendOf(...many(4, quarter)));
    assert.equal(queue.commit(setOf({ VisibilityTimeout: '1' }), tidyOf())[0]!.effect, true);
    assert.equal(queue.state.segments.size, 0);
  });
});

describe('an uploaded segment', () => {
  /** A batch that was uploaded for and lost its swap. */
  function lost(queue: OneQueue, messages: readonly NewMessage[]): PreparedSegment[] {
    const prepared: PreparedSegment[] = [];
    const result = queue.attempt([sendOf(...messages)], prepared);
    assert.ok(result.changed && prepared.length > 0);
    return prepared;
  }

  it('is used again after a conflict, under whatever sequence numbers its messages get now', () => {
    const queue = new OneQueue();
    const messages = many(5, quarter);
    const prepared = lost(queue, messages);
    queue.commit(sendOf(newMessage('rival 1'), newMessage('rival 2'), newMessage('rival 3')));
    const uploads = [...queue.segments.keys()];
    queue.commitPrepared([sendOf(...messages)], prepared);
    const added = [...queue.segments.keys()].filter((id) => !uploads.includes(id));
    assert.equal(added.length, 1, 'only what the rival left in the tail is uploaded');
    const reference = queue.state.segments.get(prepared[0]!.id)!;
    assert.deepEqual(reference.runs, [{ firstSequence: 4, firstOrdinal: 0, count: 5, sentAtShiftMillis: 0 }]);
    assert.deepEqual(
      [reference.baseVersion, reference.nonce, reference.bytes],
      [1, prepared[0]!.nonce, prepared[0]!.bytes],
    );
    assert.deepEqual(queue.state.segments.get(added[0]!)!.runs, [
      { firstSequence: 1, firstOrdinal: 0, count: 3, sentAtShiftMillis: 0 },
    ]);
    assert.equal(queue.receive(3).length, 3);
    assert.equal(queue.receive(10)[0]!.message.messageId, messages[0]!.messageId);
  });

  it('is left alone when the fresh state needs no spill', () => {
    const queue = new OneQueue();
    queue.commit(sendOf(...many(3, quarter)));
    const leased = queue.receive();
    const messages = many(2, quarter);
    const prepared = lost(queue, messages);
    queue.commit(deleteOf(...leased.map(({ handle }) => handle)));
    queue.commitPrepared([sendOf(...messages)], prepared);
    assert.equal(queue.state.segments.size, 0);
    assert.deepEqual(tailOf(queue), [4, 5]);
  });

  it('holds a tail message that somebody else deletes between upload and apply: the reference leaves it out', () => {
    const queue = new OneQueue();
    queue.send('1', '2', '3');
    const leased = queue.receive();
    const messages = many(5, quarter);
    const prepared = lost(queue, messages);
    assert.equal(prepared[0]!.messages.length, 8);
    queue.commit(deleteOf(leased[1]!.handle));
    queue.commitPrepared([sendOf(...messages)], prepared);
    const reference = onlyReference(queue);
    assert.equal(reference.liveCount, 7);
    assert.deepEqual(reference.runs, [
      { firstSequence: 1, firstOrdinal: 0, count: 1, sentAtShiftMillis: 0 },
      { firstSequence: 3, firstOrdinal: 2, count: 6, sentAtShiftMillis: 0 },
    ]);
    queue.commit(deleteOf(leased[0]!.handle, leased[2]!.handle));
    assert.equal(onlyReference(queue).liveCount, 5);
  });

  it('is not named when a rival has spilled the same tail already', () => {
    const queue = new OneQueue();
    queue.send('1', '2');
    const messages = many(5, quarter);
    const prepared = lost(queue, messages);
    queue.commit(sendOf(...many(5, quarter)));
    queue.commitPrepared([sendOf(...messages)], prepared);
    assert.deepEqual(
      references(queue).map(({ runs }) =>
        runs.map(({ firstSequence, firstOrdinal, count }) => [firstSequence, firstOrdinal, count]),
      ),
      [[[1, 0, 7]], [[8, 2, 5]]],
    );
  });

  it('has its stamps shifted to the later time of the swap, and keeps a later stamp of its own', () => {
    const queue = new OneQueue();
    const messages = many(5, quarter);
    const prepared = lost(queue, messages);
    const uploadedAt = queue.nowMillis;
    queue.nowMillis += 700;
    queue.commitPrepared([sendOf(...messages)], prepared);
    assert.equal(onlyReference(queue).runs[0]!.sentAtShiftMillis, 700);
    assert.equal(onlyReference(queue).sentAtMaxMillis, uploadedAt + 700);
    assert.equal(queue.receive(1)[0]!.message.sentAtMillis, uploadedAt + 700);

    const other = new OneQueue();
    const later = lost(other, messages);
    other.nowMillis -= 700;
    other.manifestMillis = other.nowMillis;
    other.commitPrepared([sendOf(...messages)], later);
    assert.equal(onlyReference(other).runs[0]!.sentAtShiftMillis, 0);
    assert.equal(onlyReference(other).sentAtMaxMillis, other.nowMillis + 700);
    assert.equal(other.receive(1)[0]!.message.sentAtMillis, other.nowMillis + 700);
  });

  it('splits its runs where the shift changes: old tail messages keep their stamps', () => {
    const queue = new OneQueue();
    queue.send('old');
    const messages = many(4, quarter);
    const prepared = lost(queue, messages);
    queue.nowMillis += 9;
    queue.commitPrepared([sendOf(...messages)], prepared);
    assert.deepEqual(onlyReference(queue).runs, [
      { firstSequence: 1, firstOrdinal: 0, count: 1, sentAtShiftMillis: 0 },
      { firstSequence: 2, firstOrdinal: 1, count: 4, sentAtShiftMillis: 9 },
    ]);
  });

  it('leaves a gap in its ordinals where the fresh state refuses a message of the batch', () => {
    const queue = new OneQueue();
    const [tooLarge] = many(1, 60_000);
    const messages = [...many(2, 55_000), tooLarge!, ...many(3, 55_000)];
    const prepared = lost(queue, messages);
    queue.commit(setOf({ MaximumMessageSize: '58000' }));
    queue.commitPrepared([sendOf(...messages)], prepared);
    assert.deepEqual(onlyReference(queue).runs, [
      { firstSequence: 1, firstOrdinal: 0, count: 2, sentAtShiftMillis: 0 },
      { firstSequence: 3, firstOrdinal: 3, count: 3, sentAtShiftMillis: 0 },
    ]);
    assert.deepEqual(
      queue.receive().map(({ message }) => message.messageId),
      messages.filter((message) => message !== tooLarge).map(({ messageId }) => messageId),
    );
  });

  it('is refused once its base version is below collectedBelow, and uploaded anew †', () => {
    const queue = new OneQueue();
    const messages = many(5, quarter);
    const prepared = lost(queue, messages);
    const [first] = prepared;
    assert.equal(first!.baseVersion, 1);
    queue.commit(sendOf(newMessage('rival')), tidyOf());
    queue.commit(tidyOf(2));
    assert.equal(queue.state.collectedBelow, 2);
    queue.commitPrepared([sendOf(...messages)], prepared);
    assert.equal(prepared.length, 2);
    assert.deepEqual([...queue.state.segments.keys()], [prepared[1]!.id]);
    assert.equal(onlyReference(queue).baseVersion, 3);
  });

  it('is still good at exactly collectedBelow, and refused when this very transition raises it above', () => {
    const at = (collectBelow: number) => {
      const queue = new OneQueue();
      queue.send('to version 2');
      const messages = many(5, quarter);
      const prepared = lost(queue, messages);
      queue.send('to version 3');
      queue.collectBelow = collectBelow;
      const result = apply(queue.input([sendOf(...messages)], prepared));
      assert.ok(result.kind === 'needs', 'the rival in the tail is yet to be uploaded');
      return result.needs.spills.flat().length;
    };
    assert.equal(at(2), 1);
    assert.equal(at(3), 7);
  });
});
