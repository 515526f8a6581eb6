/**
 * All that is visible in a FIFO queue in ascending order of sequence, given back, expired and never received alike, as it
 * was when the walk began. Pages are looked into as the walk gets to them and stay where they are: a receive may pass
 * over 100,000 messages of a locked group each time. Whoever takes a message of a page brings it back (`take`).
 *
 * The walk ends before the first delayed message that is not due, which holds up all that was sent after it, and before
 * whatever can't be read: nobody knows which groups it is of.
 */
import { unfoldDelayed } from './delayed-pages.ts';
import type { Draft } from './draft.ts';
import type { GroupLocks } from './group-locks.ts';
import type { FoundDelivery } from './open-lease-page.ts';
import type { PageContents, PageReader } from './pages.ts';
import type { PageId } from './queue-state.ts';
import type { RangeSet } from './range-set.ts';
import { unfoldReady } from './ready-pages.ts';

/** A visible message and its place. */
export type Place =
  | { readonly kind: 'delivery'; readonly sequence: number; readonly found: FoundDelivery }
  | { readonly kind: 'ready' | 'delayed'; readonly sequence: number; readonly page: PageId | undefined };

/** One ascending part of the walk; `head` is infinite at its end. */
interface Source {
  head: number;
  /** The place of the head; the next one takes its place. */
  shift(): Place;
}

interface ClosedPage {
  readonly kind: 'ready' | 'delayed';
  readonly id: PageId;
  readonly firstSequence: number;
}

const end = Number.POSITIVE_INFINITY;
/** Pages that the walk asks for at once, when the one it needs is not loaded. */
const askedAhead = 3;

export class FifoWalk {
  /** It ended before something that can't be read. */
  unreadable = false;
  readonly #draft: Draft;
  readonly #pages: PageReader;
  readonly #sources: Source[];
  readonly #closed: readonly ClosedPage[];
  #nextClosed = 0;
  #barrier: number;
  #barrierIsUnreadable: boolean;

  /** `below`: only messages before that one. */
  constructor(draft: Draft, locks: GroupLocks, pages: PageReader, below = Number.POSITIVE_INFINITY) {
    this.#draft = draft;
    this.#pages = pages;
    this.#barrier = locks.unreadableFrom;
    this.#barrierIsUnreadable = locks.unreadableFrom < end;
    this.#stopBefore(below, false);
    const delayed = this.#due(draft.delayed.current, undefined);
    this.#sources = [receivedBefore(draft, locks), delayed, new Ranges(draft.ready, undefined)];
    this.#closed = closedPages(draft);
  }

  /** Undefined also when a page is needed: what follows is not known. */
  next(): Place | undefined {
    for (;;) {
      let first: Source | undefined;
      for (const source of this.#sources) if (source.head < (first?.head ?? end)) first = source;
      const page = this.#closed[this.#nextClosed];
      if (page && page.firstSequence <= (first?.head ?? end) && page.firstSequence < this.#barrier) {
        this.#nextClosed++;
        if (!this.#open(page)) return undefined;
      } else if (first && first.head < this.#barrier) return first.shift();
      else {
        this.unreadable = this.#barrierIsUnreadable;
        return undefined;
      }
    }
  }

  /** Out of its place; says whether it has to be taken from `ready` too, which is done for many at once. */
  take(place: Place): 'done' | 'from-ready' {
    const draft = this.#draft;
    if (place.kind === 'delivery') {
      draft.deliveries.end(place.found);
      return 'done';
    }
    const { kind, page, sequence } = place;
    if (kind === 'delayed') {
      if (page !== undefined && draft.delayedPages.current.has(page)) unfoldDelayed(draft, page, this.#pages);
      draft.delayed.delete(sequence);
      return 'done';
    }
    if (page !== undefined && draft.readyPages.current.has(page)) unfoldReady(draft, page, this.#pages);
    return 'from-ready';
  }

  #ready(id: PageId): PageContents['ready'] | undefined {
    return this.#pages.read('ready', id, this.#draft.readyPages.current.get(id)!);
  }

  #delayed(id: PageId): PageContents['delayed'] | undefined {
    return this.#pages.read('delayed', id, this.#draft.delayedPages.current.get(id)!);
  }

  /** False: it has to be loaded first. */
  #open({ kind, id, firstSequence }: ClosedPage): boolean {
    const source =
      kind === 'ready'
        ? mapped(this.#ready(id), (content) => new Ranges(content, id))
        : mapped(this.#delayed(id), (content) => this.#due(content, id));
    if (source) {
      this.#sources.push(source);
      return true;
    }
    if (this.#pages.needed.has(id)) {
      for (const next of this.#closed.slice(this.#nextClosed, this.#nextClosed + askedAhead))
        if (next.kind === 'ready') this.#ready(next.id);
        else this.#delayed(next.id);
      return false;
    }
    this.#stopBefore(firstSequence, true);
    return true;
  }

  #stopBefore(sequence: number, unreadable: boolean): void {
    if (sequence >= this.#barrier) return;
    this.#barrier = sequence;
    this.#barrierIsUnreadable = unreadable;
  }

  /** Those that are due before the first that is not. */
  #due(delayed: ReadonlyMap<number, number>, page: PageId | undefined): Source {
    const places: Place[] = [];
    for (const [sequence, dueAtMillis] of delayed) {
      if (dueAtMillis > this.#draft.time.nowMillis) {
        this.#stopBefore(sequence, false);
        break;
      }
      places.push({ kind: 'delayed', sequence, page });
    }
    return new List(places);
  }
}

function mapped<T>(content: T | undefined, source: (content: T) => Source): Source | undefined {
  return content === undefined ? undefined : source(content);
}

function receivedBefore(draft: Draft, locks: GroupLocks): Source {
  const { nowMillis } = draft.time;
  const places: Place[] = [];
  for (const [sequence, delivery] of draft.deliveries.inline.current)
    if (delivery.visibleAtMillis <= nowMillis)
      places.push({
        kind: 'delivery',
        sequence,
        found: { sequence, delivery, page: undefined, ordinal: 0 },
      });
  for (const page of locks.pages)
    for (const found of page.visibleAscending(nowMillis))
      places.push({ kind: 'delivery', sequence: found.sequence, found });
  return new List(places.sort((a, b) => a.sequence - b.sequence));
}

function closedPages({ readyPages, delayedPages }: Draft): readonly ClosedPage[] {
  const closed: ClosedPage[] = [];
  for (const [id, { firstSequence }] of readyPages.current) closed.push({ kind: 'ready', id, firstSequence });
  for (const [id, { firstSequence }] of delayedPages.current)
    closed.push({ kind: 'delayed', id, firstSequence });
  return closed.sort((a, b) => a.firstSequence - b.firstSequence);
}

class List implements Source {
  head: number;
  readonly #places: readonly Place[];
  #at = 0;

  constructor(places: readonly Place[]) {
    this.#places = places;
    this.head = places[0]?.sequence ?? end;
  }

  shift(): Place {
    const place = this.#places[this.#at++]!;
    this.head = this.#places[this.#at]?.sequence ?? end;
    return place;
  }
}

class Ranges implements Source {
  head: number;
  readonly #ranges: RangeSet;
  readonly #page: PageId | undefined;
  #at = 0;

  constructor(ranges: RangeSet, page: PageId | undefined) {
    this.#ranges = ranges;
    this.#page = page;
    this.head = ranges[0] ?? end;
  }

  shift(): Place {
    const sequence = this.head;
    this.head++;
    if (this.head === this.#ranges[this.#at + 1]) {
      this.#at += 2;
      this.head = this.#ranges[this.#at] ?? end;
    }
    return { kind: 'ready', sequence, page: this.#page };
  }
}
