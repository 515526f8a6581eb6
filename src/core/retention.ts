/**
 * Ends what is older than the retention period: tail messages one by one, segments when their youngest has expired
 * (a message of a partly expired segment ends when a receive meets it). Compares with manifest time, the lower
 * bound; a message under an intent already belongs to its target and stays.
 */
import { unfoldWithin } from './delayed-pages.ts';
import type { Draft } from './draft.ts';
import type { PageReader } from './pages.ts';
import type { SegmentReference } from './queue-state.ts';
import { removeRange } from './range-set.ts';
import { dropReadyWithin, unfoldReadyWithin } from './ready-pages.ts';
import { unfoldSegments } from './segments-pages.ts';
import { stampOf } from './stamps.ts';

export function isExpired(draft: Draft, stampMillis: number): boolean {
  return stampMillis + draft.resolved.retentionSeconds * 1000 <= draft.time.manifestMillis;
}

/** Returns whether anything ended. */
export function expire(draft: Draft, pages: PageReader): boolean {
  let ended = false;
  const dead: number[] = [];
  for (const [sequence, { message }] of draft.tail.current)
    if (isExpired(draft, stampOf(message)) && !draft.intents.current.has(sequence)) dead.push(sequence);
  if (dead.length > 0) {
    ended = true;
    draft.takeFromReady(dead);
    for (const sequence of dead) {
      draft.delayed.delete(sequence);
      draft.deliveries.inline.delete(sequence);
      draft.endBody(sequence);
    }
  }
  if (expirePages(draft, pages)) ended = true;
  for (const [id, reference] of draft.segments.current) {
    if (!isExpired(draft, reference.sentAtMaxMillis)) continue;
    // What a page holds of it would be left without a body. It ends with a later commit, when the page can be read.
    if (!isWithinReach(draft, reference, pages)) continue;
    const before = reference.liveCount;
    draft.endSegment(id, reference);
    if (draft.segments.current.get(id)?.liveCount !== before) ended = true;
  }
  draft.retentionEnded = ended;
  return ended;
}

/** A page of segments ends whole without being read, or comes back when the first of its segments has to end. */
function expirePages(draft: Draft, pages: PageReader): boolean {
  let ended = false;
  for (const [id, reference] of draft.segmentsPages.current) {
    if (!isExpired(draft, reference.sentAtMinMillis)) continue;
    if (!isExpired(draft, reference.sentAtMaxMillis)) {
      unfoldSegments(draft, id, pages);
      continue;
    }
    const { firstSequence, lastSequence } = reference;
    // All that is alive in between is ready and in these segments: nothing else can lose its body.
    if (!dropReadyWithin(draft, firstSequence, lastSequence + 1, pages)) continue;
    draft.ready = removeRange(draft.ready, firstSequence, lastSequence + 1);
    draft.segmentsPages.delete(id);
    ended = true;
  }
  return ended;
}

/** Whether everything of it that is in pages can be ended. */
function isWithinReach(draft: Draft, { runs }: SegmentReference, pages: PageReader): boolean {
  let all = true;
  for (const { firstSequence, count } of runs) {
    const end = firstSequence + count;
    all = unfoldWithin(draft, firstSequence, end, pages) && all;
    all = unfoldReadyWithin(draft, firstSequence, end, pages) && all;
    all = draft.deliveries.canEndWithin(firstSequence, end) && all;
  }
  return all;
}
