/** Writes protobuf fields into one growing buffer (see wire.ts). */
import type { UnknownField } from '@bufbuild/protobuf';
import { lengthTag, varintBytes, varintTag } from './wire.ts';

const encoder = new TextEncoder();
const dash = '-'.charCodeAt(0);
/** By character code; 0xff for what is no lower-case hex digit. */
const digitValues = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = '0123456789abcdef'.indexOf(String.fromCharCode(code));
  return value < 0 ? 0xff : value;
});

/** Longer texts are encoded apart, so that the worst case of 3 bytes a character is never reserved for them. */
const textInPlaceCharactersMax = 4096;

export class WireWriter {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacityBytes = 1024) {
    this.#bytes = new Uint8Array(capacityBytes);
  }

  /** For writing something else into the same memory. */
  clear(): void {
    this.#length = 0;
  }

  get length(): number {
    return this.#length;
  }

  /** A view: good until something else is written. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  varint(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`${value} is no unsigned safe integer`);
    this.#reserve(8);
    const bytes = this.#bytes;
    let at = this.#length;
    let rest = value;
    // Bitwise operators cut to 32 bits, division does not.
    if (rest > 0x7fffffff) {
      let low = rest % 0x10000000;
      rest = (rest - low) / 0x10000000;
      for (let i = 0; i < 4; i += 1) {
        bytes[at++] = (low & 0x7f) | 0x80;
        low >>>= 7;
      }
    }
    while (rest > 0x7f) {
      bytes[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    bytes[at++] = rest;
    this.#length = at;
  }

  uint(field: number, value: number): void {
    if (value === 0) return;
    this.varint(varintTag(field));
    this.varint(value);
  }

  bytes(field: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.varint(lengthTag(field));
    this.varint(bytes.length);
    this.raw(bytes);
  }

  /** Lower-case hex as bytes; dashes of a UUID are skipped. @throws RangeError for anything else */
  hex(field: number, hex: string, byteCount: number): void {
    this.varint(lengthTag(field));
    this.varint(byteCount);
    this.#reserve(byteCount + 1);
    const bytes = this.#bytes;
    const end = this.#length + byteCount;
    let at = this.#length;
    for (let i = 0; i < hex.length && at <= end; i += 2) {
      if (hex.charCodeAt(i) === dash) i += 1;
      const high = digitValues[hex.charCodeAt(i)] ?? 0xff;
      const low = digitValues[hex.charCodeAt(i + 1)] ?? 0xff;
      if ((high | low) === 0xff) throw new RangeError('not lower-case hex');
      bytes[at++] = (high << 4) | low;
    }
    if (at !== end) throw new RangeError(`not ${byteCount} bytes of hex`);
    this.#length = end;
  }

  text(field: number, text: string): void {
    if (text !== '') this.textEvenIfEmpty(field, text);
  }

  /** For `optional` fields and oneofs, where empty is not absent. */
  textEvenIfEmpty(field: number, text: string): void {
    this.varint(lengthTag(field));
    if (text.length > textInPlaceCharactersMax) {
      const bytes = encoder.encode(text);
      this.varint(bytes.length);
      this.raw(bytes);
      return;
    }
    const mark = this.#open();
    this.#reserve(text.length * 3);
    this.#length += encoder.encodeInto(text, this.#bytes.subarray(this.#length)).written;
    this.end(mark);
  }

  bytesEvenIfEmpty(field: number, bytes: Uint8Array): void {
    this.varint(lengthTag(field));
    this.varint(bytes.length);
    this.raw(bytes);
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  unknown(fields: readonly UnknownField[] | undefined): void {
    if (fields === undefined) return;
    for (const { no, wireType, data } of fields) {
      this.varint(no * 8 + wireType);
      this.raw(data);
    }
  }

  /** Begins a nested message (or packed field); pass the mark to `end`. */
  begin(field: number): number {
    this.varint(lengthTag(field));
    return this.#open();
  }

  end(mark: number): void {
    const size = this.#length - mark;
    if (size < 0x80) {
      this.#bytes[mark - 1] = size;
      return;
    }
    // One byte was left for the length; it needs more.
    const shift = varintBytes(size) - 1;
    this.#reserve(shift);
    this.#bytes.copyWithin(mark + shift, mark, this.#length);
    this.#length = mark - 1;
    this.varint(size);
    this.#length += size;
  }

  #open(): number {
    this.#reserve(1);
    this.#length += 1;
    return this.#length;
  }

  #reserve(byteCount: number): void {
    const needed = this.#length + byteCount;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
