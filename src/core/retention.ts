/**
 * Ends what is older than the retention period: tail messages one by one, segments when their youngest has expired
 * (a message of a partly expired segment ends when a receive meets it). Compares with manifest time, the lower
 * bound; a message under an intent already belongs to its target and stays.
 */
import type { Draft } from './draft.ts';

export function isExpired(draft: Draft, sentAtMillis: number): boolean {
  return sentAtMillis + draft.resolved.retentionSeconds * 1000 <= draft.time.manifestMillis;
}

/** Returns whether anything ended. */
export function expire(draft: Draft): boolean {
  let ended = false;
  const dead: number[] = [];
  for (const [sequence, { message }] of draft.tail.current)
    if (isExpired(draft, message.sentAtMillis) && !draft.intents.current.has(sequence)) dead.push(sequence);
  if (dead.length > 0) {
    ended = true;
    draft.takeFromReady(dead);
    for (const sequence of dead) {
      draft.delayed.delete(sequence);
      draft.deliveries.delete(sequence);
      draft.endBody(sequence);
    }
  }
  for (const [id, reference] of draft.segments.current) {
    if (!isExpired(draft, reference.sentAtMaxMillis)) continue;
    const before = reference.liveCount;
    draft.endSegment(id, reference);
    if (draft.segments.current.get(id)?.liveCount !== before) ended = true;
  }
  draft.retentionEnded = ended;
  return ended;
}
