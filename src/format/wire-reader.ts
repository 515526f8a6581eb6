/** Walks over protobuf fields in place (see wire.ts). */
import type { UnknownField } from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';
import { Malformed } from './wire.ts';

// `ignoreBOM` means: keep it. A body may begin with U+FEFF.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

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

  /** Whether these bytes, and no others, are left of what was entered. Reads nothing. */
  restIs(bytes: Uint8Array): boolean {
    const own = this.#bytes;
    const start = this.#position;
    if (this.#end - start !== bytes.length) return false;
    for (let at = 0; at < bytes.length; at += 1) if (own[start + at] !== bytes[at]) return false;
    return true;
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
    const hex = hexOf(this.#bytes, this.#position, this.#end);
    this.leave(outer);
    return hex;
  }

  /** 16 bytes as canonical UUID text. */
  uuid(): string {
    const outer = this.enter();
    if (this.#end - this.#position !== 16) throw new Malformed('a message id is not 16 bytes');
    const uuid = uuidOf(this.#bytes, this.#position);
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

const digits = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
const dash = '-'.charCodeAt(0);

/** One flat string: pieces concatenated would stay a tree of strings, several times as large. */
function hexOf(bytes: Uint8Array, start: number, end: number): string {
  const codes: number[] = [];
  for (let i = start; i < end; i += 1) codes.push(digits[bytes[i]! >>> 4]!, digits[bytes[i]! & 15]!);
  return String.fromCharCode.apply(undefined, codes);
}

function uuidOf(bytes: Uint8Array, start: number): string {
  const codes: number[] = [];
  for (let i = 0; i < 16; i += 1) {
    if (i === 4 || i === 6 || i === 8 || i === 10) codes.push(dash);
    codes.push(digits[bytes[start + i]! >>> 4]!, digits[bytes[start + i]! & 15]!);
  }
  return String.fromCharCode.apply(undefined, codes);
}
