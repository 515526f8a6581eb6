import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { GroupRates } from './group-rates.ts';
import type { GroupHash } from './ids.ts';
import { noFairness } from './queue-state.ts';

const minute = 60_000;
const hash = (name: string) => name as GroupHash;
const sends = (group: string, count: number) => Array.from({ length: count }, () => hash(group));
const counts = (rates: GroupRates) =>
  Object.fromEntries([...rates.current].map(([group, { count, peak }]) => [group, [count, peak]]));

describe('how much groups send', () => {
  it('is counted', () => {
    const rates = new GroupRates(noFairness, 0, 8);
    rates.count([...sends('a', 3), ...sends('b', 1)]);
    assert.deepEqual(counts(rates), { a: [3, 0], b: [1, 0] });
  });

  it('halves at each full minute, and what is nothing goes', () => {
    const first = new GroupRates(noFairness, 10 * minute + 59_999, 8);
    first.count([...sends('a', 9), ...sends('b', 1)]);
    const stored = { rates: first.current, minute: first.minute };
    assert.deepEqual(counts(new GroupRates(stored, 10 * minute + 59_999, 8)), { a: [9, 0], b: [1, 0] });
    assert.deepEqual(counts(new GroupRates(stored, 11 * minute, 8)), { a: [4, 0] });
    assert.deepEqual(counts(new GroupRates(stored, 13 * minute, 8)), { a: [1, 0] });
    assert.deepEqual(counts(new GroupRates(stored, 1_000_000 * minute, 8)), {});
  });

  it('halves once for nodes whose clocks differ, and goes on after a clock that was far ahead', () => {
    const first = new GroupRates(noFairness, 100 * minute, 8);
    first.count(sends('a', 8));
    const behind = new GroupRates({ rates: first.current, minute: first.minute }, 99 * minute, 8);
    assert.equal(behind.minute, 100);
    const again = new GroupRates({ rates: behind.current, minute: behind.minute }, 100 * minute, 8);
    assert.deepEqual(counts(again), { a: [8, 0] });
    const backAgain = new GroupRates({ rates: first.current, minute: 1_000 }, 100 * minute, 8);
    assert.equal(backAgain.minute, 100);
  });

  it('is the peak of a group for as long as messages of it wait', () => {
    const first = new GroupRates(noFairness, 0, 8);
    first.count(sends('a', 20));
    first.wait(new Set([hash('a')]));
    const later = new GroupRates({ rates: first.current, minute: 0 }, 10 * minute, 8);
    assert.deepEqual(counts(later), { a: [0, 20] });
    assert.equal(later.highestPeak, 20);
    later.forgetPeaks();
    assert.deepEqual(counts(later), {});
  });

  it('of one that sends more than its part is never missed nor too low, of however many groups', () => {
    const groupsMax = 8;
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constant(0), fc.nat(200)), { maxLength: 300 }), (drawn) => {
        const rates = new GroupRates(noFairness, 0, groupsMax);
        for (let from = 0; from < drawn.length; from += 7)
          rates.count(drawn.slice(from, from + 7).map((group) => hash(`g${group}`)));
        assert.ok(rates.current.size <= groupsMax);
        const exact = new Map<string, number>();
        for (const group of drawn) exact.set(`g${group}`, (exact.get(`g${group}`) ?? 0) + 1);
        for (const [group, count] of exact) {
          const kept = rates.current.get(hash(group));
          if (count > drawn.length / groupsMax) assert.ok(kept, `${group} sent ${count} of ${drawn.length}`);
          if (kept) assert.ok(kept.count >= count);
        }
      }),
    );
    assert.ok(true);
  });
});
