/** Who comes first in a standard queue with message groups: a few hundred bytes mostly, written with every commit. */
import { type GroupHash, groupHashBytes } from '../core/ids.ts';
import { GROUP_RATES_MAX } from '../core/limits.ts';
import { type Fairness, type GroupRate, noFairness } from '../core/queue-state.ts';
import { decodeReady, encodeReady } from './delivery-codec.ts';
import { lengthTag, Malformed, varintTag } from './wire.ts';
import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

const field = { quiet: 1, busyBelow: 2, quietInARow: 3, rates: 4, minute: 5 } as const;
/** Sums of them stay exact. */
const countMax = 2 ** 40;
const rateField = { group: 1, count: 2, peak: 3 } as const;

export function encodeFairness(writer: WireWriter, fairnessField: number, fairness: Fairness): void {
  const { rates, minute, quiet, busyBelow, quietInARow } = fairness;
  if (rates.size === 0) return;
  const mark = writer.begin(fairnessField);
  encodeReady(writer, field.quiet, quiet);
  writer.uint(field.busyBelow, busyBelow);
  writer.uint(field.quietInARow, quietInARow);
  for (const group of [...rates.keys()].sort()) {
    const rate = writer.begin(field.rates);
    writer.hex(rateField.group, group, groupHashBytes);
    writer.uint(rateField.count, rates.get(group)!.count);
    writer.uint(rateField.peak, rates.get(group)!.peak);
    writer.end(rate);
  }
  writer.uint(field.minute, minute);
  writer.end(mark);
}

/** @throws Malformed */
export function decodeFairness(reader: WireReader): Fairness {
  const outer = reader.enter();
  const rates = new Map<GroupHash, GroupRate>();
  const fairness = { ...noFairness, rates };
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === lengthTag(field.quiet)) fairness.quiet = decodeReady(reader);
    else if (tag === varintTag(field.busyBelow)) fairness.busyBelow = reader.varint();
    else if (tag === varintTag(field.quietInARow)) fairness.quietInARow = reader.uint32();
    else if (tag === varintTag(field.minute)) fairness.minute = reader.varint();
    else if (tag === lengthTag(field.rates)) decodeRate(reader, rates);
    else reader.skip(tag);
  }
  reader.leave(outer);
  if (rates.size > GROUP_RATES_MAX) throw new Malformed(`${rates.size} groups are counted`);
  return fairness;
}

function decodeRate(reader: WireReader, into: Map<GroupHash, GroupRate>): void {
  const outer = reader.enter();
  let group = '';
  let count = 0;
  let peak = 0;
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === lengthTag(rateField.group)) group = reader.hex(groupHashBytes);
    else if (tag === varintTag(rateField.count)) count = reader.varint();
    else if (tag === varintTag(rateField.peak)) peak = reader.varint();
    else reader.skip(tag);
  }
  reader.leave(outer);
  if (group === '') throw new Malformed('a rate has no group');
  if (Math.max(count, peak) > countMax) throw new Malformed('a group has sent more than can be counted');
  into.set(group as GroupHash, { count, peak });
}
