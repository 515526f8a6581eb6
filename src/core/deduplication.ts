/**
 * Deduplication ids of a FIFO queue: for five minutes from its acceptance an id stands for the message that took it first,
 * whatever became of that. Counted by manifest time, a lower bound, from an upper bound of the time: perhaps a little
 * longer, never shorter.
 *
 * The oldest leave for pages when the manifest holds too many. An entry never changes and none comes back: a page goes as a
 * whole when its last entry is over. Whether an id is new can't be told without every page that still counts.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import {
  type DeduplicationPage,
  deduplicationPageOf,
  deduplicationSummary,
  entriesOf,
  findKey,
  type SearchedPage,
  searchedPageOf,
} from './deduplication-page.ts';
import type { Draft } from './draft.ts';
import type { FifoAttributes } from './fifo-attributes.ts';
import { bytesFromHex, type DeduplicationKey, deduplicationKeyBytes, hexFromBytes } from './ids.ts';
import { DEDUPLICATION_MILLIS } from './limits.ts';
import type { PageReader, PageWriter } from './pages.ts';
import type { DeduplicationEntry } from './queue-state.ts';

/** No id and no group has a zero byte in it: what is of one scope is never taken for the other's. */
export function deduplicationKeyOf(
  { deduplicationScope }: Pick<FifoAttributes, 'deduplicationScope'>,
  groupId: string | undefined,
  id: string,
): DeduplicationKey {
  const named = deduplicationScope === 'messageGroup' ? `${groupId ?? ''}\0${id}` : id;
  return hexFromBytes(sha256(utf8ToBytes(named)).subarray(0, deduplicationKeyBytes)) as DeduplicationKey;
}

export function isOver(acceptedAtMillis: number, manifestMillis: number): boolean {
  return acceptedAtMillis + DEDUPLICATION_MILLIS <= manifestMillis;
}

/** Drops what is over, up to the first that is not: stamps of several nodes rise in about this order. No effect in itself. */
export function forgetOver(draft: Draft): void {
  const { manifestMillis } = draft.time;
  for (const [key, { acceptedAtMillis }] of draft.deduplication.current) {
    if (!isOver(acceptedAtMillis, manifestMillis)) break;
    draft.deduplication.delete(key);
  }
  for (const [id, { lastAcceptedAtMillis }] of draft.deduplicationPages.current)
    if (isOver(lastAcceptedAtMillis, manifestMillis)) draft.deduplicationPages.delete(id);
}

/** The ids that are taken, for all sends of one transition. */
export class TakenIds {
  readonly #draft: Draft;
  readonly #pages: PageReader;
  #contents: readonly SearchedPage[] | undefined;
  #unknown = false;
  /** What the pages were found to have: each is asked for twice, and they are hundreds. */
  readonly #inPages = new Map<DeduplicationKey, DeduplicationEntry | undefined>();

  constructor(draft: Draft, pages: PageReader) {
    this.#draft = draft;
    this.#pages = pages;
  }

  /** `unknown`: it may be in a page that was not read. */
  find(key: DeduplicationKey): DeduplicationEntry | 'unknown' | undefined {
    const inline = this.#draft.deduplication.current.get(key);
    if (inline && this.#counts(inline)) return inline;
    if (!this.#inPages.has(key)) this.#inPages.set(key, this.#findInPages(key));
    return this.#inPages.get(key) ?? (this.#unknown ? 'unknown' : undefined);
  }

  #findInPages(key: DeduplicationKey): DeduplicationEntry | undefined {
    this.#contents ??= this.#read();
    const wanted = bytesFromHex(key, deduplicationKeyBytes);
    for (const content of this.#contents) {
      const entry = findKey(content, wanted);
      if (entry && this.#counts(entry)) return entry;
    }
    return undefined;
  }

  take(key: DeduplicationKey, entry: DeduplicationEntry): void {
    // It goes to the end: entries are in order of sequence.
    this.#draft.deduplication.delete(key);
    this.#draft.deduplication.set(key, entry);
  }

  #counts({ acceptedAtMillis }: DeduplicationEntry): boolean {
    return !isOver(acceptedAtMillis, this.#draft.time.manifestMillis);
  }

  #read(): readonly SearchedPage[] {
    const contents: SearchedPage[] = [];
    for (const [id, reference] of this.#draft.deduplicationPages.current) {
      const content = this.#pages.read('deduplication', id, reference);
      if (content) contents.push(searchedPageOf(content));
      else this.#unknown = true;
    }
    return contents;
  }
}

/** Folds while there are too many in the manifest. */
export function foldDeduplication(draft: Draft, pages: PageWriter): void {
  const { deduplicationInlineMax, deduplicationPageEntries } = draft.limits;
  const { deduplication } = draft;
  let excess = deduplication.current.size - deduplicationInlineMax;
  if (excess <= 0) return;
  for (const { id, baseVersion, nonce, content } of pages.prepared('deduplication')) {
    if (excess <= 0) return;
    if (!stillTrue(draft, content)) continue;
    for (const [key] of entriesOf(content)) deduplication.delete(key);
    draft.deduplicationPages.set(id, { baseVersion, nonce, ...deduplicationSummary(content) });
    excess -= content.sequences.length;
  }
  // What this transition accepts gets another stamp in the next attempt: a page uploaded for it would never be true.
  const settled = [...deduplication.current].filter(([, { sequence }]) => sequence < draft.base.nextSequence);
  const entries = deduplicationPageEntries;
  for (let from = 0; excess > 0 && from + entries <= settled.length; from += entries) {
    pages.want({
      kind: 'deduplication',
      content: deduplicationPageOf(settled.slice(from, from + entries)),
    });
    excess -= entries;
  }
}

/** Another node may have moved some of them to a page of its own, or all may be over. */
function stillTrue({ deduplication }: Draft, content: DeduplicationPage): boolean {
  for (const [key, entry] of entriesOf(content)) {
    const now = deduplication.current.get(key);
    if (now?.sequence !== entry.sequence || now.acceptedAtMillis !== entry.acceptedAtMillis) return false;
  }
  return true;
}
