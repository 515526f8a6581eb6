import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messageOfInlineBytes, newMessage, OneQueue, redrive, sendOf } from '../../test/model/one-queue.ts';
import { Draft } from './draft.ts';
import { TAIL_BYTES_MAX } from './limits.ts';
import { runIndexOf } from './run-index.ts';

const seed = new Uint8Array(8).fill(1);
const written = (draft: Draft) =>
  draft.seal({ writers: [], writersFloor: 0, collectedBelow: draft.base.collectedBelow });
const filling = sendOf(...Array.from({ length: 5 }, () => messageOfInlineBytes(TAIL_BYTES_MAX / 4)));

describe('a draft', () => {
  it('seals into a state that shares what was not changed and copies what was', () => {
    const queue = new OneQueue();
    queue.commit(filling);
    queue.send('a', 'b');
    queue.receive(1);
    const base = queue.state;
    const draft = new Draft(base, { ...queue.time, manifestMillis: queue.nowMillis + 9 }, seed);
    draft.takeFromReady([7]);
    draft.endBody(7);
    const next = written(draft);
    assert.equal(next.version, base.version + 1);
    assert.equal(next.timeMillis, queue.nowMillis + 9);
    for (const shared of ['attributes', 'deliveries', 'delayed', 'segments', 'intents', 'tags'] as const)
      assert.equal(next[shared], base[shared], shared);
    assert.notEqual(next.tail, base.tail);
    assert.deepEqual([...base.tail.keys()], [6, 7]);
    assert.deepEqual([...next.tail.keys()], [6]);
  });

  it('keeps fields it does not know', () => {
    const queue = new OneQueue();
    const base = { ...queue.state, unknownFields: ['something newer'], tags: new Map([['k', 'v']]) };
    const next = written(new Draft(base, queue.time, seed));
    assert.deepEqual(next.unknownFields, ['something newer']);
    assert.equal(next.tags, base.tags);
  });

  it('hands the run index on while no segment is added, and lets it go when one is', () => {
    const queue = new OneQueue();
    queue.commit(filling);
    const index = runIndexOf(queue.state.segments);
    const draft = new Draft(queue.state, queue.time, seed);
    draft.takeFromReady([1]);
    draft.endBody(1);
    const next = written(draft);
    assert.notEqual(next.segments, queue.state.segments);
    assert.equal(runIndexOf(next.segments), index);
    queue.commit(filling);
    assert.notEqual(runIndexOf(queue.state.segments), index);
    assert.equal(queue.state.segments.size, 2);
  });

  it('ends a segment with everything in it but what belongs to another queue', () => {
    const queue = new OneQueue(redrive(1));
    queue.commit(filling);
    queue.receive(1, 0);
    queue.receive(2, 60);
    assert.deepEqual(queue.places, {
      1: 'intents',
      2: 'deliveries',
      3: 'deliveries',
      4: 'ready',
      5: 'ready',
    });
    const [[id, reference]] = [...queue.state.segments] as [[never, never]];
    const draft = new Draft(queue.state, queue.time, seed);
    draft.endSegment(id, reference);
    const next = written(draft);
    assert.deepEqual([...next.intents.keys()], [1]);
    assert.equal(next.segments.get(id)!.liveCount, 1);
    assert.equal(next.deliveries.size + next.ready.length, 0);
  });

  it('stops at a message without a body: that is our own mistake', () => {
    const queue = new OneQueue();
    queue.send('a');
    const draft = new Draft(queue.state, queue.time, seed);
    assert.throws(() => draft.endBody(2), /no body for sequence 2/);
  });

  it('draws tokens from its seed, whatever view of a buffer that is', () => {
    const queue = new OneQueue();
    const bytes = Uint8Array.of(9, 9, 0, 0, 0, 0, 0, 0, 0, 255, 9);
    const draft = new Draft(queue.state, queue.time, bytes.subarray(2, 10));
    assert.equal(draft.drawToken(), '00000000000000ff');
    assert.equal(draft.drawToken(), '0000000000000100');
  });

  it('remembers where each new message of the tail came from', () => {
    const queue = new OneQueue();
    const message = newMessage();
    const draft = new Draft(queue.state, queue.time, seed);
    const { content, ...identity } = message;
    draft.append(1, { ...content, ...identity, sentAtMillis: 0, deadLetterSourceArn: undefined }, 5, message);
    assert.equal(draft.origins.get(1), message);
  });
});
