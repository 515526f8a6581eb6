import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SegmentId, SegmentReference } from './queue-state.ts';
import { adoptRunIndex, locate, runIndexOf } from './run-index.ts';

const run = (firstSequence: number, firstOrdinal: number, count: number) => ({
  firstSequence,
  firstOrdinal,
  count,
  sentAtShiftMillis: 0,
});
const reference = (...runs: SegmentReference['runs']): SegmentReference => ({
  baseVersion: 1,
  nonce: '0'.repeat(16),
  liveCount: 1,
  sentAtMaxMillis: 0,
  bytes: 0,
  runs,
});
const a = 'a' as SegmentId;
const b = 'b' as SegmentId;
const segments = new Map([
  [b, reference(run(20, 0, 1), run(30, 1, 5))],
  [a, reference(run(10, 0, 3), run(25, 3, 2))],
]);

describe('the run index', () => {
  it('finds segment and ordinal of a sequence number, at both ends of every run', () => {
    const index = runIndexOf(segments);
    const found = (sequence: number) => {
      const place = locate(index, sequence);
      return place && [place.segment, place.ordinal];
    };
    assert.deepEqual([10, 12, 20, 25, 26, 30, 34].map(found), [
      [a, 0],
      [a, 2],
      [b, 0],
      [a, 3],
      [a, 4],
      [b, 1],
      [b, 5],
    ]);
    assert.deepEqual([0, 9, 13, 19, 21, 24, 27, 29, 35, 1e12].map(found), Array(10).fill(undefined));
    assert.equal(locate([], 1), undefined);
  });

  it('is made once for the same references', () => {
    assert.equal(runIndexOf(segments), runIndexOf(segments));
    assert.notEqual(runIndexOf(new Map(segments)), runIndexOf(segments));
  });

  it('can be handed on to references with the same runs or fewer', () => {
    const fewer = new Map([...segments].slice(1));
    adoptRunIndex(fewer, runIndexOf(segments));
    assert.equal(runIndexOf(fewer), runIndexOf(segments));
  });
});
