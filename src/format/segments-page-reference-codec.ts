/** References from a manifest to its pages of segments, and what they tell without reading the page. */
import type { UnknownField } from '@bufbuild/protobuf';
import { type PageId, pageIdOf, type SegmentsPageReference } from '../core/queue-state.ts';
import { objectNonceBytes } from './object-keys.ts';
import { unknownFieldsOf, withUnknownFields } from './unknown-fields.ts';
import { lengthTag, Malformed, varintTag } from './wire.ts';
import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

const field = {
  baseVersion: 1,
  nonce: 2,
  count: 3,
  liveCount: 4,
  firstSequence: 5,
  lastSequence: 6,
  sentAtMinMillis: 7,
  sentAtMaxMillis: 8,
  bytes: 9,
} as const;

export function encodeSegmentsPages(
  writer: WireWriter,
  pagesField: number,
  pages: ReadonlyMap<PageId, SegmentsPageReference>,
): void {
  for (const page of pages.values()) {
    const mark = writer.begin(pagesField);
    writer.uint(field.baseVersion, page.baseVersion);
    writer.hex(field.nonce, page.nonce, objectNonceBytes);
    writer.uint(field.count, page.count);
    writer.uint(field.liveCount, page.liveCount);
    writer.uint(field.firstSequence, page.firstSequence);
    writer.uint(field.lastSequence, page.lastSequence);
    writer.uint(field.sentAtMinMillis, page.sentAtMinMillis);
    writer.uint(field.sentAtMaxMillis, page.sentAtMaxMillis);
    writer.uint(field.bytes, page.bytes);
    writer.unknown(unknownFieldsOf(page));
    writer.end(mark);
  }
}

/** Reads one reference into the map. @throws Malformed */
export function decodeSegmentsPage(reader: WireReader, into: Map<PageId, SegmentsPageReference>): void {
  const outer = reader.enter();
  const page = {
    baseVersion: 0,
    nonce: '',
    count: 0,
    liveCount: 0,
    firstSequence: 0,
    lastSequence: 0,
    sentAtMinMillis: 0,
    sentAtMaxMillis: 0,
    bytes: 0,
  };
  let unknown: UnknownField[] | undefined;
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === varintTag(field.baseVersion)) page.baseVersion = reader.varint();
    else if (tag === lengthTag(field.nonce)) page.nonce = reader.hex(objectNonceBytes);
    else if (tag === varintTag(field.count)) page.count = reader.varint();
    else if (tag === varintTag(field.liveCount)) page.liveCount = reader.varint();
    else if (tag === varintTag(field.firstSequence)) page.firstSequence = reader.varint();
    else if (tag === varintTag(field.lastSequence)) page.lastSequence = reader.varint();
    else if (tag === varintTag(field.sentAtMinMillis)) page.sentAtMinMillis = reader.varint();
    else if (tag === varintTag(field.sentAtMaxMillis)) page.sentAtMaxMillis = reader.varint();
    else if (tag === varintTag(field.bytes)) page.bytes = reader.varint();
    else {
      unknown ??= [];
      unknown.push(reader.unknown(tag));
    }
  }
  reader.leave(outer);
  if (page.nonce === '') throw new Malformed('a page reference has no nonce');
  if (page.count === 0) throw new Malformed('a page reference counts nothing');
  if (page.lastSequence < page.firstSequence) throw new Malformed('a page reference ends before it begins');
  const id = pageIdOf(page);
  if (into.has(id)) throw new Malformed('a page is named twice');
  into.set(id, withUnknownFields(page, unknown));
}
