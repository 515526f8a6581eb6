/**
 * The three counts of a queue at a given time, exact for the state: expiry of delay, visibility and retention moves
 * them without a commit. Of pages that are not loaded they are estimates.
 */
import { Draft, type TransitionTime } from './draft.ts';
import { PageReader } from './pages.ts';
import type { QueueState } from './queue-state.ts';
import { size } from './range-set.ts';
import type { Resources } from './resources.ts';
import { expire } from './retention.ts';

export interface QueueCounts {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

const noSeed = new Uint8Array(8);
const nothingLoaded: Resources['page'] = () => 'unreadable';

export function countMessages(
  state: QueueState,
  time: TransitionTime,
  pages = new PageReader(nothingLoaded),
): QueueCounts {
  const draft = new Draft(state, time, noSeed, undefined, pages);
  expire(draft, pages);
  let visible = size(draft.ready);
  for (const { count } of draft.readyPages.current.values()) visible += count;
  let inFlight = 0;
  let delayed = 0;
  for (const delivery of draft.deliveries.inline.current.values()) {
    if (delivery.visibleAtMillis > time.nowMillis) inFlight++;
    else visible++;
  }
  for (const [
    id,
    { remaining, firstVisibleAtMillis, lastVisibleAtMillis },
  ] of draft.deliveries.references()) {
    if (remaining === 0) continue;
    const mixed = firstVisibleAtMillis <= time.nowMillis && lastVisibleAtMillis > time.nowMillis;
    const back = mixed
      ? (draft.deliveries.visibleIn(id, time.nowMillis) ?? 0)
      : lastVisibleAtMillis <= time.nowMillis
        ? remaining
        : 0;
    visible += back;
    inFlight += remaining - back;
  }
  for (const dueAtMillis of draft.delayed.current.values()) {
    if (dueAtMillis > time.nowMillis) delayed++;
    else visible++;
  }
  for (const [id, reference] of draft.delayedPages.current) {
    const { count, firstDueAtMillis, lastDueAtMillis } = reference;
    const mixed = firstDueAtMillis <= time.nowMillis && lastDueAtMillis > time.nowMillis;
    const content = mixed ? pages.read('delayed', id, reference) : undefined;
    const due = content
      ? [...content.values()].filter((dueAtMillis) => dueAtMillis <= time.nowMillis).length
      : lastDueAtMillis <= time.nowMillis
        ? count
        : 0;
    visible += due;
    delayed += count - due;
  }
  return { visible, inFlight, delayed };
}

/** When the next delayed or in-flight message becomes visible, milliseconds; undefined when none is. */
export function nextVisibleAt(state: QueueState, nowMillis: number): number | undefined {
  let next: number | undefined;
  for (const delivery of state.deliveries.values())
    if (delivery.visibleAtMillis > nowMillis && (next === undefined || delivery.visibleAtMillis < next))
      next = delivery.visibleAtMillis;
  // Of a page with some that are visible already only the latest is known; until those are received nobody waits.
  for (const { firstVisibleAtMillis, lastVisibleAtMillis } of state.leasePages.values()) {
    const at = firstVisibleAtMillis > nowMillis ? firstVisibleAtMillis : lastVisibleAtMillis;
    if (at > nowMillis && (next === undefined || at < next)) next = at;
  }
  for (const dueAtMillis of state.delayed.values())
    if (dueAtMillis > nowMillis && (next === undefined || dueAtMillis < next)) next = dueAtMillis;
  for (const { firstDueAtMillis } of state.delayedPages.values())
    if (firstDueAtMillis > nowMillis && (next === undefined || firstDueAtMillis < next))
      next = firstDueAtMillis;
  return next;
}

/** Whether a receive at that time would find anything, looking no further than needed. */
export function hasVisible(state: QueueState, nowMillis: number): boolean {
  if (state.ready.length > 0 || state.readyPages.size > 0) return true;
  for (const delivery of state.deliveries.values()) if (delivery.visibleAtMillis <= nowMillis) return true;
  for (const { firstVisibleAtMillis } of state.leasePages.values())
    if (firstVisibleAtMillis <= nowMillis) return true;
  for (const dueAtMillis of state.delayed.values()) if (dueAtMillis <= nowMillis) return true;
  for (const { firstDueAtMillis } of state.delayedPages.values())
    if (firstDueAtMillis <= nowMillis) return true;
  return false;
}
