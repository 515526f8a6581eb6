import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { commitAt, windowMillis } from './linger.ts';

const millis = fc.integer({ min: 0, max: 5_000 });

describe('the window of a commit', () => {
  it('is the linger for a writer alone', () => {
    fc.assert(
      fc.property(millis, millis, (linger, roundMillis) => {
        assert.equal(windowMillis(linger, { others: 0, roundMillis }), linger);
      }),
    );
  });

  it('is two rounds of the slowest writer for each of a crowd, if that is longer', () => {
    assert.equal(windowMillis(0, { others: 1, roundMillis: 50 }), 200);
    assert.equal(windowMillis(100, { others: 3, roundMillis: 50 }), 400);
    assert.equal(windowMillis(100, { others: 1, roundMillis: 14 }), 100);
  });

  it('is neither shorter than the linger nor, for a crowd, longer than 2 s', () => {
    fc.assert(
      fc.property(millis, fc.nat(63), millis, (linger, others, roundMillis) => {
        const window = windowMillis(linger, { others, roundMillis });
        assert.ok(window >= linger && window <= Math.max(linger, 2_000));
      }),
    );
  });
});

describe('the time of a commit', () => {
  const alone = (arrivedAt: number, lastSwapBegan: number) =>
    commitAt(arrivedAt, { lastSwapBegan, windowMillis: 100, crowded: false });
  const crowded = (arrivedAt: number, lastSwapBegan: number) =>
    commitAt(arrivedAt, { lastSwapBegan, windowMillis: 100, crowded: true });

  it('comes 5 ms after a command that ends a silence', () => {
    assert.equal(alone(10_000, Number.NEGATIVE_INFINITY), 10_005);
    assert.equal(crowded(10_000, Number.NEGATIVE_INFINITY), 10_005);
    assert.equal(alone(10_000, 9_000), 10_005);
  });

  it('comes a window after the first command while commits follow each other', () => {
    assert.equal(alone(1_010, 1_000), 1_110);
    assert.equal(alone(1_049, 1_000), 1_149);
  });

  it('comes one and a half windows after the last commit in between', () => {
    assert.equal(alone(1_060, 1_000), 1_150);
    assert.equal(alone(1_140, 1_000), 1_150);
    assert.equal(alone(1_149, 1_000), 1_154);
  });

  it('in a crowd comes no sooner than a window after the swap that landed, however long the command has waited', () => {
    assert.equal(crowded(1_010, 1_000), 1_110);
    assert.equal(crowded(900, 1_000), 1_100);
    assert.equal(alone(900, 1_000), 1_000);
  });

  it('is never more than a window after the command, alone, nor after it could be the turn, in a crowd', () => {
    fc.assert(
      fc.property(millis, millis, millis, (arrivedAt, lastSwapBegan, window) => {
        const pace = { lastSwapBegan, windowMillis: window };
        const at = commitAt(arrivedAt, { ...pace, crowded: false });
        assert.ok(at >= arrivedAt && at <= arrivedAt + window);
        const inCrowd = commitAt(arrivedAt, { ...pace, crowded: true });
        assert.ok(inCrowd >= at && inCrowd <= Math.max(at, lastSwapBegan + window));
        assert.equal(commitAt(arrivedAt, { lastSwapBegan, windowMillis: 0, crowded: false }), arrivedAt);
      }),
    );
  });
});
