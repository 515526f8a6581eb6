/**
 * Keeps the inline tail within its bound: large messages go to segments at once, and when the rest exceeds
 * its bound, all of it does. Uploading is the commit loop's work: this names what to upload, and on
 * the next application points at what was uploaded.
 *
 * An uploaded segment survives conflicts: its ordinals are mapped to whatever sequence numbers the messages got on
 * the fresh state, and stamps are shifted. It is refused when its base version is below `collectedBelow`, since the
 * collector may have deleted it already (DESIGN.md section 5); the loop then uploads again.
 */
import type { Draft } from './draft.ts';
import type { PreparedSegment, SpillMessage } from './resources.ts';
import { joinedRuns } from './runs.ts';
import { stampOf } from './stamps.ts';

type Spills = readonly (readonly SpillMessage[])[];

/** What still has to be uploaded before this draft may be sealed; empty when the tail is within its bound. */
export function spill(draft: Draft, prepared: readonly PreparedSegment[], collectedBelow: number): Spills {
  const tail = tailOf(draft);
  const { tailBytesMax, inlineMessageBytesMax, segmentBytesMax } = draft.limits;
  let totalBytes = 0;
  let large = false;
  for (const entry of tail) {
    if (entry.bytes > inlineMessageBytesMax) large = true;
    else totalBytes += entry.bytes;
  }
  const overflows = totalBytes > tailBytesMax;
  if (!large && !overflows) return [];
  const usable = prepared.filter((segment) => segment.baseVersion >= collectedBelow);
  const leaving = tail.filter((entry) => overflows || entry.bytes > inlineMessageBytesMax);
  const missing = pointAt(draft, leaving, usable);
  return cut(missing, segmentBytesMax);
}

function tailOf(draft: Draft): SpillMessage[] {
  const entries: SpillMessage[] = [];
  for (const [sequence, { message, bytes }] of draft.tail.current)
    entries.push({ sequence, origin: draft.origins.get(sequence), message, bytes });
  return entries;
}

/** Moves bodies from the tail to the prepared segments that hold them; returns those that none holds. */
function pointAt(
  draft: Draft,
  leaving: readonly SpillMessage[],
  prepared: readonly PreparedSegment[],
): SpillMessage[] {
  const places = new Map<object | number, { readonly segment: PreparedSegment; readonly ordinal: number }>();
  for (const segment of prepared)
    segment.messages.forEach((message, ordinal) => {
      places.set(message.origin ?? message.sequence, { segment, ordinal });
    });
  const missing: SpillMessage[] = [];
  const pointed = new Map<PreparedSegment, { ordinal: number; entry: SpillMessage }[]>();
  for (const entry of leaving) {
    const place = places.get(entry.origin ?? entry.sequence);
    if (!place) {
      missing.push(entry);
      continue;
    }
    const list = pointed.get(place.segment) ?? [];
    list.push({ ordinal: place.ordinal, entry });
    pointed.set(place.segment, list);
  }
  // Only once everything has a place: a draft that needs uploads is thrown away.
  if (missing.length > 0) return missing;
  for (const [segment, list] of pointed) {
    for (const { entry } of list) draft.tail.delete(entry.sequence);
    draft.addSegment(segment.id, {
      baseVersion: segment.baseVersion,
      nonce: segment.nonce,
      liveCount: list.length,
      sentAtMaxMillis: Math.max(...list.map(({ ordinal, entry }) => laterStamp(segment, ordinal, entry))),
      bytes: segment.bytes,
      runs: joinedRuns(
        list.map(({ ordinal, entry }) => ({
          sequence: entry.sequence,
          ordinal,
          sentAtShiftMillis: shiftOf(segment, ordinal, entry),
        })),
      ),
    });
  }
  return [];
}

/** An upload's stamp is kept when it is the later one: too high only keeps too long. */
function shiftOf(segment: PreparedSegment, ordinal: number, entry: SpillMessage): number {
  return Math.max(0, stampOf(entry.message) - stampOf(segment.messages[ordinal]!.message));
}

function laterStamp(segment: PreparedSegment, ordinal: number, entry: SpillMessage): number {
  return stampOf(segment.messages[ordinal]!.message) + shiftOf(segment, ordinal, entry);
}

/** Several messages share a segment, large ones too: a PUT costs the same for ten bodies as for one. */
function cut(missing: readonly SpillMessage[], segmentBytesMax: number): SpillMessage[][] {
  const spills: SpillMessage[][] = [];
  let current: SpillMessage[] = [];
  let currentBytes = 0;
  for (const entry of missing) {
    if (current.length > 0 && currentBytes + entry.bytes > segmentBytesMax) {
      spills.push(current);
      current = [];
      currentBytes = 0;
    }
    current.push(entry);
    currentBytes += entry.bytes;
  }
  if (current.length > 0) spills.push(current);
  return spills;
}
