/**
 * Compaction, the part that commits: names one uploaded object in place of the segments it was copied from.
 *
 * Messages of those segments may have ended since they were read, by deletes, a purge, retention, or moves; none can
 * have come, since a sequence number never comes back to life. So what the copy left out as dead is dead still, what it
 * holds too much is passed over, and the live count is that of the replaced references as they are now.
 *
 * Without effect ("superseded") when one of the segments is not named any more, as another node's compaction or the end
 * of its last message would have it, or when the copy's base version is below `collectedBelow`: the collector may have
 * deleted it already (DESIGN.md section 5 †). The object is then left to the collector.
 */
import type { Command, CommandResult } from './command.ts';
import type { Draft } from './draft.ts';
import { segmentIdOf } from './queue-state.ts';

/** Comes last in a transition: counts are final, and no leaf after it looks for a body. */
export function replaceSegments(
  draft: Draft,
  { from, into }: Command & { readonly kind: 'replace-segments' },
  collectedBelow: number,
): CommandResult {
  const replaced = from.map((id) => draft.segments.current.get(id));
  if (into.baseVersion < collectedBelow || replaced.some((reference) => reference === undefined))
    return { outcome: { kind: 'superseded' }, effect: false };
  let liveCount = 0;
  for (const reference of replaced) liveCount += reference!.liveCount;
  if (liveCount > into.bodyCount)
    throw new Error(`${liveCount} messages are live in segments of which ${into.bodyCount} were copied`);
  for (const id of from) draft.segments.delete(id);
  const { bodyCount, ...reference } = into;
  const numbers = into.runs.reduce((sum, { count }) => sum + count, 0);
  draft.addSegment(segmentIdOf(into), {
    ...reference,
    liveCount,
    ...(bodyCount === numbers ? {} : { bodyCount }),
  });
  return { outcome: { kind: 'done' }, effect: true };
}
