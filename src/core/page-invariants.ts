/**
 * What must hold between a state and the pages that it names: a reference tells the truth about its page, and what is
 * known without reading a page (who is in a hull, that all there are ready) is so. Walks every message: for tests.
 */
import { isOver } from './deduplication.ts';
import { deduplicationSummary, entriesOf } from './deduplication-page.ts';
import { brokenFairness } from './fairness-invariants.ts';
import { belongsTo, countLeft, visibilityOf } from './lease-page.ts';
import { difference } from './page-belongs.ts';
import { type PageContents, type PageKind, unfolded } from './pages.ts';
import type { PageId, QueueState, SegmentReference } from './queue-state.ts';
import { countWithin, type RangeSet, size } from './range-set.ts';
import { readySummary } from './ready-pages.ts';
import { segmentsSummary } from './segments-pages.ts';

type Page = <K extends PageKind>(kind: K, id: PageId) => PageContents[K];

/** The first rule that is broken, or undefined. */
export function brokenPages(state: QueueState, page: Page): string | undefined {
  const whole = unfolded(state, page);
  return (
    brokenDelayedPages(state, page) ??
    brokenLeasePages(state, page) ??
    brokenReadyPages(state, page, whole.ready) ??
    brokenSegmentsPages(state, page, whole) ??
    brokenDeduplicationPages(state, page) ??
    brokenFairness(state)
  );
}

/** Reckoned in another way than where the reference is made. */
function brokenDelayedPages(state: QueueState, page: Page): string | undefined {
  for (const [id, reference] of state.delayedPages) {
    const content = page('delayed', id);
    const sequences = [...content.keys()].sort((a, b) => a - b);
    const dues = [...content.values()].sort((a, b) => a - b);
    const wrong = difference(reference, {
      count: content.size,
      firstSequence: sequences[0]!,
      lastSequence: sequences.at(-1)!,
      firstDueAtMillis: dues[0]!,
      lastDueAtMillis: dues.at(-1)!,
    });
    if (wrong !== undefined) return `the delayed page ${id} has another ${wrong}`;
    for (const sequence of sequences) {
      if (state.tail.has(sequence)) return `the delayed page ${id} has sequence ${sequence} of the tail`;
      if (state.delayed.has(sequence)) return `sequence ${sequence} is delayed twice`;
    }
  }
  return undefined;
}

function brokenLeasePages(state: QueueState, page: Page): string | undefined {
  for (const [id, reference] of state.leasePages) {
    const content = page('lease', id);
    const { left, remaining, count } = reference;
    if (!belongsTo(content, reference)) return `lease page ${id} is not the one that is meant`;
    if (remaining === 0 || remaining !== count - countLeft(left))
      return `lease page ${id} has ${remaining} entries left by its count, ${count - countLeft(left)} by its bits`;
    const { firstVisibleAtMillis, lastVisibleAtMillis } = visibilityOf(content, left);
    if (
      firstVisibleAtMillis !== reference.firstVisibleAtMillis ||
      lastVisibleAtMillis !== reference.lastVisibleAtMillis
    )
      return `lease page ${id} becomes visible at another time than is said`;
    if (content.sequences.some((sequence) => state.tail.has(sequence)))
      return `lease page ${id} holds a message of the tail`;
  }
  return undefined;
}

function brokenReadyPages(state: QueueState, page: Page, all: RangeSet): string | undefined {
  let members = size(state.ready);
  for (const [id, reference] of state.readyPages) {
    const content = page('ready', id);
    const wrong = difference(reference, readySummary(content));
    if (wrong !== undefined) return `the ready page ${id} has another ${wrong}`;
    members += reference.count;
    for (const sequence of state.tail.keys())
      if (countWithin(content, sequence, sequence + 1) > 0)
        return `the ready page ${id} has sequence ${sequence} of the tail`;
  }
  return members === size(all) ? undefined : 'a message is ready twice';
}

function brokenSegmentsPages(state: QueueState, page: Page, whole: QueueState): string | undefined {
  const { tail, delayed, deliveries, intents, ready } = whole;
  for (const [id, reference] of state.segmentsPages) {
    const content = page('segments', id);
    const wrong = difference(reference, segmentsSummary(content));
    if (wrong !== undefined) return `the page of segments ${id} has another ${wrong}`;
    const { firstSequence, lastSequence, liveCount } = reference;
    for (const places of [tail, delayed, deliveries, intents])
      for (const sequence of places.keys())
        if (firstSequence <= sequence && sequence <= lastSequence)
          return `sequence ${sequence} is in the hull of the page of segments ${id}`;
    if (countWithin(ready, firstSequence, lastSequence + 1) !== liveCount)
      return `the hull of the page of segments ${id} has other messages than the page`;
    for (const segment of content.values())
      if (readyIn(ready, segment) !== segment.liveCount)
        return `a segment in page ${id} counts ${segment.liveCount} live messages`;
  }
  return undefined;
}

function brokenDeduplicationPages(state: QueueState, page: Page): string | undefined {
  for (const [id, reference] of state.deduplicationPages) {
    const content = page('deduplication', id);
    const wrong = difference(reference, deduplicationSummary(content));
    if (wrong !== undefined) return `the deduplication page ${id} has another ${wrong}`;
    let previous = '';
    for (const [key, { sequence, acceptedAtMillis }] of entriesOf(content)) {
      if (key <= previous) return `the deduplication page ${id} is not in order`;
      previous = key;
      const inline = state.deduplication.get(key);
      if (inline && (inline.sequence <= sequence || !isOver(acceptedAtMillis, state.timeMillis)))
        return `the deduplication id ${key} was taken twice`;
    }
  }
  return undefined;
}

function readyIn(ready: RangeSet, { runs }: SegmentReference): number {
  return runs.reduce(
    (sum, { firstSequence, count }) => sum + countWithin(ready, firstSequence, firstSequence + count),
    0,
  );
}
