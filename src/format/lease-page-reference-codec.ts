/** References from a manifest to its pages of deliveries, each with a bit for every entry that has left. */
import type { UnknownField } from '@bufbuild/protobuf';
import { bitmapBytes, countLeft } from '../core/lease-page.ts';
import { type LeasePageReference, type PageId, pageIdOf } from '../core/queue-state.ts';
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
  firstVisibleAtMillis: 6,
  lastVisibleAtMillis: 7,
  left: 8,
} as const;

export function encodeLeasePages(
  writer: WireWriter,
  pagesField: number,
  pages: ReadonlyMap<PageId, LeasePageReference>,
): void {
  for (const page of pages.values()) {
    const mark = writer.begin(pagesField);
    writer.uint(field.baseVersion, page.baseVersion);
    writer.hex(field.nonce, page.nonce, objectNonceBytes);
    writer.uint(field.count, page.count);
    writer.uint(field.firstSequence, page.firstSequence);
    writer.uint(field.lastSequence, page.lastSequence);
    writer.uint(field.firstVisibleAtMillis, page.firstVisibleAtMillis);
    writer.uint(field.lastVisibleAtMillis, page.lastVisibleAtMillis);
    writer.bytes(field.left, page.left);
    writer.unknown(unknownFieldsOf(page));
    writer.end(mark);
  }
}

/** Reads one reference into the map. @throws Malformed */
export function decodeLeasePage(reader: WireReader, into: Map<PageId, LeasePageReference>): void {
  const outer = reader.enter();
  const page = {
    baseVersion: 0,
    nonce: '',
    count: 0,
    remaining: 0,
    firstSequence: 0,
    lastSequence: 0,
    firstVisibleAtMillis: 0,
    lastVisibleAtMillis: 0,
    left: new Uint8Array(0),
  };
  let unknown: UnknownField[] | undefined;
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === varintTag(field.baseVersion)) page.baseVersion = reader.varint();
    else if (tag === lengthTag(field.nonce)) page.nonce = reader.hex(objectNonceBytes);
    else if (tag === varintTag(field.count)) page.count = reader.varint();
    else if (tag === varintTag(field.firstSequence)) page.firstSequence = reader.varint();
    else if (tag === varintTag(field.lastSequence)) page.lastSequence = reader.varint();
    else if (tag === varintTag(field.firstVisibleAtMillis)) page.firstVisibleAtMillis = reader.varint();
    else if (tag === varintTag(field.lastVisibleAtMillis)) page.lastVisibleAtMillis = reader.varint();
    // A copy: the manifest's bytes must not live as long as the state.
    else if (tag === lengthTag(field.left)) page.left = reader.bytes().slice();
    else {
      unknown ??= [];
      unknown.push(reader.unknown(tag));
    }
  }
  reader.leave(outer);
  page.remaining = page.count - countLeft(page.left);
  check(page);
  const id = pageIdOf(page);
  if (into.has(id)) throw new Malformed('a page is named twice');
  into.set(id, withUnknownFields(page, unknown));
}

function check(page: LeasePageReference): void {
  const { count, left, firstSequence, lastSequence, firstVisibleAtMillis, lastVisibleAtMillis } = page;
  if (page.nonce === '') throw new Malformed('a page reference has no nonce');
  if (firstSequence === 0 || lastSequence - firstSequence + 1 < count)
    throw new Malformed('a page reference counts more entries than it has room for');
  if (left.length > 0 && left.length !== bitmapBytes(count))
    throw new Malformed('a page reference has not one bit for each entry');
  if (left.length > 0 && left.at(-1)! >>> (((count - 1) & 7) + 1) !== 0)
    throw new Malformed('more than what there is has left a page');
  if (page.remaining <= 0) throw new Malformed('a page reference counts no entry');
  if (firstVisibleAtMillis > lastVisibleAtMillis)
    throw new Malformed('the first of a page is visible after the last');
}
