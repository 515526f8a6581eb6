/**
 * One page of deduplication ids: an immutable set, ascending by key. Kept in flat arrays, 48 bytes an entry, since a node
 * that sends to a fast queue holds all of five minutes: 900,000 at 3,000 messages a second.
 */
import {
  bytesFromHex,
  bytesFromUuid,
  type DeduplicationKey,
  deduplicationKeyBytes,
  hexFromBytes,
  messageIdBytes,
  uuidFromBytes,
} from './ids.ts';
import type { DeduplicationEntry, DeduplicationPageReference } from './queue-state.ts';

export interface DeduplicationPage {
  /** 16 bytes each, ascending. */
  readonly keys: Uint8Array;
  /** 16 bytes each. */
  readonly messageIds: Uint8Array;
  readonly sequences: Float64Array;
  readonly acceptedAtMillis: Float64Array;
}

type Entry = readonly [DeduplicationKey, DeduplicationEntry];

export function deduplicationPageOf(entries: Iterable<Entry>): DeduplicationPage {
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  const page = emptyPage(sorted.length);
  sorted.forEach(([key, { sequence, messageId, acceptedAtMillis }], ordinal) => {
    page.keys.set(bytesFromHex(key, deduplicationKeyBytes), ordinal * deduplicationKeyBytes);
    page.messageIds.set(bytesFromUuid(messageId), ordinal * messageIdBytes);
    page.sequences[ordinal] = sequence;
    page.acceptedAtMillis[ordinal] = acceptedAtMillis;
  });
  return page;
}

/** To be filled, by whoever makes it. */
export function emptyPage(count: number): DeduplicationPage {
  return {
    keys: new Uint8Array(count * deduplicationKeyBytes),
    messageIds: new Uint8Array(count * messageIdBytes),
    sequences: new Float64Array(count),
    acceptedAtMillis: new Float64Array(count),
  };
}

/** What must be known of a page without reading it. */
export function deduplicationSummary({
  acceptedAtMillis,
}: DeduplicationPage): Omit<DeduplicationPageReference, 'baseVersion' | 'nonce'> {
  let lastAcceptedAtMillis = 0;
  for (const millis of acceptedAtMillis) lastAcceptedAtMillis = Math.max(lastAcceptedAtMillis, millis);
  return { count: acceptedAtMillis.length, lastAcceptedAtMillis };
}

export function* entriesOf(page: DeduplicationPage): Generator<Entry, void, undefined> {
  for (let ordinal = 0; ordinal < page.sequences.length; ordinal++)
    yield [keyAt(page, ordinal), entryAt(page, ordinal)];
}

/**
 * A page and a bit for each value of a key's first two bytes, 8 KiB. A new id is in none of 440 pages, and to search each of them for
 * each message is most of what a send costs at 3,000 a second; keys are hashes, so one page in thirty is left to search.
 */
export interface SearchedPage {
  readonly page: DeduplicationPage;
  readonly beginnings: Uint8Array;
}

const searched = new WeakMap<DeduplicationPage, SearchedPage>();

export function searchedPageOf(page: DeduplicationPage): SearchedPage {
  const known = searched.get(page);
  if (known) return known;
  const beginnings = new Uint8Array(65_536 / 8);
  for (let start = 0; start < page.keys.length; start += deduplicationKeyBytes)
    beginnings[page.keys[start]! * 32 + (page.keys[start + 1]! >> 3)]! |= 1 << (page.keys[start + 1]! & 7);
  const made = { page, beginnings };
  searched.set(page, made);
  return made;
}

/** `wanted`: the bytes of a key. */
export function findKey(
  { page, beginnings }: SearchedPage,
  wanted: Uint8Array,
): DeduplicationEntry | undefined {
  if ((beginnings[wanted[0]! * 32 + (wanted[1]! >> 3)]! & (1 << (wanted[1]! & 7))) === 0) return undefined;
  let low = 0;
  let high = page.sequences.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = compareAt(page.keys, middle, wanted);
    if (order === 0) return entryAt(page, middle);
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return undefined;
}

function compareAt(keys: Uint8Array, ordinal: number, wanted: Uint8Array): number {
  const start = ordinal * deduplicationKeyBytes;
  for (let i = 0; i < deduplicationKeyBytes; i++) {
    const difference = keys[start + i]! - wanted[i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

export function keyAt({ keys }: DeduplicationPage, ordinal: number): DeduplicationKey {
  const start = ordinal * deduplicationKeyBytes;
  return hexFromBytes(keys.subarray(start, start + deduplicationKeyBytes)) as DeduplicationKey;
}

function entryAt(page: DeduplicationPage, ordinal: number): DeduplicationEntry {
  const start = ordinal * messageIdBytes;
  return {
    sequence: page.sequences[ordinal]!,
    messageId: uuidFromBytes(page.messageIds.subarray(start, start + messageIdBytes)),
    acceptedAtMillis: page.acceptedAtMillis[ordinal]!,
  };
}
