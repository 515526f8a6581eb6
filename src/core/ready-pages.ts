/**
 * Pages of ready messages: when there are too many ranges, the highest leave the manifest, and come back as a whole
 * when a receive would pass the first of them. Purge drops every page; retention brings a page back before it ends
 * anything that may be in it.
 *
 * `ready` is what the manifest and the pages hold together, no message twice. A message given back stays in the
 * manifest, wherever it lies. None in a page has its body in the tail: those end one by one (retention.ts); nor is it
 * quiet, or each receive that takes a quiet one would bring a page back (fairness.ts).
 */
import type { Draft } from './draft.ts';
import { reaches } from './hull.ts';
import { PAGES_PER_COMMIT_MAX } from './limits.ts';
import type { PageReader, PageWriter } from './pages.ts';
import type { PageId, ReadyPageReference } from './queue-state.ts';
import {
  countWithin,
  difference,
  first,
  firstFrom,
  intersection,
  isWellFormed,
  type RangeSet,
  rangeCount,
  size,
  union,
} from './range-set.ts';

/** The never received, the oldest first, those in pages in their turn. */
export class ReadyWalk {
  readonly #draft: Draft;
  readonly #pages: PageReader;
  /** Not yet reached, the lowest last. */
  readonly #ahead: { readonly id: PageId; readonly firstSequence: number; readonly lastSequence: number }[] =
    [];
  #from = 0;
  readonly #end: number;

  /** `end`: only those below. */
  constructor(draft: Draft, pages: PageReader, end = Number.POSITIVE_INFINITY) {
    this.#draft = draft;
    this.#pages = pages;
    this.#end = end;
    for (const [id, { firstSequence, lastSequence }] of draft.readyPages.current)
      if (firstSequence < end) this.#ahead.push({ id, firstSequence, lastSequence });
    this.#ahead.sort((a, b) => b.firstSequence - a.firstSequence);
  }

  /** `undefined` also while a page is needed: what follows is not known. */
  next(): number | undefined {
    for (;;) {
      const found = firstFrom(this.#draft.ready, this.#from);
      const page = this.#ahead.at(-1);
      if (!page || (found !== undefined && found < page.firstSequence)) {
        if (found === undefined || found >= this.#end) return undefined;
        this.#from = found + 1;
        return found;
      }
      if (page.lastSequence >= this.#from && !unfoldReady(this.#draft, page.id, this.#pages)) {
        if (this.#pages.needed.has(page.id)) return undefined;
      }
      this.#ahead.pop();
    }
  }

  skipTo(sequence: number): void {
    this.#from = Math.max(this.#from, sequence);
  }
}

/** Brings back what may hold any of these sequence numbers; false while that is not possible. */
export function unfoldReadyWithin(draft: Draft, start: number, end: number, pages: PageReader): boolean {
  let all = true;
  for (const [id, page] of draft.readyPages.current)
    if (reaches(page, start, end)) all = unfoldReady(draft, id, pages) && all;
  return all;
}

/** Drops the pages with these sequence numbers alone, and brings those back that hold others too; false while that is not possible. */
export function dropReadyWithin(draft: Draft, start: number, end: number, pages: PageReader): boolean {
  const inside: PageId[] = [];
  let all = true;
  for (const [id, page] of draft.readyPages.current) {
    if (!reaches(page, start, end)) continue;
    if (page.firstSequence >= start && page.lastSequence < end) inside.push(id);
    else all = unfoldReady(draft, id, pages) && all;
  }
  if (all) for (const id of inside) draft.readyPages.delete(id);
  return all;
}

/** Whether it is back. */
export function unfoldReady(draft: Draft, id: PageId, pages: PageReader): boolean {
  const content = pages.read('ready', id, draft.readyPages.current.get(id)!);
  if (!content) return false;
  draft.readyPages.delete(id);
  draft.ready = union(draft.ready, content);
  return true;
}

/**
 * Folds while there are too many ranges in the manifest. Call when nothing is looked at any more.
 *
 * `taken`: what a FIFO queue's receives took just now, past messages of locked groups. Where they took, the next ones will: those
 * ranges stay if others can go, or each receive would bring a page back and write it anew.
 */
export function foldReady(draft: Draft, pages: PageWriter, taken: readonly number[] = []): void {
  const { readyRangesMax, readyPageRanges } = draft.limits;
  if (rangeCount(draft.ready) <= readyRangesMax) return;
  const quiet = draft.fairness.quiet(draft);
  let folded = false;
  for (const { id, baseVersion, nonce, content } of pages.prepared('ready')) {
    if (rangeCount(draft.ready) <= readyRangesMax) return;
    const rest = difference(draft.ready, content);
    // All of it is still ready and in the manifest.
    if (size(rest) + size(content) !== size(draft.ready) || holdsTail(draft, content)) continue;
    if (intersection(content, quiet).length > 0) continue;
    folded = true;
    draft.ready = rest;
    draft.readyPages.set(id, { baseVersion, nonce, ...readySummary(content) });
  }
  let excess = Math.min(rangeCount(draft.ready) - readyRangesMax, PAGES_PER_COMMIT_MAX * readyPageRanges);
  // What was written for this commit is enough, unless none of it was true any more.
  if (excess <= 0 || folded) return;
  const cold = coldRanges(draft, quiet);
  const stretches = taken.length === 0 ? [cold] : stretchesBetween(cold, hotStarts(draft.ready, taken));
  const enough = stretches.some(({ length }) => length >= 2 * readyPageRanges);
  for (const stretch of (enough ? stretches : [cold]).reverse())
    for (let end = stretch.length; excess > 0 && end >= 2 * readyPageRanges; end -= 2 * readyPageRanges) {
      const content = stretch.slice(end - 2 * readyPageRanges, end);
      if (!isWellFormed(content)) throw new Error('ranges of a page are out of order');
      pages.want({ kind: 'ready', content });
      excess -= readyPageRanges;
    }
}

/** Where the ranges begin that come next after what was taken. */
function hotStarts(ready: RangeSet, taken: readonly number[]): ReadonlySet<number> {
  const starts = new Set<number>();
  for (const sequence of taken) {
    const next = firstFrom(ready, sequence);
    if (next !== undefined) starts.add(next);
  }
  return starts;
}

/** Ascending; the hot ranges are in none. */
function stretchesBetween(cold: readonly number[], hot: ReadonlySet<number>): (readonly number[])[] {
  const stretches: (readonly number[])[] = [];
  let from = 0;
  for (let i = 0; i < cold.length; i += 2) {
    if (!hot.has(cold[i]!)) continue;
    stretches.push(cold.slice(from, i));
    from = i + 2;
  }
  stretches.push(cold.slice(from));
  return stretches;
}

function holdsTail(draft: Draft, content: RangeSet): boolean {
  for (const sequence of draft.tail.current.keys())
    if (countWithin(content, sequence, sequence + 1) > 0) return true;
  return false;
}

/** Without any message of the tail, nor one that receives will take soon. */
function coldRanges({ ready, tail }: Draft, quiet: RangeSet): number[] {
  const inTail = [...tail.current.keys()];
  const cold: number[] = [];
  let t = 0;
  for (let i = 0; i < ready.length; i += 2) {
    const [start, end] = [ready[i]!, ready[i + 1]!];
    while (t < inTail.length && inTail[t]! < start) t++;
    if (t < inTail.length && inTail[t]! < end) continue;
    if (countWithin(quiet, start, end) === 0) cold.push(start, end);
  }
  return cold;
}

/** What must be known of a page without reading it. */
export function readySummary(content: RangeSet): Omit<ReadyPageReference, 'baseVersion' | 'nonce'> {
  return { count: size(content), firstSequence: first(content)!, lastSequence: content.at(-1)! - 1 };
}
