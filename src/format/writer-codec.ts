/** Entries of writers, in a manifest and in a request for a turn. Up to 64, written with every commit. */
import type { UnknownField } from '@bufbuild/protobuf';
import { type WriterId, writerIdBytes } from '../core/ids.ts';
import type { WriterEntry } from '../core/queue-state.ts';
import { unknownFieldsOf, withUnknownFields } from './unknown-fields.ts';
import { lengthTag, Malformed, varintTag } from './wire.ts';
import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

const field = { id: 1, attempt: 2, version: 3, roundMillis: 4 } as const;

export function encodeWriter(writer: WireWriter, entry: WriterEntry): void {
  writer.hex(field.id, entry.id, writerIdBytes);
  writer.uint(field.attempt, entry.attempt);
  writer.uint(field.version, entry.version);
  writer.uint(field.roundMillis, entry.roundMillis);
  writer.unknown(unknownFieldsOf(entry));
}

/** Reads to the end of what the reader has entered. @throws Malformed */
export function decodeWriter(reader: WireReader): WriterEntry {
  const entry = { id: '' as WriterId, attempt: 0, version: 0, roundMillis: 0 };
  let unknown: UnknownField[] | undefined;
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === lengthTag(field.id)) entry.id = reader.hex(writerIdBytes) as WriterId;
    else if (tag === varintTag(field.attempt)) entry.attempt = reader.varint();
    else if (tag === varintTag(field.version)) entry.version = reader.varint();
    else if (tag === varintTag(field.roundMillis)) entry.roundMillis = reader.uint32();
    else {
      unknown ??= [];
      unknown.push(reader.unknown(tag));
    }
  }
  if (entry.id === '') throw new Malformed('a writer has no id');
  return withUnknownFields(entry, unknown);
}
