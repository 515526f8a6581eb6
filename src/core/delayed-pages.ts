/**
 * Pages of delayed messages: the latest due leave the manifest when there are too many, and come back as a whole
 * before the first of them is due. Until then nothing touches a delayed message but purge, which drops every page, and
 * retention, which brings a page back before it ends anything that may be in it.
 *
 * On a FIFO queue a receive looks into them and passes over what is locked (fifo-walk.ts).
 *
 * Only messages whose bodies are in segments are folded: those in the tail end one by one (retention.ts).
 */
import type { Draft } from './draft.ts';
import { reaches } from './hull.ts';
import type { PageContents, PageReader, PageWriter } from './pages.ts';
import type { DelayedPageReference, PageId } from './queue-state.ts';
import { has } from './range-set.ts';
import type { PreparedPage } from './resources.ts';
import { bySince, type Visible, type VisiblePage } from './visible.ts';

/** What quiet messages may take of the room in the manifest. */
const quietPart = 1 / 2;

/** Those with messages that are due, below `end`. Opened, they are back in the manifest. */
export function* duePages(
  draft: Draft,
  pages: PageReader,
  end: number,
): Generator<VisiblePage, void, undefined> {
  const { nowMillis } = draft.time;
  for (const [id, { firstDueAtMillis, firstSequence }] of draft.delayedPages.current) {
    if (firstDueAtMillis > nowMillis || firstSequence >= end) continue;
    const open = () => {
      const due = [...dueOf(unfoldDelayed(draft, id, pages), nowMillis)];
      return pages.needed.has(id) ? 'needed' : due.sort(bySince).values();
    };
    yield { sinceMillis: firstDueAtMillis, open };
  }
}

export function* dueOf(
  delayed: PageContents['delayed'],
  nowMillis: number,
): Generator<Visible, void, undefined> {
  for (const [sequence, dueAtMillis] of delayed)
    if (dueAtMillis <= nowMillis) yield { sequence, sinceMillis: dueAtMillis, found: undefined };
}

/** Brings back what may hold any of these sequence numbers; false while that is not possible. */
export function unfoldWithin(draft: Draft, first: number, end: number, pages: PageReader): boolean {
  for (const [id, page] of draft.delayedPages.current)
    if (reaches(page, first, end)) unfoldDelayed(draft, id, pages);
  for (const page of draft.delayedPages.current.values()) if (reaches(page, first, end)) return false;
  return true;
}

/**
 * Of a FIFO queue, where a change of the delay holds for what is delayed already: all of it comes back, and leaves again
 * with other times. False while a page can't be read; then nothing has changed.
 */
export function moveDues(draft: Draft, byMillis: number, pages: PageReader): boolean {
  const moved = [...draft.delayed.current];
  let all = true;
  for (const [id, reference] of draft.delayedPages.current) {
    const content = pages.read('delayed', id, reference);
    if (content) moved.push(...content);
    else all = false;
  }
  if (!all) return false;
  for (const id of draft.delayedPages.current.keys()) draft.delayedPages.delete(id);
  moved.sort(([a], [b]) => a - b);
  draft.delayed.replace(new Map(moved.map(([sequence, due]) => [sequence, due + byMillis])));
  return true;
}

const nothing: PageContents['delayed'] = new Map();

/** What it held; nothing while it can't be read. */
export function unfoldDelayed(draft: Draft, id: PageId, pages: PageReader): PageContents['delayed'] {
  const content = pages.read('delayed', id, draft.delayedPages.current.get(id)!);
  if (!content) return nothing;
  draft.delayedPages.delete(id);
  const merged = [...draft.delayed.current, ...content].sort(([a], [b]) => a - b);
  draft.delayed.replace(new Map(merged));
  return content;
}

/** Folds while there are too many in the manifest. Call last: what is folded can't be looked at any more. */
export function foldDelayed(draft: Draft, pages: PageWriter): void {
  const { delayedInlineMax, delayedPageEntries } = draft.limits;
  for (const page of pages.prepared('delayed')) {
    if (draft.delayed.current.size <= delayedInlineMax) return;
    if (stillTrue(draft, page.content)) pointAt(draft, page);
  }
  if (draft.delayed.current.size <= delayedInlineMax) return;
  // What this transition delays has another time in the next attempt: a page uploaded for it would never be true.
  const kept = quietOnes(draft, Math.floor(delayedInlineMax * quietPart));
  const cold = [...draft.delayed.current].filter(
    ([sequence]) =>
      sequence < draft.base.nextSequence && !draft.tail.current.has(sequence) && !kept.has(sequence),
  );
  cold.sort(([, a], [, b]) => b - a);
  let excess = draft.delayed.current.size - delayedInlineMax;
  for (let from = 0; excess > 0 && from + delayedPageEntries <= cold.length; from += delayedPageEntries) {
    const entries = cold.slice(from, from + delayedPageEntries).sort(([a], [b]) => a - b);
    pages.want({ kind: 'delayed', content: new Map(entries) });
    excess -= delayedPageEntries;
  }
}

/** Those due first: a page comes back in the turn of all that is due in it, behind a busy group (fairness.ts). */
function quietOnes(draft: Draft, countMax: number): ReadonlySet<number> {
  const quiet = draft.fairness.quiet(draft);
  if (quiet.length === 0) return new Set();
  const found = [...draft.delayed.current].filter(([sequence]) => has(quiet, sequence));
  found.sort(([, a], [, b]) => a - b);
  return new Set(found.slice(0, countMax).map(([sequence]) => sequence));
}

function stillTrue(draft: Draft, content: ReadonlyMap<number, number>): boolean {
  for (const [sequence, dueAtMillis] of content)
    if (draft.delayed.current.get(sequence) !== dueAtMillis || draft.tail.current.has(sequence)) return false;
  return true;
}

function pointAt(
  draft: Draft,
  { id, baseVersion, nonce, content }: PreparedPage & { kind: 'delayed' },
): void {
  for (const sequence of content.keys()) draft.delayed.delete(sequence);
  draft.delayedPages.set(id, { baseVersion, nonce, ...delayedSummary(content) });
}

/** What must be known of a page without reading it. */
export function delayedSummary(
  content: ReadonlyMap<number, number>,
): Omit<DelayedPageReference, 'baseVersion' | 'nonce'> {
  let firstDueAtMillis = Number.POSITIVE_INFINITY;
  let lastDueAtMillis = 0;
  let firstSequence = Number.POSITIVE_INFINITY;
  let lastSequence = 0;
  for (const [sequence, dueAtMillis] of content) {
    firstDueAtMillis = Math.min(firstDueAtMillis, dueAtMillis);
    lastDueAtMillis = Math.max(lastDueAtMillis, dueAtMillis);
    firstSequence = Math.min(firstSequence, sequence);
    lastSequence = Math.max(lastSequence, sequence);
  }
  return { count: content.size, firstSequence, lastSequence, firstDueAtMillis, lastDueAtMillis };
}
