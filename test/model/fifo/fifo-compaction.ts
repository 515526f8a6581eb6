/** Puts segments of a FIFO queue together as they are at the draw; rivals may change them before it lands. */
import type { Command } from '../../../src/core/command.ts';
import { layOut, liveBodies } from '../../../src/core/compaction-layout.ts';
import type { StoredMessage } from '../../../src/core/message.ts';
import { segmentIdOf } from '../../../src/core/queue-state.ts';
import type { OneQueue } from '../one-queue.ts';

let copies = 0;

/** Undefined: there are no such segments. The copy is where the queue looks for segments from then on. */
export function compaction(queue: OneQueue, picks: readonly number[]): Command | undefined {
  const { state } = queue;
  const named = [...state.segments.keys()];
  const from = new Set(picks.flatMap((pick) => named[pick % (named.length || 1)] ?? []));
  if (from.size === 0) return undefined;
  const { slots, bodyCount, runs } = layOut(state, from, liveBodies(state, from));
  const copied = slots.map((slot) => {
    const message = slot && queue.segments.get(slot.segment)![slot.ordinal];
    return message && { ...message, sentAtMillis: message.sentAtMillis + slot!.sentAtShiftMillis };
  });
  const name = { baseVersion: state.version, nonce: (++copies).toString(16).padStart(16, 'c') };
  // An empty slot is never asked for.
  queue.segments.set(segmentIdOf(name), copied as StoredMessage[]);
  const youngest = [...from].map((id) => state.segments.get(id)!.sentAtMaxMillis);
  const into = { ...name, bytes: 1 + bodyCount, sentAtMaxMillis: Math.max(...youngest), bodyCount, runs };
  return { kind: 'replace-segments', from: [...from], into };
}
