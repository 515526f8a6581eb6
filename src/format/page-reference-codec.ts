/**
 * References from a manifest to its pages, and what they tell without reading the page. One codec for every kind: all
 * have a base version and a nonce, and then numbers, or bytes.
 */
import type { UnknownField } from '@bufbuild/protobuf';
import { type PageId, pageIdOf } from '../core/queue-state.ts';
import { objectNonceBytes } from './object-keys.ts';
import { unknownFieldsOf, withUnknownFields } from './unknown-fields.ts';
import { lengthTag, Malformed, varintTag } from './wire.ts';
import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

const named = { baseVersion: 1, nonce: 2 } as const;

interface Named {
  readonly baseVersion: number;
  readonly nonce: string;
}

export interface PageReferenceCodec<R> {
  encode(writer: WireWriter, pagesField: number, pages: ReadonlyMap<PageId, R>): void;
  /** Reads one reference into the map. @throws Malformed */
  decode(reader: WireReader, into: Map<PageId, R>): void;
}

/** Another form of one of the bytes, written instead of them where there is one. */
export interface OtherForm<R> {
  readonly of: keyof R & string;
  readonly field: number;
  encode(page: R): Uint8Array | undefined;
  /** Called when all else was read. @throws Malformed */
  decode(form: Uint8Array, page: R): Uint8Array;
}

/**
 * Field numbers of what stands behind base version and nonce; written in this order, numbers first. `complete` checks
 * what was read, and adds what is not stored. @throws Malformed from `complete`
 */
export function pageReferenceCodec<R extends Named>(parts: {
  readonly numbers: Readonly<Record<string, number>>;
  readonly bytes?: Readonly<Record<string, number>>;
  readonly otherForm?: OtherForm<R>;
  readonly complete: (page: { -readonly [K in keyof R]: R[K] }) => void;
}): PageReferenceCodec<R> {
  const numbers = Object.entries(parts.numbers);
  const bytes = Object.entries(parts.bytes ?? {});
  const { otherForm } = parts;
  const otherFormTag = otherForm && lengthTag(otherForm.field);
  const own = new Set([...Object.values(named), ...[...numbers, ...bytes].map(([, field]) => field)]);
  if (otherForm) own.add(otherForm.field);
  const numberByTag = new Map(numbers.map(([name, field]) => [varintTag(field), name]));
  const bytesByTag = new Map(bytes.map(([name, field]) => [lengthTag(field), name]));
  return {
    encode(writer, pagesField, pages) {
      for (const page of pages.values()) {
        const values = page as unknown as Readonly<Record<string, number & Uint8Array>>;
        const mark = writer.begin(pagesField);
        writer.uint(named.baseVersion, page.baseVersion);
        writer.hex(named.nonce, page.nonce, objectNonceBytes);
        for (const [name, field] of numbers) writer.uint(field, values[name]!);
        const other = otherForm?.encode(page);
        for (const [name, field] of bytes)
          if (!other || name !== otherForm!.of) writer.bytes(field, values[name]!);
        if (other) writer.bytes(otherForm!.field, other);
        writer.unknown(unknownFieldsOf(page));
        writer.end(mark);
      }
    },
    decode(reader, into) {
      const outer = reader.enter();
      const page: Record<string, number | string | Uint8Array> & { nonce: string } = {
        baseVersion: 0,
        nonce: '',
      };
      for (const [name] of numbers) page[name] = 0;
      for (const [name] of bytes) page[name] = new Uint8Array(0);
      let other: Uint8Array | undefined;
      let unknown: UnknownField[] | undefined;
      while (reader.more()) {
        const tag = reader.varint();
        const number = numberByTag.get(tag);
        const some = bytesByTag.get(tag);
        if (number !== undefined) page[number] = reader.varint();
        else if (tag === varintTag(named.baseVersion)) page.baseVersion = reader.varint();
        else if (tag === lengthTag(named.nonce)) page.nonce = reader.hex(objectNonceBytes);
        // A copy: the manifest's bytes must not live as long as the state.
        else if (some !== undefined) page[some] = reader.bytes().slice();
        else if (tag === otherFormTag && other === undefined) other = reader.bytes();
        else if (own.has(tag >>> 3))
          throw new Malformed('a page reference has a field twice, or in another form');
        else {
          unknown ??= [];
          unknown.push(reader.unknown(tag));
        }
      }
      reader.leave(outer);
      if (page.nonce === '') throw new Malformed('a page reference has no nonce');
      const reference = page as unknown as { -readonly [K in keyof R]: R[K] };
      if (other) {
        const values = page as Record<string, number | string | Uint8Array>;
        const { of, decode } = otherForm!;
        if ((values[of] as Uint8Array).length > 0)
          throw new Malformed(`a page reference has two forms of ${of}`);
        values[of] = decode(other, reference);
      }
      parts.complete(reference);
      const id = pageIdOf(reference);
      if (into.has(id)) throw new Malformed('a page is named twice');
      into.set(id, withUnknownFields(reference as R, unknown));
    },
  };
}
