/**
 * MD5 as SQS answers carry it, and the digest of message attributes clients verify their sends with. MD5 protects
 * nothing here: it is part of the wire contract. Synchronous, so that simulated code may call it.
 */
import { md5 } from '@noble/hashes/legacy.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { MessageAttributes } from './message.ts';

/** Lower-case hex of the bytes, or of a string's UTF-8. */
export type Md5Hex = (data: Uint8Array | string) => string;

const encoder = new TextEncoder();

export const md5Hex: Md5Hex = (data) =>
  bytesToHex(md5(typeof data === 'string' ? encoder.encode(data) : data));

/** How a value is transported, as the digest marks it: strings and numbers 1, binary 2. */
const TEXT_TRANSPORT = 1;
const BINARY_TRANSPORT = 2;

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The bytes whose MD5 is MD5OfMessageAttributes: by ascending name, for each its name, its full data type, the
 * transport mark and its value, every part after its length in four big-endian bytes.
 */
export function messageAttributesDigestInput(attributes: MessageAttributes): Uint8Array {
  const parts: Uint8Array[] = [];
  let total = 0;
  const add = (bytes: Uint8Array) => {
    parts.push(bytes);
    total += bytes.length;
  };
  const addSized = (bytes: Uint8Array) => {
    const size = new Uint8Array(4);
    new DataView(size.buffer).setUint32(0, bytes.length);
    add(size);
    add(bytes);
  };
  for (const [name, value] of [...attributes].sort(([a], [b]) => compareText(a, b))) {
    addSized(encoder.encode(name));
    addSized(encoder.encode(value.dataType));
    add(Uint8Array.of(value.kind === 'binary' ? BINARY_TRANSPORT : TEXT_TRANSPORT));
    addSized(value.kind === 'binary' ? value.bytes : encoder.encode(value.text));
  }
  const input = new Uint8Array(total);
  let offset = 0;
  for (const part of parts) {
    input.set(part, offset);
    offset += part.length;
  }
  return input;
}

/** Undefined without attributes: SQS then leaves the field out. */
export function md5OfMessageAttributes(
  attributes: MessageAttributes,
  md5Of: Md5Hex = md5Hex,
): string | undefined {
  return attributes.size === 0 ? undefined : md5Of(messageAttributesDigestInput(attributes));
}
