/** Queue attributes and tags: names and values, sorted by name so that equal maps give equal bytes. */
import { lengthTag, Malformed } from './wire.ts';
import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

const field = { name: 1, value: 2 } as const;

export function encodeAttributes(
  writer: WireWriter,
  attributesField: number,
  attributes: ReadonlyMap<string, string>,
): void {
  for (const name of [...attributes.keys()].sort()) {
    const mark = writer.begin(attributesField);
    writer.text(field.name, name);
    writer.text(field.value, attributes.get(name)!);
    writer.end(mark);
  }
}

/** Reads one attribute into the map. @throws Malformed */
export function decodeAttribute(reader: WireReader, into: Map<string, string>): void {
  const outer = reader.enter();
  let name = '';
  let value = '';
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === lengthTag(field.name)) name = reader.text();
    else if (tag === lengthTag(field.value)) value = reader.text();
    else reader.skip(tag);
  }
  reader.leave(outer);
  if (into.has(name)) throw new Malformed('an attribute comes twice');
  into.set(name, value);
}
