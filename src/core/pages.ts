/**
 * Pages: parts of a queue's state that are cold, moved out of the manifest into immutable objects (DESIGN.md section 4,
 * docs/design/0005-pages.md). The manifest keeps a reference to each, with what has to be known of it without reading.
 *
 * `fold` moves entries from the manifest into a page, `unfold` brings a whole page back; a page never changes. What a
 * transition has to look into is loaded first, like bodies; a page that can't be read is reported and stays as it is.
 */
import { type DeduplicationPage, entriesOf } from './deduplication-page.ts';
import { reaches } from './hull.ts';
import type { DeduplicationKey } from './ids.ts';
import { hasLeft, type LeasePage } from './lease-page.ts';
import { isPageOf } from './page-belongs.ts';
import type {
  DeduplicationEntry,
  DeduplicationPageReference,
  DelayedPageReference,
  LeasePageReference,
  PageId,
  QueueState,
  ReadyPageReference,
  SegmentId,
  SegmentReference,
  SegmentsPageReference,
} from './queue-state.ts';
import { type RangeSet, union } from './range-set.ts';
import type { NewPage, PreparedPage, Resources } from './resources.ts';

/** What a page of each kind holds. */
export interface PageContents {
  /** Sequence → when it becomes visible, milliseconds. Ascending by sequence. */
  readonly delayed: ReadonlyMap<number, number>;
  readonly ready: RangeSet;
  readonly segments: ReadonlyMap<SegmentId, SegmentReference>;
  readonly lease: LeasePage;
  readonly deduplication: DeduplicationPage;
}

export type PageKind = keyof PageContents;

/** What the manifest knows of a page of each kind. */
export interface PageReferences {
  readonly delayed: DelayedPageReference;
  readonly ready: ReadyPageReference;
  readonly segments: SegmentsPageReference;
  readonly lease: LeasePageReference;
  readonly deduplication: DeduplicationPageReference;
}

export const pageKinds: readonly PageKind[] = ['delayed', 'lease', 'ready', 'segments', 'deduplication'];

/** Every page reference of a state, with its kind. */
export function* pagesOf(
  state: Pick<QueueState, `${PageKind}Pages`>,
): Generator<{ kind: PageKind; id: PageId; baseVersion: number; nonce: string }, void, undefined> {
  for (const kind of pageKinds)
    for (const [id, { baseVersion, nonce }] of state[`${kind}Pages`]) yield { kind, id, baseVersion, nonce };
}

export function namesPage(state: QueueState, id: PageId): boolean {
  return pageKinds.some((kind) => state[`${kind}Pages`].has(id));
}

/** Whether a page may tell of messages within [first, end): without reading it nobody knows that they are dead. */
export function mayBePaged(state: QueueState, first: number, end: number): boolean {
  for (const pages of [state.delayedPages, state.leasePages, state.readyPages])
    for (const page of pages.values()) if (reaches(page, first, end)) return true;
  return false;
}

/** The same state with everything that its pages hold: what it would be without bounds. */
export function unfolded(
  state: QueueState,
  page: <K extends PageKind>(kind: K, id: PageId) => PageContents[K],
): QueueState {
  if (pagesOf(state).next().done) return state;
  let { ready } = state;
  for (const id of state.readyPages.keys()) ready = union(ready, page('ready', id));
  const segments = new Map(state.segments);
  for (const id of state.segmentsPages.keys())
    for (const [segment, reference] of page('segments', id)) segments.set(segment, reference);
  const delayed = new Map(state.delayed);
  for (const id of state.delayedPages.keys())
    for (const [sequence, dueAtMillis] of page('delayed', id)) delayed.set(sequence, dueAtMillis);
  const deliveries = new Map(state.deliveries);
  for (const [id, { left }] of state.leasePages) {
    const content = page('lease', id);
    content.sequences.forEach((sequence, ordinal) => {
      if (!hasLeft(left, ordinal)) deliveries.set(sequence, content.deliveries[ordinal]!);
    });
  }
  const deduplication = wholeDeduplication(state, page);
  return {
    ...state,
    deduplication,
    deduplicationPages: new Map(),
    delayed: new Map([...delayed].sort(([a], [b]) => a - b)),
    delayedPages: new Map(),
    ready,
    readyPages: new Map(),
    segments,
    segmentsPages: new Map(),
    deliveries: new Map([...deliveries].sort(([a], [b]) => a - b)),
    leasePages: new Map(),
  };
}

/** In order of sequence. An id that was over may have been taken again: then the later one counts. */
function wholeDeduplication(
  state: QueueState,
  page: (kind: 'deduplication', id: PageId) => DeduplicationPage,
): QueueState['deduplication'] {
  if (state.deduplicationPages.size === 0) return state.deduplication;
  const entries = [...state.deduplication];
  for (const id of state.deduplicationPages.keys())
    for (const [key, entry] of entriesOf(page('deduplication', id))) entries.push([key, entry]);
  entries.sort(([, a], [, b]) => a.sequence - b.sequence);
  const whole = new Map<DeduplicationKey, DeduplicationEntry>();
  for (const [key, entry] of entries) {
    whole.delete(key);
    whole.set(key, entry);
  }
  return whole;
}

/** What one transition reads of pages: keeps what is missing, and whether anything can't be read. */
export class PageReader {
  readonly needed = new Map<PageId, PageKind>();
  readonly #page: Resources['page'];
  #unreadable = false;

  constructor(page: Resources['page']) {
    this.#page = page;
  }

  get unreadable(): boolean {
    return this.#unreadable;
  }

  /** A page that is not the one that is meant is as good as unreadable. */
  read<K extends PageKind>(kind: K, id: PageId, reference: PageReferences[K]): PageContents[K] | undefined {
    const content = this.#page(kind, id);
    if (content === 'needed') this.needed.set(id, kind);
    else if (content === 'unreadable' || !isPageOf(kind, content, reference)) this.#unreadable = true;
    else return content;
    return undefined;
  }
}

/** What one transition writes of pages: takes what was uploaded, as long as it is still true, and asks for the rest. */
export class PageWriter {
  readonly wanted: NewPage[] = [];
  readonly #prepared: readonly PreparedPage[];

  /** Pages with a base version below `collectedBelow` may have been deleted already (DESIGN.md section 5 †). */
  constructor(prepared: readonly PreparedPage[], collectedBelow: number) {
    this.#prepared = prepared.filter(({ baseVersion }) => baseVersion >= collectedBelow);
  }

  prepared<K extends PageKind>(kind: K): readonly (PreparedPage & { readonly kind: K })[] {
    return this.#prepared.filter((page): page is PreparedPage & { readonly kind: K } => page.kind === kind);
  }

  want(page: NewPage): void {
    this.wanted.push(page);
  }
}
