/**
 * What must hold between a state and its successor, and within a state. Plain functions: `brokenStep` is cheap and
 * runs before every swap (a broken one stops that commit: it is our own mistake); `brokenState` walks every message
 * and runs in tests.
 */

import { brokenFifoState, brokenFifoStep } from './fifo-invariants.ts';
import { WRITERS_MAX } from './limits.ts';
import { brokenTaskStep, brokenTasks } from './move-task-invariants.ts';
import { pagesOf } from './pages.ts';
import type { PageId, QueueState, SegmentReference } from './queue-state.ts';
import { isWellFormed, iterate } from './range-set.ts';
import { locate, runIndexOf } from './run-index.ts';
import { hullOf } from './segments-pages.ts';

/** The first rule that the step from `current` to `next` breaks, or undefined. */
export function brokenStep(current: QueueState, next: QueueState): string | undefined {
  if (next.incarnation !== current.incarnation) return 'the incarnation changed';
  if (next.version !== current.version + 1) return 'the version did not rise by one';
  if (next.timeMillis < current.timeMillis) return 'manifest time went backwards';
  if (next.nextSequence < current.nextSequence) return 'the next sequence number fell';
  if (next.purgeWatermark < current.purgeWatermark) return 'the purge watermark fell';
  if (next.purgeWatermark > next.nextSequence) return 'the purge watermark is above every sequence number';
  if (next.collectedBelow < current.collectedBelow) return 'collectedBelow fell';
  if (next.collectedBelow > current.version) return 'collectedBelow is above the base version';
  if (next.writersFloor < current.writersFloor) return 'the floor of the writers fell';
  if (next.writers.length > WRITERS_MAX) return 'too many writers';
  if (!next.writers.some((writer) => writer.version === next.version)) return 'no writer entered itself';
  const gone = [...current.segmentsPages].filter(([id]) => !next.segmentsPages.has(id));
  const isBack = ({ runs }: SegmentReference): boolean => {
    const hull = hullOf(runs);
    return gone.some(
      ([, page]) => page.firstSequence <= hull.firstSequence && hull.lastSequence <= page.lastSequence,
    );
  };
  for (const [id, reference] of next.segments)
    if (reference.baseVersion < next.collectedBelow && !current.segments.has(id) && !isBack(reference))
      return `segment ${id} is new and its base version is below collectedBelow`;
  for (const { kind, id, baseVersion } of pagesOf(next))
    if (
      baseVersion < next.collectedBelow &&
      !(current[`${kind}Pages`] as ReadonlyMap<PageId, unknown>).has(id)
    )
      return `the ${kind} page ${id} is new and its base version is below collectedBelow`;
  for (const [incarnation, link] of next.outgoingLinks) {
    const before = current.outgoingLinks.get(incarnation);
    if (before && link.lastNumber < before.lastNumber) return 'an outgoing link went backwards';
  }
  for (const [incarnation, link] of next.incomingLinks) {
    const before = current.incomingLinks.get(incarnation);
    if (before && link.lastNumber < before.lastNumber) return 'an incoming link went backwards';
  }
  return brokenTaskStep(current, next) ?? brokenFifoStep(current, next);
}

/** The first rule that the state itself breaks, or undefined. Walks every message: of a state without pages (pages.ts: unfolded). */
export function brokenState(state: QueueState): string | undefined {
  if (!isWellFormed(state.ready)) return 'ready is not well formed';
  const live = new Set<number>();
  for (const [place, sequences] of [
    ['ready', iterate(state.ready)],
    ['delayed', state.delayed.keys()],
    ['deliveries', state.deliveries.keys()],
    ['intents', state.intents.keys()],
  ] as const)
    for (const sequence of sequences) {
      if (live.has(sequence)) return `sequence ${sequence} is in two places, one is ${place}`;
      if (sequence >= state.nextSequence) return `sequence ${sequence} was never given`;
      if (sequence < state.purgeWatermark && place !== 'intents') return `sequence ${sequence} was purged`;
      live.add(sequence);
    }
  for (const [sequence, { targetIncarnation, number }] of state.intents)
    if (number > (state.outgoingLinks.get(targetIncarnation)?.lastNumber ?? 0))
      return `the intent of sequence ${sequence} has a number that its link never gave`;
  return brokenBodies(state, live) ?? brokenTasks(state) ?? brokenFifoState(state);
}

function brokenBodies(state: QueueState, live: ReadonlySet<number>): string | undefined {
  const index = runIndexOf(state.segments);
  const counts = new Map<string, number>();
  for (const sequence of live) {
    const place = locate(index, sequence);
    if (state.tail.has(sequence)) {
      if (place && state.segments.has(place.segment)) return `sequence ${sequence} has two bodies`;
      continue;
    }
    if (!place || !state.segments.has(place.segment)) return `sequence ${sequence} has no body`;
    counts.set(place.segment, (counts.get(place.segment) ?? 0) + 1);
  }
  let previous = 0;
  for (const sequence of state.tail.keys()) {
    if (!live.has(sequence)) return `the tail holds sequence ${sequence}, which is not live`;
    if (sequence <= previous) return 'the tail is not in order';
    previous = sequence;
  }
  let passed = 0;
  for (const { segment, run } of index) {
    if (!state.segments.has(segment)) continue;
    if (run.firstSequence < passed) return `two runs hold sequence ${run.firstSequence}`;
    passed = run.firstSequence + run.count;
  }
  for (const [id, reference] of state.segments)
    if (reference.liveCount !== (counts.get(id) ?? 0) || reference.liveCount === 0)
      return `segment ${id} counts ${reference.liveCount} live messages, not ${counts.get(id) ?? 0}`;
  return undefined;
}
