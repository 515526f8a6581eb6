/** References from a manifest to its pages of delayed messages, and what they tell without reading one. */
import type { UnknownField } from '@bufbuild/protobuf';
import { type DelayedPageReference, type PageId, pageIdOf } from '../core/queue-state.ts';
import { objectNonceBytes } from './object-keys.ts';
import { unknownFieldsOf, withUnknownFields } from './unknown-fields.ts';
import { lengthTag, Malformed, varintTag } from './wire.ts';
import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

const field = {
  baseVersion: 1,
  nonce: 2,
  count: 3,
  firstSequence: 4,
  lastSequence: 5,
  firstDueAtMillis: 6,
  lastDueAtMillis: 7,
} as const;

export function encodeDelayedPages(
  writer: WireWriter,
  pagesField: number,
  pages: ReadonlyMap<PageId, DelayedPageReference>,
): void {
  for (const page of pages.values()) {
    const mark = writer.begin(pagesField);
    writer.uint(field.baseVersion, page.baseVersion);
    writer.hex(field.nonce, page.nonce, objectNonceBytes);
    writer.uint(field.count, page.count);
    writer.uint(field.firstSequence, page.firstSequence);
    writer.uint(field.lastSequence, page.lastSequence);
    writer.uint(field.firstDueAtMillis, page.firstDueAtMillis);
    writer.uint(field.lastDueAtMillis, page.lastDueAtMillis);
    writer.unknown(unknownFieldsOf(page));
    writer.end(mark);
  }
}

/** Reads one reference into the map. @throws Malformed */
export function decodeDelayedPage(reader: WireReader, into: Map<PageId, DelayedPageReference>): void {
  const outer = reader.enter();
  const page = {
    baseVersion: 0,
    nonce: '',
    count: 0,
    firstSequence: 0,
    lastSequence: 0,
    firstDueAtMillis: 0,
    lastDueAtMillis: 0,
  };
  let unknown: UnknownField[] | undefined;
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === varintTag(field.baseVersion)) page.baseVersion = reader.varint();
    else if (tag === lengthTag(field.nonce)) page.nonce = reader.hex(objectNonceBytes);
    else if (tag === varintTag(field.count)) page.count = reader.varint();
    else if (tag === varintTag(field.firstSequence)) page.firstSequence = reader.varint();
    else if (tag === varintTag(field.lastSequence)) page.lastSequence = reader.varint();
    else if (tag === varintTag(field.firstDueAtMillis)) page.firstDueAtMillis = reader.varint();
    else if (tag === varintTag(field.lastDueAtMillis)) page.lastDueAtMillis = reader.varint();
    else {
      unknown ??= [];
      unknown.push(reader.unknown(tag));
    }
  }
  reader.leave(outer);
  if (page.nonce === '') throw new Malformed('a page reference has no nonce');
  if (page.count === 0) throw new Malformed('a page reference counts no entry');
  const id = pageIdOf(page);
  if (into.has(id)) throw new Malformed('a page is named twice');
  into.set(id, withUnknownFields(page, unknown));
}
