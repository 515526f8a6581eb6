/** Deduplication ids, in a manifest and in pages of them. Thousands, written with every commit of a FIFO queue. */
import { type DeduplicationKey, deduplicationKeyBytes, messageIdBytes } from '../core/ids.ts';
import type { DeduplicationEntry } from '../core/queue-state.ts';
import { lengthTag, Malformed, varintTag } from './wire.ts';
import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

const field = { key: 1, sequence: 2, messageId: 3, acceptedAtMillis: 4 } as const;

export function encodeDeduplication(
  writer: WireWriter,
  entriesField: number,
  entries: Iterable<readonly [DeduplicationKey, DeduplicationEntry]>,
): void {
  for (const [key, { sequence, messageId, acceptedAtMillis }] of entries) {
    const mark = writer.begin(entriesField);
    writer.hex(field.key, key, deduplicationKeyBytes);
    writer.uint(field.sequence, sequence);
    writer.hex(field.messageId, messageId, messageIdBytes);
    writer.uint(field.acceptedAtMillis, acceptedAtMillis);
    writer.end(mark);
  }
}

/** Reads one entry into the map and returns its key. @throws Malformed */
export function decodeDeduplication(
  reader: WireReader,
  into: Map<DeduplicationKey, DeduplicationEntry>,
): DeduplicationKey {
  const outer = reader.enter();
  let key = '' as DeduplicationKey;
  const entry = { sequence: 0, messageId: '', acceptedAtMillis: 0 };
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === lengthTag(field.key)) key = reader.hex(deduplicationKeyBytes) as DeduplicationKey;
    else if (tag === varintTag(field.sequence)) entry.sequence = reader.varint();
    else if (tag === lengthTag(field.messageId)) entry.messageId = reader.uuid();
    else if (tag === varintTag(field.acceptedAtMillis)) entry.acceptedAtMillis = reader.varint();
    else reader.skip(tag);
  }
  reader.leave(outer);
  if (key === '' || entry.messageId === '')
    throw new Malformed('a deduplication id has no key or no message');
  if (into.has(key)) throw new Malformed('a deduplication id comes twice');
  into.set(key, entry);
  return key;
}
