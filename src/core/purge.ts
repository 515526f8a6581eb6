/**
 * Purge: raises the watermark to the next sequence number, so that later sends are out of its reach by construction.
 * Messages under an intent already belong to their target and stay (DESIGN.md section 6). The deduplication ids of a FIFO
 * queue go, as on AWS: what was purged can be sent again.
 */
import type { Command, CommandResult } from './command.ts';
import type { Draft } from './draft.ts';
import { emptyRanges } from './range-set.ts';

export function purge(draft: Draft, command: Command & { readonly kind: 'purge' }): CommandResult {
  if (command.cooldownMillis > 0 && draft.time.nowMillis < draft.purgedAtMillis + command.cooldownMillis)
    return { outcome: { kind: 'purged-recently' }, effect: false };
  draft.purgeWatermark = draft.nextSequence;
  draft.purgedAtMillis = draft.time.nowMillis;
  draft.ready = emptyRanges;
  for (const sequence of draft.delayed.current.keys()) draft.delayed.delete(sequence);
  for (const id of draft.delayedPages.current.keys()) draft.delayedPages.delete(id);
  // All their messages are ready.
  for (const id of draft.readyPages.current.keys()) draft.readyPages.delete(id);
  for (const id of draft.segmentsPages.current.keys()) draft.segmentsPages.delete(id);
  draft.deliveries.clear();
  for (const sequence of draft.tail.current.keys())
    if (!draft.intents.current.has(sequence)) draft.tail.delete(sequence);
  for (const [id, reference] of draft.segments.current) draft.endSegment(id, reference);
  for (const key of draft.deduplication.current.keys()) draft.deduplication.delete(key);
  for (const id of draft.deduplicationPages.current.keys()) draft.deduplicationPages.delete(id);
  return { outcome: { kind: 'done' }, effect: true };
}
