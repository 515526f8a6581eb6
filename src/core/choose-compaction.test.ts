import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { queueStateArbitrary } from '../../test/arbitraries/queue-state.ts';
import { OneQueue } from '../../test/model/one-queue.ts';
import { bodyCountOf, chooseCompaction, isSparse, type Standing } from './choose-compaction.ts';
import { type QueueState, type SegmentId, type SegmentReference, segmentIdOf } from './queue-state.ts';
import { fromPairs } from './range-set.ts';

const mebibyte = 1024 * 1024;
const limits = { compactedBytesMax: 4 * mebibyte };
const settled = (): Standing => 'settled';

interface Shape {
  readonly bytes: number;
  /** Live ones of a hundred. */
  readonly live?: number;
  /** Of those, so many are not ready. */
  readonly busy?: number;
  readonly sentAtMaxMillis?: number;
}

/** Segments of a hundred messages, one after the other. */
function stateOf(shapes: readonly Shape[]): QueueState {
  const segments = new Map<SegmentId, SegmentReference>();
  const ready: [number, number][] = [];
  shapes.forEach(({ bytes, live = 100, busy = 0, sentAtMaxMillis = 1_000 }, index) => {
    const firstSequence = 1 + index * 100;
    const runs = [{ firstSequence, firstOrdinal: 0, count: 100, sentAtShiftMillis: 0 }];
    const reference = {
      baseVersion: index,
      nonce: '0'.repeat(16),
      liveCount: live,
      sentAtMaxMillis,
      bytes,
      runs,
    };
    segments.set(segmentIdOf(reference), reference);
    ready.push([firstSequence + busy, firstSequence + live]);
  });
  return {
    ...new OneQueue().state,
    segments,
    ready: fromPairs(ready),
    nextSequence: shapes.length * 100 + 1,
  };
}

const small: Shape = { bytes: mebibyte / 4 };
const times = (count: number, shape: Shape): Shape[] => Array.from({ length: count }, () => shape);
/** By their place in the queue. */
function chosen(state: QueueState, standing: (index: number) => Standing = settled): number[] | undefined {
  const indexOf = (id: SegmentId) => state.segments.get(id)!.baseVersion;
  return chooseCompaction(state, limits, (id) => standing(indexOf(id)))?.map(indexOf);
}
const upTo = (from: number, end: number) => Array.from({ length: end - from }, (_, n) => from + n);

describe('what is compacted', () => {
  it('is nothing of a short queue, of its head, and of what does not make a full object yet', () => {
    assert.equal(chosen(stateOf([])), undefined);
    assert.equal(chosen(stateOf(times(16, small))), undefined, 'the head');
    assert.equal(chosen(stateOf(times(27, small))), undefined, '11 of 16');
    assert.deepEqual(chosen(stateOf(times(28, small))), upTo(16, 28));
    assert.deepEqual(chosen(stateOf(times(100, small))), upTo(16, 32));
  });

  it('leaves alone what is moving, and what has messages that are not ready, until that stands still', () => {
    assert.equal(
      chosen(stateOf(times(40, small)), () => 'moving'),
      undefined,
    );
    const state = stateOf([...times(20, small), { ...small, busy: 1 }, ...times(19, small)]);
    assert.deepEqual(chosen(state), [16, 17, 18, 19, ...upTo(21, 33)]);
    assert.deepEqual(
      chosen(state, (index) => (index === 20 ? 'still' : 'settled')),
      upTo(16, 32),
    );
    assert.deepEqual(
      chosen(state, (index) => (index === 17 ? 'moving' : 'settled')),
      [16, 18, 19, ...upTo(21, 34)],
    );
  });

  it('leaves alone what is large enough, and does not join what it parts', () => {
    const large = { bytes: 3 * mebibyte };
    assert.deepEqual(chosen(stateOf([...times(18, small), large, ...times(20, small)])), [
      16,
      17,
      ...upTo(19, 33),
    ]);
    const parted = [...times(18, small), large, large, ...times(20, small)];
    assert.deepEqual(chosen(stateOf(parted)), upTo(20, 36));
  });

  it('is of one age', () => {
    const day = 24 * 60 * 60 * 1000;
    const old = times(20, small);
    const young = times(40, { ...small, sentAtMaxMillis: 1_000 + 2 * day });
    assert.deepEqual(chosen(stateOf([...old, ...young])), upTo(20, 36), 'of a retention of four days');
  });

  it('is what is sparse, anywhere, once that sets enough bytes free', () => {
    const sparse = { ...small, live: 10 };
    assert.equal(chosen(stateOf(times(8, sparse))), undefined);
    assert.deepEqual(chosen(stateOf(times(9, sparse))), upTo(0, 9));
    assert.equal(
      chosen(stateOf(times(9, sparse)), () => 'moving'),
      undefined,
    );
    assert.equal(chosen(stateOf(times(9, { ...small, live: 25 }))), undefined, 'a quarter is not sparse');
    assert.deepEqual(
      chosen(stateOf([{ bytes: 4 * mebibyte, live: 10 }])),
      [0],
      'one alone, when it is large',
    );
    assert.deepEqual(chosen(stateOf(times(9, { ...sparse, busy: 10 }))), upTo(0, 9), 'in flight or not');
  });

  it('is bounded in what is read for it', () => {
    const nearlyDead = { bytes: 4 * mebibyte, live: 1 };
    assert.deepEqual(chosen(stateOf(times(50, nearlyDead))), upTo(0, 4));
  });

  it('was not just made so: bodies count, not the numbers that runs pass over', () => {
    const state = stateOf([{ bytes: 4 * mebibyte, live: 10 }]);
    const [[id, reference]] = [...state.segments] as [[SegmentId, SegmentReference]];
    assert.ok(isSparse(reference));
    const rewritten = { ...reference, bodyCount: 10 };
    assert.ok(!isSparse(rewritten));
    assert.equal(chosen({ ...state, segments: new Map([[id, rewritten]]) }), undefined);
  });

  it('never costs anything again and again: what compaction makes of any backlog comes to an end', () => {
    const shape = fc.record({
      bytes: fc.oneof(fc.integer({ min: 100, max: mebibyte }), fc.integer({ min: 1, max: 8 * mebibyte })),
      live: fc.oneof(fc.constant(100), fc.integer({ min: 1, max: 100 })),
      busy: fc.constantFrom(0, 0, 0, 1),
    });
    fc.assert(
      fc.property(fc.array(shape, { maxLength: 80, size: 'max' }), fc.nat(100), (shapes, error) => {
        let state = stateOf(shapes);
        let copied = 0;
        for (let round = 0; ; round++) {
          assert.ok(round <= shapes.length, 'each round leaves fewer references or fewer dead bodies');
          const from = chooseCompaction(state, limits, () => 'still');
          if (!from) break;
          const parts = from.map((id) => state.segments.get(id)!);
          const read = parts.reduce((sum, { bytes }) => sum + bytes, 0);
          assert.ok(parts.length > 1 || isSparse(parts[0]!));
          assert.ok(parts.length === 1 || read <= 4 * limits.compactedBytesMax);
          assert.equal(new Set(from).size, from.length);
          const guessed = parts.reduce((sum, r) => sum + (r.bytes * r.liveCount) / bodyCountOf(r), 0);
          assert.ok(parts.length === 1 || guessed <= limits.compactedBytesMax);
          // Live bodies may be larger or smaller than the dead.
          const bytes = Math.max(1, Math.floor(Math.min(read, guessed * (0.5 + error / 100))));
          copied += bytes;
          const liveCount = parts.reduce((sum, r) => sum + r.liveCount, 0);
          const into = {
            ...parts[0]!,
            baseVersion: 1_000 + round,
            bytes,
            liveCount,
            bodyCount: liveCount,
            runs: parts.flatMap(({ runs }) => runs).sort((a, b) => a.firstSequence - b.firstSequence),
          };
          const segments = new Map(state.segments);
          for (const id of from) segments.delete(id);
          segments.set(segmentIdOf(into), into);
          state = { ...state, segments };
        }
        const all = shapes.reduce((sum, { bytes }) => sum + bytes, 0);
        assert.ok(copied <= 3 * all, `${copied} bytes were copied of ${all}`);
      }),
    );
  });

  it('is something that any state has, and only what stands', () => {
    fc.assert(
      fc.property(
        queueStateArbitrary,
        fc.constantFrom<Standing>('moving', 'settled', 'still'),
        (drawn, standing) => {
          const state = { ...drawn, attributes: new Map() };
          const from = chooseCompaction(state, { compactedBytesMax: 100 }, () => standing);
          if (standing === 'moving') assert.equal(from, undefined);
          for (const id of from ?? []) assert.ok(state.segments.has(id));
        },
      ),
    );
  });
});
