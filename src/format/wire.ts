/**
 * Protobuf's wire format for the repeated parts of a manifest and for messages: what a commit writes by the thousand.
 * The rest goes through the generated code; tests hold both to the same bytes. Our own because the generated codec
 * makes a bigint of every uint64 and an object of every nested message: 1,000 segment references took 5.5 ms to
 * encode with it (measured in docs/design by whoever changes this), and a manifest is encoded once per commit.
 *
 * - Integers are safe integers in both directions; a larger one is malformed.
 * - Fields at their default (0, empty) are not written, as proto3 says.
 * - The reader throws `Malformed` for anything that is not protobuf; the codecs turn it into an outcome.
 */
import type { UnknownField } from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';

/** Bytes that no okuri wrote, or that changed since. */
export class Malformed extends Error {
  override readonly name = 'Malformed';
}

export function varintTag(field: number): number {
  return field * 8 + WireType.Varint;
}

export function lengthTag(field: number): number {
  return field * 8 + WireType.LengthDelimited;
}

export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
}

const encoder = new TextEncoder();
// `ignoreBOM` means: keep it. A body may begin with U+FEFF.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Longer texts are encoded apart, so that the worst case of 3 bytes a character is never reserved for them. */
const textInPlaceCharactersMax = 4096;

export class WireWriter {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacityBytes = 1024) {
    this.#bytes = new Uint8Array(capacityBytes);
  }

  get length(): number {
    return this.#length;
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  varint(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`${value} is no unsigned safe integer`);
    this.#reserve(8);
    let rest = value;
    // Bitwise operators cut to 32 bits, division does not.
    while (rest > 0x7fffffff) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#length++] = rest;
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

  /** Lower-case hex as bytes. */
  hex(field: number, hex: string): void {
    this.varint(lengthTag(field));
    this.varint(hex.length / 2);
    this.#reserve(hex.length / 2);
    for (let i = 0; i < hex.length; i += 2)
      this.#bytes[this.#length++] = hexDigit(hex.charCodeAt(i)) * 16 + hexDigit(hex.charCodeAt(i + 1));
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

export class WireReader {
  readonly #bytes: Uint8Array;
  #position: number;
  #end: number;
  /** Size of the last length-delimited field read. */
  lastFieldBytes = 0;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#position = start;
    this.#end = end;
  }

  get position(): number {
    return this.#position;
  }

  more(): boolean {
    return this.#position < this.#end;
  }

  varint(): number {
    const bytes = this.#bytes;
    let position = this.#position;
    let value = 0;
    let scale = 1;
    while (position < this.#end) {
      const byte = bytes[position++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        this.#position = position;
        return value;
      }
      scale *= 0x80;
      if (scale > Number.MAX_SAFE_INTEGER) break;
    }
    throw new Malformed('a number is cut off or too large');
  }

  uint32(): number {
    const value = this.varint();
    if (value > 0xffffffff) throw new Malformed('a number is over 32 bits');
    return value;
  }

  /** Enters a nested message: until `leave`, `more` means within it. Returns what `leave` wants. */
  enter(): number {
    const size = this.varint();
    const outer = this.#end;
    if (size > outer - this.#position) throw new Malformed('a field is cut off');
    this.#end = this.#position + size;
    this.lastFieldBytes = size;
    return outer;
  }

  leave(outer: number): void {
    this.#position = this.#end;
    this.#end = outer;
  }

  /** A view, not a copy. */
  bytes(): Uint8Array {
    const outer = this.enter();
    const bytes = this.#bytes.subarray(this.#position, this.#end);
    this.leave(outer);
    return bytes;
  }

  text(): string {
    try {
      return decoder.decode(this.bytes());
    } catch (error) {
      if (error instanceof Malformed) throw error;
      throw new Malformed('a text is not UTF-8');
    }
  }

  hex(byteCount: number): string {
    const outer = this.enter();
    if (this.#end - this.#position !== byteCount) throw new Malformed('an identity has the wrong length');
    const hex = hexOf(this.#bytes, this.#position, this.#end, noDashes);
    this.leave(outer);
    return hex;
  }

  /** 16 bytes as canonical UUID text. */
  uuid(): string {
    const outer = this.enter();
    if (this.#end - this.#position !== 16) throw new Malformed('a message id is not 16 bytes');
    const uuid = hexOf(this.#bytes, this.#position, this.#end, uuidDashes);
    this.leave(outer);
    return uuid;
  }

  /** The field that `tag` begins, whole. */
  unknown(tag: number): UnknownField {
    const wireType = tag % 8;
    const start = this.#position;
    this.skip(tag);
    const data = this.#bytes.slice(start, this.#position);
    return { no: Math.floor(tag / 8), wireType: wireType as WireType, data };
  }

  skip(tag: number): void {
    if (tag < 8) throw new Malformed('a field has no number');
    const wireType = tag % 8;
    if (wireType === WireType.Varint) this.#skipVarint();
    else if (wireType === WireType.LengthDelimited) this.leave(this.enter());
    else if (wireType === WireType.Bit32) this.#skipBytes(4);
    else if (wireType === WireType.Bit64) this.#skipBytes(8);
    else throw new Malformed(`a field has wire type ${wireType}`);
  }

  #skipBytes(byteCount: number): void {
    if (byteCount > this.#end - this.#position) throw new Malformed('a field is cut off');
    this.#position += byteCount;
  }

  /** Of a field we don't know: it may be any 64-bit number. */
  #skipVarint(): void {
    for (let count = 0; count < 10 && this.#position < this.#end; count += 1)
      if (this.#bytes[this.#position++]! < 0x80) return;
    throw new Malformed('a number is cut off or too large');
  }
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 97 && code <= 102) return code - 87;
  throw new RangeError('not lower-case hex');
}

const digits = [...'0123456789abcdef'].map((digit) => digit.charCodeAt(0));
const dash = '-'.charCodeAt(0);
const codes: number[] = [];
const noDashes: readonly number[] = [];
/** Before which bytes of a UUID a dash stands. */
const uuidDashes: readonly number[] = [4, 6, 8, 10];

/** One flat string: pieces concatenated would stay a tree of strings, several times as large. */
function hexOf(bytes: Uint8Array, start: number, end: number, dashesBefore: readonly number[]): string {
  codes.length = 0;
  for (let i = start; i < end; i += 1) {
    if (dashesBefore.includes(i - start)) codes.push(dash);
    const byte = bytes[i]!;
    codes.push(digits[byte >>> 4]!, digits[byte & 15]!);
  }
  return String.fromCharCode.apply(undefined, codes);
}
