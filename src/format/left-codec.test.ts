import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bitmapBytes, hasLeft } from '../core/lease-page.ts';
import { bitsOfRanges, leftRangesOf } from './left-codec.ts';
import { Malformed } from './wire.ts';

function bitsWith(count: number, ordinals: Iterable<number>): Uint8Array {
  const bits = new Uint8Array(bitmapBytes(count));
  for (const ordinal of ordinals) bits[ordinal >>> 3]! |= 1 << (ordinal & 7);
  return bits;
}

/** Stretches as consumers leave them, and what chance leaves. */
const leftArbitrary = fc.integer({ min: 1, max: 3_000 }).chain((count) =>
  fc.record({
    count: fc.constant(count),
    left: fc
      .oneof(
        fc.array(fc.nat(count - 1), { maxLength: 400 }),
        fc
          .array(fc.tuple(fc.nat(count - 1), fc.nat(30)), { maxLength: 60 })
          .map((stretches) =>
            stretches.flatMap(([start, length]) =>
              Array.from({ length }, (_, n) => start + n).filter((ordinal) => ordinal < count),
            ),
          ),
      )
      .map((ordinals) => bitsWith(count, ordinals)),
  }),
);

describe('what has left a page, as ranges', () => {
  it('is what the bits say, and only where it takes fewer bytes', () => {
    let shorter = 0;
    fc.assert(
      fc.property(leftArbitrary, ({ count, left }) => {
        const ranges = leftRangesOf(left);
        if (!ranges) return;
        shorter++;
        assert.ok(ranges.length < left.length);
        assert.deepEqual(bitsOfRanges(ranges, count), left);
      }),
      { numRuns: 300 },
    );
    assert.ok(shorter > 50, `${shorter} were shorter`);
  });

  it('takes two bytes for each stretch of a page of 2,048, and gives way to 256 bytes of bits', () => {
    const every = (step: number, from = 0) =>
      bitsWith(
        2_048,
        Array.from({ length: 2_048 }, (_, n) => n).filter((n) => n >= from && n % step === 0),
      );
    assert.equal(leftRangesOf(every(127, 1))!.length, 16 * 2);
    assert.equal(leftRangesOf(every(17))!.length, 121 * 2);
    assert.equal(leftRangesOf(every(16)), undefined);
    assert.equal(leftRangesOf(new Uint8Array(0)), undefined);
    const all = bitsWith(
      16,
      Array.from({ length: 16 }, (_, n) => n),
    );
    assert.equal(leftRangesOf(all), undefined);
    assert.deepEqual([...leftRangesOf(bitsWith(24, [21, 22, 23]))!], [21, 3]);
  });

  it('is damaged unless it is ascending ranges of entries, none empty and none touching', () => {
    const decode = (count: number, ...ranges: number[]) => bitsOfRanges(Uint8Array.from(ranges), count);
    assert.ok(hasLeft(decode(9, 8, 1), 8));
    assert.deepEqual([...decode(24, 0, 1, 1, 1)], [0b101, 0, 0]);
    for (const [count, ...ranges] of [
      [9, 8],
      [9, 8, 2],
      [9, 9, 1],
      [9, 2, 0],
      [9, 2, 1, 0, 1],
      [9, 2, 1, 1],
      [9, 0x80],
      [2 ** 16 + 1, 0, 1],
    ])
      assert.throws(() => decode(count!, ...ranges), Malformed, `${ranges} of ${count}`);
  });
});
