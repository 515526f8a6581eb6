/**
 * Branded identifiers and their pure makers: the caller draws the random bytes (DESIGN.md section 8), this file gives
 * them a form. All are lower-case hex of a fixed length, so that equality of identities is equality of strings.
 */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';

/** One life of a queue name: a queue deleted and created again has another. 32 hex digits. */
export type Incarnation = string & { readonly __brand: 'Incarnation' };

/** One commit-loop instance, drawn at its start and never reused. 32 hex digits. */
export type WriterId = string & { readonly __brand: 'WriterId' };

/** One delivery of one message; drawn anew by each commit attempt. 16 hex digits. */
export type DeliveryToken = string & { readonly __brand: 'DeliveryToken' };

/** What names a message group in the state of a FIFO queue (core/message-groups.ts). 16 hex digits. */
export type GroupHash = string & { readonly __brand: 'GroupHash' };

/** What names a ReceiveRequestAttemptId there (core/receive-attempts.ts). 16 hex digits. */
export type AttemptHash = string & { readonly __brand: 'AttemptHash' };

/** What names a deduplication id there (core/deduplication.ts). 32 hex digits. */
export type DeduplicationKey = string & { readonly __brand: 'DeduplicationKey' };

export const incarnationBytes = 16;
export const writerIdBytes = 16;
export const deliveryTokenBytes = 8;
export const messageIdBytes = 16;
export const groupHashBytes = 8;
export const attemptHashBytes = 8;
export const deduplicationKeyBytes = 16;

export function incarnationFrom(random: Uint8Array): Incarnation {
  return hexOf(random, incarnationBytes) as Incarnation;
}

export function writerIdFrom(random: Uint8Array): WriterId {
  return hexOf(random, writerIdBytes) as WriterId;
}

export function deliveryTokenFrom(random: Uint8Array): DeliveryToken {
  return hexOf(random, deliveryTokenBytes) as DeliveryToken;
}

/** A UUID of version 4 in canonical text, as SQS shows a MessageId: 122 of the 128 bits are kept. */
export function messageIdFrom(random: Uint8Array): string {
  return uuidFromBytes(
    Uint8Array.from(random, (byte, i) => {
      if (i === 6) return (byte & 0x0f) | 0x40;
      if (i === 8) return (byte & 0x3f) | 0x80;
      return byte;
    }),
  );
}

/** Canonical text of 16 bytes, whatever their version bits say. */
export function uuidFromBytes(bytes: Uint8Array): string {
  const hex = hexOf(bytes, messageIdBytes);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** @throws RangeError when the text is not a canonical lower-case UUID. */
export function bytesFromUuid(uuid: string): Uint8Array {
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid))
    throw new RangeError('not a canonical UUID');
  return hexToBytes(uuid.replaceAll('-', ''));
}

export function hexFromBytes(bytes: Uint8Array): string {
  return bytesToHex(bytes);
}

/** @throws RangeError when the text is not lower-case hex (of `byteCount` bytes, when given). */
export function bytesFromHex(hex: string, byteCount = hex.length / 2): Uint8Array {
  if (hex.length !== byteCount * 2 || !/^(?:[0-9a-f]{2})*$/.test(hex)) {
    throw new RangeError(`not ${byteCount} bytes of lower-case hex`);
  }
  return hexToBytes(hex);
}

function hexOf(bytes: Uint8Array, byteCount: number): string {
  if (bytes.length !== byteCount) throw new RangeError(`${bytes.length} bytes where ${byteCount} are needed`);
  return bytesToHex(bytes);
}
