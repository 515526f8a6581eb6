/**
 * The envelope around every stored object: format version, kind, checksum, payload. Its layout is the same in every
 * format version for ever, so that any node can tell a newer object from a damaged one; only the payload changes.
 *
 * It is protobuf (proto/okuri/storage/v1 `Envelope`), but read by position: exactly these four fields, in order, to
 * the last byte. A parser that skips what it doesn't know would accept damage in the framing.
 */
import { crc32c } from './checksum.ts';
import { lengthTag, varintBytes, varintTag } from './wire.ts';
import { WireReader } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

/** The newest that this program reads. */
export const FORMAT_VERSION = 5;
/** What needs nothing newer is written so that older programs read it. */
const FIRST_FORMAT_VERSION = 1;
/** Manifests that name pages, and pages: a program that doesn't know them could collect what they name. */
export const PAGES_FORMAT_VERSION = 2;
/** Manifests that tell by ranges what has left a page: a program that doesn't know them would see none that left. */
export const LEFT_RANGES_FORMAT_VERSION = 3;

/**
 * Manifests of FIFO queues, their lease pages and pages of deduplication ids: a program that doesn't know what locks a
 * group would hand out what is behind.
 */
export const FIFO_FORMAT_VERSION = 4;

/**
 * Manifests with a move task under way: a program that doesn't know the mark of its intents would append them as dead letters. A task
 * that has ended is kept by any program like any field that it doesn't know.
 */
export const MOVE_TASKS_FORMAT_VERSION = 5;

export type EnvelopeKind =
  | 'manifest'
  | 'tombstone'
  | 'segment'
  | 'turn'
  | 'delayed-page'
  | 'lease-page'
  | 'ready-page'
  | 'segments-page'
  | 'deduplication-page';

export type Opened =
  | { readonly kind: 'ok'; readonly objectKind: EnvelopeKind; readonly payload: Uint8Array }
  | Damaged
  | Newer;

export interface Damaged {
  readonly kind: 'damaged';
  /** For the log. */
  readonly reason: string;
}

/** Whole, but written by a version that knows more than this one: refuse the queue, change nothing. */
export interface Newer {
  readonly kind: 'newer';
  readonly formatVersion: number;
}

const kindNumbers: Readonly<Record<EnvelopeKind, number>> = {
  manifest: 1,
  tombstone: 2,
  segment: 3,
  turn: 4,
  'delayed-page': 5,
  'lease-page': 6,
  'ready-page': 7,
  'segments-page': 8,
  'deduplication-page': 9,
};
const kinds = new Map(Object.entries(kindNumbers).map(([kind, number]) => [number, kind as EnvelopeKind]));

// Version and kind take one byte each in the checksum and, below 128, in the framing.
const versionTag = varintTag(1);
const kindTag = varintTag(2);
const checksumTag = 3 * 8 + 5;
const payloadTag = lengthTag(4);
const checksumAt = 5;
const lengthAt = 10;

/** How many bytes the envelope adds to a payload. */
export function envelopeBytes(payloadBytes: number): number {
  return lengthAt + varintBytes(payloadBytes);
}

export function sealEnvelope(
  kind: EnvelopeKind,
  payload: Uint8Array,
  formatVersion = FIRST_FORMAT_VERSION,
): Uint8Array {
  const kindNumber = kindNumbers[kind];
  const sealed = new Uint8Array(envelopeBytes(payload.length) + payload.length);
  const checksum = checksumOf(kindNumber, formatVersion, payload);
  sealed.set([versionTag, formatVersion, kindTag, kindNumber, checksumTag]);
  new DataView(sealed.buffer).setUint32(checksumAt, checksum, true);
  sealed[lengthAt - 1] = payloadTag;
  const length = new WireWriter(8);
  length.varint(payload.length);
  sealed.set(length.written(), lengthAt);
  sealed.set(payload, envelopeBytes(payload.length));
  return sealed;
}

/** The payload is a view into `bytes`. */
export function openEnvelope(bytes: Uint8Array): Opened {
  const [tag1, formatVersion, tag2, kindNumber, tag3] = bytes;
  if (bytes.length <= lengthAt || formatVersion === undefined || kindNumber === undefined)
    return { kind: 'damaged', reason: `${bytes.length} bytes are too few` };
  const framed = tag1 === versionTag && tag2 === kindTag && tag3 === checksumTag && bytes[9] === payloadTag;
  if (!framed || formatVersion >= 0x80 || kindNumber >= 0x80)
    return { kind: 'damaged', reason: 'not an envelope' };
  const payload = payloadOf(bytes);
  if (payload === undefined) return { kind: 'damaged', reason: 'the payload is cut off or followed by more' };
  const stored = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(checksumAt, true);
  if (checksumOf(kindNumber, formatVersion, payload) !== stored)
    return { kind: 'damaged', reason: 'the checksum is wrong' };
  if (formatVersion > FORMAT_VERSION) return { kind: 'newer', formatVersion };
  const objectKind = kinds.get(kindNumber);
  if (objectKind === undefined || formatVersion === 0)
    return { kind: 'damaged', reason: `kind ${kindNumber} of format ${formatVersion} does not exist` };
  return { kind: 'ok', objectKind, payload };
}

function payloadOf(bytes: Uint8Array): Uint8Array | undefined {
  const reader = new WireReader(bytes, lengthAt);
  try {
    const payload = reader.bytes();
    return reader.more() ? undefined : payload;
  } catch {
    return undefined;
  }
}

function checksumOf(kindNumber: number, formatVersion: number, payload: Uint8Array): number {
  return crc32c(Uint8Array.of(kindNumber, formatVersion), payload);
}
