/**
 * Two queues side by side, one with bounds so small that everything goes to pages and one without any: whatever is
 * done to both, both must answer and become the same.
 */
import assert from 'node:assert/strict';
import type { Command, Leased } from '../../src/core/command.ts';
import { layOut, liveBodies } from '../../src/core/compaction-layout.ts';
import { hasVisible, nextVisibleAt } from '../../src/core/counts.ts';
import { type QueueLimits, queueLimits } from '../../src/core/limits.ts';
import type { StoredMessage } from '../../src/core/message.ts';
import { type QueueState, segmentIdOf } from '../../src/core/queue-state.ts';
import type { PreparedPage, PreparedSegment } from '../../src/core/resources.ts';
import { OneQueue } from './one-queue.ts';

const boundsOfState = { tailBytesMax: 400, inlineMessageBytesMax: 300, segmentBytesMax: 500 };
const none = 1e9;
let copies = 0;

export class BoundedAndNot {
  readonly bounded = new OneQueue();
  readonly unbounded = new OneQueue();
  readonly #held: (readonly [Leased, Leased])[] = [];

  constructor(bounds: Partial<QueueLimits>, withoutBounds: Partial<QueueLimits> = {}) {
    this.bounded.limits = { ...queueLimits, ...boundsOfState, ...bounds };
    this.unbounded.limits = {
      ...queueLimits,
      ...boundsOfState,
      delayedInlineMax: none,
      readyRangesMax: none,
      segmentsInlineMax: none,
      ...withoutBounds,
    };
  }

  get both(): readonly [OneQueue, OneQueue] {
    return [this.bounded, this.unbounded];
  }

  wait(millis: number): void {
    for (const queue of this.both) queue.nowMillis += millis;
    this.#compare();
  }

  commit(command: Command): void {
    this.#land((queue) => queue.commit(command));
  }

  receive(maxMessages: number, seconds: number): number {
    const [a, b] = this.both.map((queue) => queue.receive(maxMessages, seconds)) as [
      readonly Leased[],
      readonly Leased[],
    ];
    assert.deepEqual(a.map(seen), b.map(seen));
    a.forEach((leased, i) => {
      this.#held.push([leased, b[i]!]);
    });
    this.#compare();
    return a.length;
  }

  /** With some of the messages that were received. */
  withHandles(kind: 'delete' | 'release' | 'hide', picks: readonly number[]): void {
    const chosen = [...new Set(picks.map((pick) => pick % (this.#held.length || 1)))].filter(
      (i) => i < this.#held.length,
    );
    const pairs = chosen.map((i) => this.#held[i]!);
    this.#land((queue, side) => {
      const handles = pairs.map((pair) => pair[side]!.handle);
      return queue.commit(
        kind === 'hide'
          ? { kind: 'change-visibility', entries: handles.map((handle) => ({ handle, timeoutSeconds: 0 })) }
          : { kind, handles },
      );
    });
  }

  /**
   * Puts segments together that the manifests name, after a rival commit. What those are depends on the bounds: only
   * for two queues with the same.
   */
  compact(picks: readonly number[], rival: Command): void {
    this.#land((queue) => {
      const { state } = queue;
      const named = [...state.segments].sort(
        ([, a], [, b]) => a.runs[0]!.firstSequence - b.runs[0]!.firstSequence,
      );
      const from = [...new Set(picks.map((pick) => pick % (named.length || 1)))]
        .filter((i) => i < named.length)
        .map((i) => named[i]!);
      if (from.length < 2) return [];
      const ids = from.map(([id]) => id);
      const { slots, bodyCount, runs } = layOut(state, new Set(ids), liveBodies(state, ids));
      const nonce = (++copies).toString(16).padStart(16, 'c');
      const sentAtMaxMillis = Math.max(...from.map(([, reference]) => reference.sentAtMaxMillis));
      const copied = slots.map((slot) => {
        const message = slot && queue.segments.get(slot.segment)![slot.ordinal]!;
        return message && { ...message, sentAtMillis: message.sentAtMillis + slot!.sentAtShiftMillis };
      });
      const id = segmentIdOf({ baseVersion: state.version, nonce });
      // An empty slot is never asked for.
      queue.segments.set(id, copied as StoredMessage[]);
      queue.commit(rival);
      const into = { baseVersion: state.version, nonce, bytes: 1_000, sentAtMaxMillis, bodyCount, runs };
      return queue.commit({ kind: 'replace-segments', from: ids, into });
    });
  }

  /** The command gets as far as its swap, uploads included, and loses to another; then it lands. */
  conflict(command: Command, rival: Command, collect: boolean): void {
    this.#land((queue) => {
      const prepared: PreparedSegment[] = [];
      const pages: PreparedPage[] = [];
      queue.attempt([command], prepared, pages);
      queue.commit(rival);
      if (collect) queue.commit({ kind: 'tidy', collectBelow: queue.state.version });
      return queue.commitPrepared([command], prepared, pages);
    });
  }

  #land(act: (queue: OneQueue, side: 0 | 1) => ReturnType<OneQueue['commit']>): void {
    const [a, b] = ([0, 1] as const).map((side) =>
      act(this.both[side], side).map(({ outcome, effect }) =>
        outcome.kind === 'received' ? outcome.messages.map(seen) : [outcome, effect],
      ),
    );
    assert.deepEqual(a, b);
    this.#compare();
  }

  #compare(): void {
    const [bounded, unbounded] = this.both;
    assert.deepEqual(bounded.counts, unbounded.counts);
    assert.deepEqual(inside(bounded.whole), inside(unbounded.whole));
    const visible = hasVisible(unbounded.state, unbounded.nowMillis);
    assert.equal(hasVisible(bounded.state, bounded.nowMillis), visible);
    // Nobody asks while something is visible.
    if (visible) return;
    const next = nextVisibleAt(unbounded.state, unbounded.nowMillis);
    assert.equal(nextVisibleAt(bounded.state, bounded.nowMillis), next);
  }
}

function seen({ message, handle, receiveCount, firstReceivedAtMillis }: Leased) {
  return { message, sequence: handle.sequence, receiveCount, firstReceivedAtMillis };
}

/** Without what is drawn at random, or depends on how often a transition was applied. */
function inside(state: QueueState) {
  const deliveries = [...state.deliveries].map(([sequence, { visibleAtMillis, receiveCount }]) => [
    sequence,
    visibleAtMillis,
    receiveCount,
  ]);
  deliveries.sort(([a], [b]) => a! - b!);
  const segments = [...state.segments.values()].map(({ liveCount, sentAtMaxMillis, runs }) => ({
    liveCount,
    sentAtMaxMillis,
    runs,
  }));
  segments.sort((a, b) => a.runs[0]!.firstSequence - b.runs[0]!.firstSequence);
  const { ready, delayed, tail, intents, nextSequence, purgeWatermark, timeMillis } = state;
  return {
    deliveries,
    segments,
    ready,
    delayed,
    tail: [...tail.keys()],
    intents,
    nextSequence,
    purgeWatermark,
    timeMillis,
  };
}
