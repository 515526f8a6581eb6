/**
 * Whether what was read is the page that a reference was made for. What its checksum can't tell: an object of the same
 * queue in another's place, or one that was written wrongly. Taken in, its messages would be lost or doubled.
 */
import { deduplicationSummary } from './deduplication-page.ts';
import { delayedSummary } from './delayed-pages.ts';
import { belongsTo } from './lease-page.ts';
import type { PageContents, PageKind, PageReferences } from './pages.ts';
import { readySummary } from './ready-pages.ts';
import { segmentsSummary } from './segments-pages.ts';

type Checks = {
  readonly [K in PageKind]: (content: PageContents[K], reference: PageReferences[K]) => boolean;
};

/** No reference counts nothing, so an empty page is none of any. */
const checks: Checks = {
  delayed: (content, reference) => difference(reference, delayedSummary(content)) === undefined,
  ready: (content, reference) => difference(reference, readySummary(content)) === undefined,
  segments: (content, reference) => difference(reference, segmentsSummary(content)) === undefined,
  lease: belongsTo,
  deduplication: (content, reference) => difference(reference, deduplicationSummary(content)) === undefined,
};

/** Some pages are read by every receive and stay where they are. */
const known = new WeakMap<object, object>();

export function isPageOf<K extends PageKind>(
  kind: K,
  content: PageContents[K],
  reference: PageReferences[K],
): boolean {
  if (known.get(content) === reference) return true;
  const belongs = checks[kind](content, reference);
  if (belongs) known.set(content, reference);
  return belongs;
}

/** What the reference says of its page that is not so. */
export function difference<T extends object>(reference: T, summary: Partial<T>): string | undefined {
  return Object.keys(summary).find((key) => reference[key as keyof T] !== summary[key as keyof T]);
}
