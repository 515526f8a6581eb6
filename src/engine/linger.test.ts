import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { commitAt, windowMillis } from './linger.ts';

const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const millis = fc.integer({ min: 0, max: 5_000 });

describe('the window of a commit', () => {
  it('is the linger, exactly, for a writer alone', () => {
    fc.assert(
      fc.property(millis, millis, draw, (linger, roundMillis, unit) => {
        assert.equal(windowMillis(linger, { others: 0, roundMillis }, unit), linger);
      }),
    );
  });

  it('is 2.2 rounds of the slowest writer for each of the crowd, give or take a fifth', () => {
    assert.equal(Math.round(windowMillis(0, { others: 1, roundMillis: 50 }, 0.5)), 220);
    assert.equal(Math.round(windowMillis(100, { others: 3, roundMillis: 50 }, 0.5)), 440);
    assert.equal(Math.round(windowMillis(100, { others: 3, roundMillis: 50 }, 0)), 352);
    assert.ok(windowMillis(100, { others: 3, roundMillis: 50 }, 0.999) > 527);
  });

  it('is never much shorter than the linger, nor longer than it or 2.4 s', () => {
    fc.assert(
      fc.property(millis, fc.nat(63), millis, draw, (linger, others, roundMillis, unit) => {
        const window = windowMillis(linger, { others, roundMillis }, unit);
        assert.ok(window >= 0.8 * linger);
        assert.ok(window < 1.2 * Math.max(linger, 2_000) + 1e-6);
      }),
    );
  });
});

describe('the time of a commit', () => {
  it('comes 5 ms after a command that ends a silence', () => {
    assert.equal(commitAt(10_000, Number.NEGATIVE_INFINITY, 100), 10_005);
    assert.equal(commitAt(10_000, 9_000, 100), 10_005);
  });

  it('comes a window after the first command while commits follow each other', () => {
    assert.equal(commitAt(1_010, 1_000, 100), 1_110);
    assert.equal(commitAt(1_049, 1_000, 100), 1_149);
  });

  it('comes one and a half windows after the last commit in between', () => {
    assert.equal(commitAt(1_060, 1_000, 100), 1_150);
    assert.equal(commitAt(1_140, 1_000, 100), 1_150);
    assert.equal(commitAt(1_149, 1_000, 100), 1_154);
  });

  it('is at once without a linger, and never more than a window after the command', () => {
    fc.assert(
      fc.property(millis, millis, millis, (arrivedAt, lastBegan, window) => {
        const at = commitAt(arrivedAt, lastBegan, window);
        assert.ok(at >= arrivedAt && at <= arrivedAt + window);
        assert.equal(commitAt(arrivedAt, lastBegan, 0), arrivedAt);
      }),
    );
  });
});
