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

const checks: Checks = {
  delayed: (content, reference) => content.size > 0 && says(reference, delayedSummary(content)),
  ready: (content, reference) => content.length > 0 && says(reference, readySummary(content)),
  segments: (content, reference) => content.size > 0 && says(reference, segmentsSummary(content)),
  lease: belongsTo,
  deduplication: (content, reference) => says(reference, deduplicationSummary(content)),
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

function says(reference: object, summary: object): boolean {
  const values = reference as Readonly<Record<string, unknown>>;
  return Object.entries(summary).every(([name, value]) => values[name] === value);
}
