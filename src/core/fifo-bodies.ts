/**
 * Groups and bodies of the messages that a FIFO receive walks over. Of those it only passes over the groups are enough,
 * which a node keeps by segment (resources.ts). A page of segments is looked into and stays where it is until one of its
 * messages is taken.
 */
import type { Draft } from './draft.ts';
import type { GroupHash } from './ids.ts';
import type { StoredMessage } from './message.ts';
import { groupOf } from './message-groups.ts';
import type { PageReader } from './pages.ts';
import type { PageId, Run, SegmentId } from './queue-state.ts';
import type { Resources } from './resources.ts';
import { locate, runIndexOf } from './run-index.ts';
import { segmentsPageAround, unfoldSegments } from './segments-pages.ts';
import { withStampShifted } from './stamps.ts';

interface Place {
  readonly segment: SegmentId;
  readonly run: Run;
  /** Of segments. */
  readonly page: PageId | undefined;
}

/** Segments whose groups are asked for at once. */
const askedAhead = 4;

export class FifoBodies {
  readonly neededSegments = new Set<SegmentId>();
  readonly neededGroups = new Set<SegmentId>();
  readonly #draft: Draft;
  readonly #resources: Resources;
  readonly #pages: PageReader;
  /** Of the last one looked at: mostly the next one is beside it. */
  #place: Place | undefined;
  #pageNeeded = false;
  #groups: { readonly segment: SegmentId; readonly hashes: readonly GroupHash[] } | undefined;

  constructor(draft: Draft, resources: Resources, pages: PageReader) {
    this.#draft = draft;
    this.#resources = resources;
    this.#pages = pages;
  }

  /** Something has to be loaded; which is enough for one round. */
  get enoughNeeded(): boolean {
    return this.#pageNeeded || this.neededGroups.size >= askedAhead;
  }

  /** Of a message that was never received. `needed`: asked for. */
  group(sequence: number): GroupHash | 'needed' | 'unreadable' {
    const inline = this.#draft.tail.current.get(sequence);
    if (inline) return groupOf(inline.message);
    const place = this.#find(sequence);
    if (typeof place === 'string') return place;
    const { segment, run } = place;
    if (this.#groups?.segment !== segment) {
      const hashes = this.#resources.groups(segment);
      if (hashes === 'needed') this.neededGroups.add(segment);
      if (typeof hashes === 'string') return hashes;
      this.#groups = { segment, hashes };
    }
    return this.#groups.hashes[run.firstOrdinal + (sequence - run.firstSequence)] ?? 'unreadable';
  }

  body(sequence: number): StoredMessage | 'needed' | 'unreadable' {
    const inline = this.#draft.tail.current.get(sequence);
    if (inline) return inline.message;
    const place = this.#find(sequence);
    if (typeof place === 'string') return place;
    const { segment, run } = place;
    const body = this.#resources.body(segment, run.firstOrdinal + (sequence - run.firstSequence));
    if (body === 'needed') this.neededSegments.add(segment);
    return typeof body === 'string' ? body : withStampShifted(body, run.sentAtShiftMillis);
  }

  /** Before a message leaves `ready`: then its segment has to be in the manifest. */
  bringBack(sequence: number): void {
    if (this.#draft.tail.current.has(sequence)) return;
    const place = this.#find(sequence);
    if (typeof place === 'string' || place.page === undefined) return;
    unfoldSegments(this.#draft, place.page, this.#pages);
    this.#place = undefined;
  }

  #find(sequence: number): Place | 'needed' | 'unreadable' {
    if (this.#place && covers(this.#place.run, sequence)) return this.#place;
    const named = this.#draft.locate(sequence);
    if (named) {
      this.#place = { ...named, page: undefined };
      return this.#place;
    }
    const page = segmentsPageAround(this.#draft, sequence);
    if (!page) throw new Error(`no body for sequence ${sequence}`);
    const content = this.#pages.read('segments', page.id, this.#draft.segmentsPages.current.get(page.id)!);
    if (!content) {
      this.#pageNeeded ||= this.#pages.needed.has(page.id);
      return this.#pageNeeded ? 'needed' : 'unreadable';
    }
    const inPage = locate(runIndexOf(content), sequence);
    if (!inPage) throw new Error(`no body for sequence ${sequence} in the page of segments ${page.id}`);
    this.#place = { ...inPage, page: page.id };
    return this.#place;
  }
}

function covers({ firstSequence, count }: Run, sequence: number): boolean {
  return sequence >= firstSequence && sequence < firstSequence + count;
}
