import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { listPace, type WaitedPace, worthListing } from './list-pace.ts';
import { defaultListPriceInReads as price } from './settings.ts';

const alike = (count: number, intervalMillis = 2_000, changedShare = 0): WaitedPace[] =>
  Array.from({ length: count }, () => ({ intervalMillis, changedShare }));

const paces = fc.array(
  fc.record({
    intervalMillis: fc.constantFrom(50, 100, 200, 400, 800, 1_600, 2_000),
    changedShare: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  { maxLength: 60 },
);

/** GETs a second, a LIST counted by its price. */
function cost(waited: readonly WaitedPace[], listPrice: number, pace: number | undefined): number {
  let sum = pace === undefined ? 0 : listPrice / pace;
  for (const { intervalMillis, changedShare } of waited)
    sum += (pace === undefined || intervalMillis < pace ? 1 : changedShare) / intervalMillis;
  return sum * 1_000;
}

describe('the pace of LISTs', () => {
  it('is none for a dozen queues, and theirs for one more', () => {
    assert.equal(listPace(alike(12), price), undefined);
    assert.equal(listPace(alike(13), price), 2_000);
    assert.equal(listPace(alike(13, 50), price), 50);
  });

  it('is not that of a few with traffic', () => {
    assert.equal(listPace([...alike(12, 50), ...alike(100)], price), 2_000);
    assert.equal(listPace([...alike(13, 50), ...alike(100)], price), 50);
  });

  it('is none for queues that change all the time', () => {
    assert.equal(listPace(alike(100, 2_000, 0.9), price), undefined);
    assert.equal(listPace(alike(100, 2_000, 0.5), price), 2_000);
  });

  it('is the cheapest there is', () => {
    fc.assert(
      fc.property(paces, fc.double({ min: 0, max: 30, noNaN: true }), (waited, listPrice) => {
        const chosen = cost(waited, listPrice, listPace(waited, listPrice));
        const others = [undefined, ...waited.map(({ intervalMillis }) => intervalMillis)];
        for (const pace of others) assert.ok(chosen <= cost(waited, listPrice, pace) + 1e-9, `${pace}`);
      }),
    );
  });
});

describe('a LIST now', () => {
  it('is not for one late comer, but for a crowd of them', () => {
    assert.equal(worthListing(alike(1), 1_000, 2_000, price), false);
    assert.equal(worthListing(alike(6), 1_000, 2_000, price), false);
    assert.equal(worthListing(alike(7), 1_000, 2_000, price), true);
  });

  it('is for all that were shown by the last one, however jitter falls', () => {
    assert.equal(worthListing(alike(13), 0.8 * 2_000, 2_000, price), true);
    assert.equal(worthListing(alike(1), 2_000, 2_000, price), true);
  });
});
