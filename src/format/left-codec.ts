/**
 * What has left a lease page, as the manifest stores it: as bits, or as ranges of ordinals where that takes fewer
 * bytes. Consumers delete what they received together, and that lies side by side in a page: a million messages left
 * behind in 600 pages take half the bytes so.
 */
import { bitmapBytes, hasLeft } from '../core/lease-page.ts';
import { Malformed, varintBytes } from './wire.ts';
import { WireReader } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

/** Bits never change, and most pages have the same in many manifests. */
const known = new WeakMap<Uint8Array, Uint8Array | 'bits'>();

/** Boundaries of the ranges as differences, from a start to an end and on; undefined unless they are fewer bytes. */
export function leftRangesOf(left: Uint8Array): Uint8Array | undefined {
  if (left.length === 0 || left.length > entriesMax / 8) return undefined;
  let ranges = known.get(left);
  if (ranges === undefined) {
    ranges = shorterRanges(left);
    known.set(left, ranges);
  }
  return ranges === 'bits' ? undefined : ranges;
}

/** Of a page whose bits may be written as ranges: okuri's hold 2,048. A few bytes must not ask for megabytes of bits. */
const entriesMax = 1 << 16;

/** @throws Malformed */
export function bitsOfRanges(ranges: Uint8Array, count: number): Uint8Array {
  if (count > entriesMax) throw new Malformed('a page reference counts more entries than a page may have');
  const bits = new Uint8Array(bitmapBytes(count));
  const reader = new WireReader(ranges);
  let end = 0;
  let shortestBytes = 0;
  while (reader.more()) {
    const gap = reader.varint();
    // A range alone with half of its boundaries is cut off: the reader says so.
    const length = reader.varint();
    const start = end + gap;
    if ((gap === 0 && end > 0) || length === 0 || start + length > count)
      throw new Malformed('what has left a page is no ascending ranges of its entries');
    end = start + length;
    shortestBytes += varintBytes(gap) + varintBytes(length);
    for (let ordinal = start; ordinal < end; ordinal++) bits[ordinal >>> 3]! |= 1 << (ordinal & 7);
  }
  // As they would be written again: nobody has to find out.
  if (ranges.length === shortestBytes && shortestBytes < bits.length) known.set(bits, ranges.slice());
  return bits;
}

function shorterRanges(left: Uint8Array): Uint8Array | 'bits' {
  const writer = new WireWriter(left.length + 8);
  const bits = left.length * 8;
  let boundary = 0;
  let inRange = false;
  for (let ordinal = 0; ordinal <= bits && writer.length < left.length; ordinal++) {
    // Whole bytes that go on as before.
    while (ordinal % 8 === 0 && left[ordinal >>> 3] === (inRange ? 0xff : 0)) ordinal += 8;
    if ((ordinal < bits && hasLeft(left, ordinal)) === inRange) continue;
    writer.varint(ordinal - boundary);
    boundary = ordinal;
    inRange = !inRange;
  }
  return writer.length > 0 && writer.length < left.length ? writer.finish() : 'bits';
}
