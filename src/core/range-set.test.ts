import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  add,
  addAll,
  addRange,
  countWithin,
  emptyRanges,
  first,
  fromPairs,
  has,
  intersectRange,
  isWellFormed,
  iterate,
  type RangeSet,
  rangeCount,
  rangesOf,
  remove,
  removeAll,
  removeRange,
  size,
} from './range-set.ts';

// A small universe makes touching, overlapping and exactly equal ranges common.
const universe = 40;
const number = fc.nat(universe - 1);
const range = fc
  .tuple(fc.nat(universe), fc.nat(universe))
  .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);

type Step =
  | { readonly kind: 'addRange' | 'removeRange'; readonly range: readonly [number, number] }
  | { readonly kind: 'add' | 'remove'; readonly n: number }
  | { readonly kind: 'addAll' | 'removeAll'; readonly numbers: number[] }
  | { readonly kind: 'intersectRange'; readonly range: readonly [number, number] };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('addRange' as const, 'removeRange' as const), range }),
  fc.record({ kind: fc.constantFrom('add' as const, 'remove' as const), n: number }),
  fc.record({
    kind: fc.constantFrom('addAll' as const, 'removeAll' as const),
    numbers: fc.array(number, { maxLength: 25 }),
  }),
  { arbitrary: fc.record({ kind: fc.constant('intersectRange' as const), range }), weight: 1 },
);

function applyToSet(set: RangeSet, s: Step): RangeSet {
  switch (s.kind) {
    case 'addRange':
      return addRange(set, ...s.range);
    case 'removeRange':
      return removeRange(set, ...s.range);
    case 'intersectRange':
      return intersectRange(set, ...s.range);
    case 'add':
      return add(set, s.n);
    case 'remove':
      return remove(set, s.n);
    case 'addAll':
      return addAll(set, s.numbers);
    case 'removeAll':
      return removeAll(set, s.numbers);
  }
}

function applyToModel(model: ReadonlySet<number>, s: Step): Set<number> {
  const next = new Set(model);
  switch (s.kind) {
    case 'addRange':
      for (let n = s.range[0]; n < s.range[1]; n += 1) next.add(n);
      break;
    case 'removeRange':
      for (let n = s.range[0]; n < s.range[1]; n += 1) next.delete(n);
      break;
    case 'intersectRange':
      for (const n of model) if (n < s.range[0] || n >= s.range[1]) next.delete(n);
      break;
    case 'add':
      next.add(s.n);
      break;
    case 'remove':
      next.delete(s.n);
      break;
    case 'addAll':
      for (const n of s.numbers) next.add(n);
      break;
    case 'removeAll':
      for (const n of s.numbers) next.delete(n);
      break;
  }
  return next;
}

function ascending(model: Iterable<number>): number[] {
  return [...model].sort((a, b) => a - b);
}

describe('range set', () => {
  it('agrees with a plain set after any steps, and stays well formed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), number, range, (steps, from, [start, end]) => {
        let set = emptyRanges;
        let model = new Set<number>();
        for (const s of steps) {
          const before = [...set];
          const next = applyToSet(set, s);
          assert.deepEqual([...set], before, 'the old set is untouched');
          const nextModel = applyToModel(model, s);
          const unchanged = nextModel.size === model.size && [...nextModel].every((n) => model.has(n));
          assert.equal(next === set, unchanged, 'the same set exactly when nothing changed');
          set = next;
          model = nextModel;
          assert.ok(isWellFormed(set), JSON.stringify(set));
          assert.deepEqual([...iterate(set)], ascending(model));
        }
        assert.equal(size(set), model.size);
        assert.equal(first(set), ascending(model)[0]);
        assert.equal(rangeCount(set), [...model].filter((n) => !model.has(n - 1)).length);
        for (let n = 0; n <= universe; n += 1) assert.equal(has(set, n), model.has(n));
        assert.deepEqual(
          [...iterate(set, from)],
          ascending(model).filter((n) => n >= from),
        );
        assert.equal(countWithin(set, start, end), [...model].filter((n) => n >= start && n < end).length);
      }),
      { numRuns: 1000 },
    );
  });

  it('takes pairs in any order', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 10 }), (pairs) => {
        const set = fromPairs(pairs);
        assert.ok(isWellFormed(set));
        assert.deepEqual(
          set,
          pairs.reduce((soFar, [start, end]) => addRange(soFar, start, end), emptyRanges),
        );
      }),
    );
  });

  it('joins ranges that touch', () => {
    assert.deepEqual([...addRange(rangesOf(0, 5), 5, 9)], [0, 9]);
    assert.deepEqual([...addRange(rangesOf(5, 9), 0, 5)], [0, 9]);
    assert.deepEqual(
      [
        ...add(
          fromPairs([
            [0, 4],
            [5, 9],
          ]),
          4,
        ),
      ],
      [0, 9],
    );
  });

  it('handles numbers beyond 32 bits', () => {
    const top = Number.MAX_SAFE_INTEGER;
    assert.deepEqual([...remove(rangesOf(2 ** 40, top), top - 2)], [2 ** 40, top - 2, top - 1, top]);
    assert.equal(size(rangesOf(0, top)), top);
  });

  it('refuses what is not a range of non-negative safe integers', () => {
    for (const [start, end] of [
      [-1, 2],
      [3, 2],
      [0.5, 2],
      [0, 2 ** 53],
      [Number.NaN, 1],
    ] as const) {
      assert.throws(() => rangesOf(start, end), RangeError);
      assert.throws(() => removeRange(emptyRanges, start, end), RangeError);
    }
    assert.throws(() => addAll(emptyRanges, [1, -1]), RangeError);
    assert.throws(() => add(emptyRanges, Number.MAX_SAFE_INTEGER), RangeError);
  });

  it('tells malformed boundaries', () => {
    for (const flat of [
      [1],
      [2, 1],
      [1, 1],
      [0, 2, 2, 3],
      [-1, 3],
      [0, 1.5],
      [0, 2 ** 53],
      [0, Number.NaN],
    ]) {
      assert.equal(isWellFormed(flat), false, JSON.stringify(flat));
    }
    assert.ok(isWellFormed([0, 1, 2, 3]));
  });
});
