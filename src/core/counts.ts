/**
 * The three counts of a queue at a given time, exact for the state: expiry of delay, visibility and retention moves
 * them without a commit.
 */
import { Draft, type TransitionTime } from './draft.ts';
import type { QueueState } from './queue-state.ts';
import { size } from './range-set.ts';
import { expire } from './retention.ts';

export interface QueueCounts {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

const noSeed = new Uint8Array(8);

export function countMessages(state: QueueState, time: TransitionTime): QueueCounts {
  const draft = new Draft(state, time, noSeed);
  expire(draft);
  let visible = size(draft.ready);
  let inFlight = 0;
  let delayed = 0;
  for (const delivery of draft.deliveries.current.values()) {
    if (delivery.visibleAtMillis > time.nowMillis) inFlight++;
    else visible++;
  }
  for (const dueAtMillis of draft.delayed.current.values()) {
    if (dueAtMillis > time.nowMillis) delayed++;
    else visible++;
  }
  return { visible, inFlight, delayed };
}

/** When the next delayed or in-flight message becomes visible, milliseconds; undefined when none is. */
export function nextVisibleAt(state: QueueState, nowMillis: number): number | undefined {
  let next: number | undefined;
  for (const delivery of state.deliveries.values())
    if (delivery.visibleAtMillis > nowMillis && (next === undefined || delivery.visibleAtMillis < next))
      next = delivery.visibleAtMillis;
  for (const dueAtMillis of state.delayed.values())
    if (dueAtMillis > nowMillis && (next === undefined || dueAtMillis < next)) next = dueAtMillis;
  return next;
}

/** Whether a receive at that time would find anything, looking no further than needed. */
export function hasVisible(state: QueueState, nowMillis: number): boolean {
  if (state.ready.length > 0) return true;
  for (const delivery of state.deliveries.values()) if (delivery.visibleAtMillis <= nowMillis) return true;
  for (const dueAtMillis of state.delayed.values()) if (dueAtMillis <= nowMillis) return true;
  return false;
}
