/**
 * References to segments, from a manifest or a page. A backlog has up to a thousand in its manifest, written with
 * every commit.
 */
import type { UnknownField } from '@bufbuild/protobuf';
import { type Run, type SegmentId, type SegmentReference, segmentIdOf } from '../core/queue-state.ts';
import { objectNonceBytes } from './object-keys.ts';
import { unknownFieldsOf, withUnknownFields } from './unknown-fields.ts';
import { lengthTag, Malformed, varintTag } from './wire.ts';
import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

const field = {
  baseVersion: 1,
  nonce: 2,
  liveCount: 3,
  sentAtMaxMillis: 4,
  bytes: 5,
  runs: 6,
  bodyCount: 7,
} as const;
const runField = { firstSequence: 1, firstOrdinal: 2, count: 3, sentAtShiftMillis: 4 } as const;

export function encodeSegmentReferences(
  writer: WireWriter,
  segmentsField: number,
  segments: ReadonlyMap<SegmentId, SegmentReference>,
): void {
  for (const reference of segments.values()) {
    const mark = writer.begin(segmentsField);
    writer.uint(field.baseVersion, reference.baseVersion);
    writer.hex(field.nonce, reference.nonce, objectNonceBytes);
    writer.uint(field.liveCount, reference.liveCount);
    writer.uint(field.sentAtMaxMillis, reference.sentAtMaxMillis);
    writer.uint(field.bytes, reference.bytes);
    for (const run of reference.runs) {
      const runMark = writer.begin(field.runs);
      writer.uint(runField.firstSequence, run.firstSequence);
      writer.uint(runField.firstOrdinal, run.firstOrdinal);
      writer.uint(runField.count, run.count);
      writer.uint(runField.sentAtShiftMillis, run.sentAtShiftMillis);
      writer.unknown(unknownFieldsOf(run));
      writer.end(runMark);
    }
    writer.uint(field.bodyCount, reference.bodyCount ?? 0);
    writer.unknown(unknownFieldsOf(reference));
    writer.end(mark);
  }
}

/** Reads one reference into the map. @throws Malformed */
export function decodeSegmentReference(reader: WireReader, into: Map<SegmentId, SegmentReference>): void {
  const outer = reader.enter();
  const runs: Run[] = [];
  const reference = { baseVersion: 0, nonce: '', liveCount: 0, sentAtMaxMillis: 0, bytes: 0, runs };
  let bodyCount = 0;
  let unknown: UnknownField[] | undefined;
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === varintTag(field.baseVersion)) reference.baseVersion = reader.varint();
    else if (tag === lengthTag(field.nonce)) reference.nonce = reader.hex(objectNonceBytes);
    else if (tag === varintTag(field.liveCount)) reference.liveCount = reader.varint();
    else if (tag === varintTag(field.sentAtMaxMillis)) reference.sentAtMaxMillis = reader.varint();
    else if (tag === varintTag(field.bytes)) reference.bytes = reader.varint();
    else if (tag === lengthTag(field.runs)) runs.push(decodeRun(reader));
    else if (tag === varintTag(field.bodyCount)) bodyCount = reader.varint();
    else {
      unknown ??= [];
      unknown.push(reader.unknown(tag));
    }
  }
  reader.leave(outer);
  if (reference.nonce === '') throw new Malformed('a segment reference has no nonce');
  if (reference.liveCount === 0) throw new Malformed('a segment reference counts no live message');
  const id = segmentIdOf(reference);
  if (into.has(id)) throw new Malformed('a segment is named twice');
  into.set(id, withUnknownFields(bodyCount === 0 ? reference : { ...reference, bodyCount }, unknown));
}

function decodeRun(reader: WireReader): Run {
  const outer = reader.enter();
  const run = { firstSequence: 0, firstOrdinal: 0, count: 0, sentAtShiftMillis: 0 };
  let unknown: UnknownField[] | undefined;
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === varintTag(runField.firstSequence)) run.firstSequence = reader.varint();
    else if (tag === varintTag(runField.firstOrdinal)) run.firstOrdinal = reader.uint32();
    else if (tag === varintTag(runField.count)) run.count = reader.uint32();
    else if (tag === varintTag(runField.sentAtShiftMillis)) run.sentAtShiftMillis = reader.varint();
    else {
      unknown ??= [];
      unknown.push(reader.unknown(tag));
    }
  }
  reader.leave(outer);
  if (run.count === 0) throw new Malformed('a run is empty');
  return withUnknownFields(run, unknown);
}
