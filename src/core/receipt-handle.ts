/**
 * The receipt handle: names one delivery of one message, to be understood by any node and after any restart, with no
 * lookup but the queue's manifest.
 *
 * Layout before base64: format byte, incarnation (16), sequence and lease version (varints), delivery token (8),
 * checksum (first 4 bytes of SHA-256 over what precedes).
 *
 * - Standard base64, never `-`: a widely used large-message client splits handles on it (SQS.md section 5).
 * - The checksum is no secret; it only tells a mangled or made-up string (`ReceiptHandleIsInvalid`) from a handle that
 *   was superseded. What a handle may do is decided by the token in the manifest.
 * - One delivery has exactly one text: anything but the canonical encoding is malformed.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import {
  bytesFromHex,
  type DeliveryToken,
  deliveryTokenBytes,
  hexFromBytes,
  type Incarnation,
  incarnationBytes,
} from './ids.ts';

export interface ReceiptHandle {
  readonly incarnation: Incarnation;
  /** The message's sequence number. */
  readonly sequence: number;
  /** Manifest version of the commit that made the lease: a cache older than that can't judge this handle. */
  readonly leaseVersion: number;
  readonly token: DeliveryToken;
}

/** SQS's own bound on the parameter; ours are about 60 characters. */
export const receiptHandleCharactersMax = 1024;

const formatByte = 1;
const checksumBytes = 4;

/** @throws RangeError when a field has the wrong form: our own mistake, since handles are made from a manifest. */
export function encodeReceiptHandle(handle: ReceiptHandle): string {
  const payload = [formatByte, ...bytesFromHex(handle.incarnation, incarnationBytes)];
  pushVarint(payload, handle.sequence);
  pushVarint(payload, handle.leaseVersion);
  payload.push(...bytesFromHex(handle.token, deliveryTokenBytes));
  payload.push(...checksumOf(Uint8Array.from(payload)));
  return btoa(String.fromCharCode(...payload));
}

/** `undefined`: not a handle this code ever gave out. Never throws. */
export function decodeReceiptHandle(text: string): ReceiptHandle | undefined {
  const bytes = bytesFromCanonicalBase64(text);
  if (bytes === undefined) return undefined;
  const payloadEnd = bytes.length - checksumBytes;
  if (payloadEnd < 1 + incarnationBytes + 2 + deliveryTokenBytes || bytes[0] !== formatByte) return undefined;
  const checksum = checksumOf(bytes.subarray(0, payloadEnd));
  if (!checksum.every((byte, i) => byte === bytes[payloadEnd + i])) return undefined;
  const sequence = readVarint(bytes, 1 + incarnationBytes);
  if (sequence === undefined) return undefined;
  const leaseVersion = readVarint(bytes, sequence.next);
  if (leaseVersion === undefined || leaseVersion.next + deliveryTokenBytes !== payloadEnd) return undefined;
  return {
    incarnation: hexFromBytes(bytes.subarray(1, 1 + incarnationBytes)) as Incarnation,
    sequence: sequence.value,
    leaseVersion: leaseVersion.value,
    token: hexFromBytes(bytes.subarray(leaseVersion.next, payloadEnd)) as DeliveryToken,
  };
}

function checksumOf(payload: Uint8Array): Uint8Array {
  return sha256(payload).subarray(0, checksumBytes);
}

function bytesFromCanonicalBase64(text: string): Uint8Array | undefined {
  if (text.length > receiptHandleCharactersMax || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return undefined;
  }
  // atob forgives missing padding and stray trailing bits; then the text is not the one we would have written.
  if (btoa(binary) !== text) return undefined;
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** LEB128 by division: bitwise operators would cut numbers to 32 bits. */
function pushVarint(into: number[], value: number): void {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`${value} is not a non-negative safe integer`);
  let rest = value;
  while (rest >= 0x80) {
    into.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  into.push(rest);
}

function readVarint(
  bytes: Uint8Array,
  start: number,
): { readonly value: number; readonly next: number } | undefined {
  let value = 0;
  let scale = 1;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    value += (byte & 0x7f) * scale;
    if (!Number.isSafeInteger(value)) return undefined;
    if (byte < 0x80) {
      // A closing zero byte adds nothing: the same number has a shorter form.
      return byte === 0 && at > start ? undefined : { value, next: at + 1 };
    }
    scale *= 0x80;
  }
  return undefined;
}
