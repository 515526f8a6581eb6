/**
 * Ends what is older than the retention period: tail messages one by one, segments when their youngest has expired
 * (a message of a partly expired segment ends when a receive meets it). Compares with manifest time, the lower
 * bound; a message under an intent already belongs to its target and stays.
 */
import { unfoldWithin } from './delayed-pages.ts';
import type { Draft } from './draft.ts';
import type { PageReader } from './pages.ts';
import type { SegmentReference } from './queue-state.ts';

export function isExpired(draft: Draft, sentAtMillis: number): boolean {
  return sentAtMillis + draft.resolved.retentionSeconds * 1000 <= draft.time.manifestMillis;
}

/** Returns whether anything ended. */
export function expire(draft: Draft, pages: PageReader): boolean {
  let ended = false;
  const dead: number[] = [];
  for (const [sequence, { message }] of draft.tail.current)
    if (isExpired(draft, message.sentAtMillis) && !draft.intents.current.has(sequence)) dead.push(sequence);
  if (dead.length > 0) {
    ended = true;
    draft.takeFromReady(dead);
    for (const sequence of dead) {
      draft.delayed.delete(sequence);
      draft.deliveries.inline.delete(sequence);
      draft.endBody(sequence);
    }
  }
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

/** Whether everything of it that is in pages can be ended. */
function isWithinReach(draft: Draft, { runs }: SegmentReference, pages: PageReader): boolean {
  let all = true;
  for (const { firstSequence, count } of runs) {
    const end = firstSequence + count;
    all = unfoldWithin(draft, firstSequence, end, pages) && all;
    all = draft.deliveries.canEndWithin(firstSequence, end) && all;
  }
  return all;
}
