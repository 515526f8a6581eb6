/**
 * Sizes: the tail and the whole manifest keep their bounds, what the manifest adds to its tail is a few dozen bytes for
 * each thing it remembers, a segment is cut at its bound, and a commit uploads no more than two tails and what it adds.
 */

import { overlap } from '../../../src/core/hull.ts';
import type { QueueLimits } from '../../../src/core/limits.ts';
import { contentBytesOf } from '../../../src/core/message-size.ts';
import type { QueueState, SegmentReference } from '../../../src/core/queue-state.ts';
import { hullOf } from '../../../src/core/segments-pages.ts';
import { isFifoState } from '../fifo.ts';
import type { MessageLife } from '../ledger.ts';
import { type DiffChecker, isCompacted } from './check.ts';

/** DESIGN.md section 4. */
const manifestBytesMax = 1024 * 1024;
/** What a segment has besides its messages. */
const envelopeBytes = 1024;
/** Encoded beside a message: id, stamps, sender, source. Generous: it only tells what grows with something else. */
const messageExtraBytes = 256;

export function sizesChecker(limits: QueueLimits): DiffChecker {
  return {
    name: 'manifests, segments and commits keep their sizes',
    landed: ({ after, storedBefore, storedAfter, bytes, queue }) => {
      if (bytes > manifestBytesMax) return `the manifest of ${queue} has ${bytes} bytes`;
      if (after?.kind !== 'queue')
        return bytes > 512 ? `the tombstone of ${queue} has ${bytes} bytes` : undefined;
      let tailBytes = 0;
      for (const entry of after.state.tail.values()) tailBytes += entry.bytes;
      if (tailBytes > limits.tailBytesMax) return `the tail of ${queue} has ${tailBytes} bytes`;
      const { writers, intents } = after.state;
      const stored = storedAfter!;
      // Those in the tail and those that this commit delayed can't leave.
      const known = storedBefore?.nextSequence ?? 0;
      const cold = [...stored.delayed.keys()].filter(
        (sequence) => sequence < known && !stored.tail.has(sequence),
      ).length;
      const delayedMax = limits.delayedInlineMax + limits.delayedPageEntries;
      if (cold > delayedMax) return `the manifest of ${queue} holds ${cold} delayed messages of segments`;
      const settled = settledDeliveries(storedBefore, stored);
      if (settled > Math.max(limits.leaseInlineMax, limits.leasePageEntries - 1))
        return `the manifest of ${queue} holds ${settled} deliveries of segments that did not change`;
      const ids = [...stored.deduplication.values()].filter(({ sequence }) => sequence < known).length;
      if (ids > Math.max(limits.deduplicationInlineMax, limits.deduplicationPageEntries - 1))
        return `the manifest of ${queue} holds ${ids} deduplication ids of earlier commits`;
      if (writers.length > limits.writersMax) return `${queue} remembers ${writers.length} writers`;
      if (intents.size > limits.intentsMax) return `${queue} has ${intents.size} moves under way`;
      const most = tailBytes + besidesTail(stored);
      return bytes > most
        ? `the manifest of ${queue} has ${bytes} bytes, its parts ${most} at most`
        : undefined;
    },
    diff: ({ before, after, born, incarnation }) => {
      if (after.segments.size === 0) return undefined;
      let uploaded = 0;
      for (const [id, reference] of after.segments) {
        if (before?.segments.has(id)) continue;
        const { bytes, liveCount } = reference;
        if (before && isCompacted(before, reference)) {
          // A copy may come out larger than was guessed by counts, and one message alone may be larger.
          const extra = envelopeBytes + 2 * numbersOf(reference) + messageExtraBytes * liveCount;
          const most = Math.max(1.25 * limits.compactedBytesMax, onlySourceBytes(before, reference));
          if (liveCount > 1 && bytes > most + extra)
            return `compacted segment ${id} of ${incarnation.queue} has ${bytes} bytes`;
          continue;
        }
        // One that was uploaded for an earlier attempt may hold letters that another node has appended since.
        const reused = before !== undefined && reference.baseVersion < before.version;
        uploaded += reused ? Math.min(bytes, spillBytesMax(reference, before, born)) : bytes;
        // One message alone may be larger.
        if (liveCount > 1 && bytes > limits.segmentBytesMax + envelopeBytes + liveCount * messageExtraBytes)
          return `segment ${id} of ${incarnation.queue} has ${bytes} bytes`;
      }
      if (uploaded === 0) return undefined;
      // Twice: after a lost swap an upload is used for what is left of it, and what came meanwhile is uploaded too.
      let most = 2 * (limits.tailBytesMax + envelopeBytes);
      for (const { message } of born) most += contentBytesOf(message) + messageExtraBytes;
      return uploaded > most
        ? `a commit of ${incarnation.queue} names ${uploaded} new bytes of segments, ${most} at most were to leave`
        : undefined;
    },
  };
}

/** What a spill of just those messages that it still names would have, at most. */
function spillBytesMax(
  { runs }: SegmentReference,
  before: QueueState,
  born: readonly Pick<MessageLife, 'sequence' | 'message'>[],
): number {
  const isNamed = (sequence: number) =>
    runs.some(({ firstSequence, count }) => firstSequence <= sequence && sequence < firstSequence + count);
  let bytes = envelopeBytes;
  for (const [sequence, entry] of before.tail)
    if (isNamed(sequence)) bytes += entry.bytes + messageExtraBytes;
  for (const { sequence, message } of born)
    if (isNamed(sequence)) bytes += contentBytesOf(message) + messageExtraBytes;
  return bytes;
}

/** In the manifest before and after, the same, with bodies in segments: those should rather be in pages. */
function settledDeliveries(before: QueueState | undefined, after: QueueState): number {
  let total = 0;
  for (const [sequence, { token, visibleAtMillis }] of after.deliveries) {
    const earlier = before?.deliveries.get(sequence);
    if (earlier?.token !== token || earlier.visibleAtMillis !== visibleAtMillis) continue;
    if (!after.tail.has(sequence)) total++;
  }
  return total;
}

/** Of the one that it was made of, when it was one: a sparse one may have its few large messages alive. Else 0. */
function onlySourceBytes(before: QueueState, { runs }: SegmentReference): number {
  const hull = hullOf(runs);
  const sources = [...before.segments.values()].filter((source) => overlap(hullOf(source.runs), hull));
  return sources.length === 1 ? sources[0]!.bytes : 0;
}

function numbersOf({ runs }: SegmentReference): number {
  return runs.reduce((sum, { count }) => sum + count, 0);
}

/** At most so many bytes for what the manifest holds besides the messages of its tail. */
function besidesTail(state: QueueState): number {
  let bytes = 512;
  for (const [name, value] of state.attributes) bytes += name.length + value.length + 16;
  for (const { runs } of state.segments.values()) bytes += 64 + 40 * runs.length;
  for (const { left } of state.leasePages.values()) bytes += 80 + left.length;
  const { delayedPages, readyPages, segmentsPages, deduplicationPages } = state;
  const coldPages = delayedPages.size + readyPages.size + segmentsPages.size + deduplicationPages.size;
  const groupBytes = isFifoState(state) ? 16 : 0;
  return (
    bytes +
    48 * state.writers.length +
    10 * (state.ready.length + state.fairness.quiet.length) +
    32 * state.fairness.rates.size +
    20 * state.delayed.size +
    80 * coldPages +
    64 * state.deliveries.size +
    (64 + groupBytes) * state.intents.size +
    64 * state.deduplication.size +
    200 * state.moveTasks.length +
    128 * (state.outgoingLinks.size + state.incomingLinks.size)
  );
}
