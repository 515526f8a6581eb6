/** What must hold in particular of FIFO queues, and what only they may have; see invariants.ts. */
import { isOver } from './deduplication.ts';
import { groupOf } from './message-groups.ts';
import type { QueueState } from './queue-state.ts';

const isFifo = ({ attributes }: QueueState) => attributes.get('FifoQueue') === 'true';

/** Cheap: runs before every swap. */
export function brokenFifoStep(current: QueueState, next: QueueState): string | undefined {
  if (isFifo(current) !== isFifo(next)) return 'the type of the queue changed';
  if (!isFifo(next)) return next.deduplication.size > 0 ? 'a standard queue deduplicates' : undefined;
  // A purge forgets them all.
  if (next.purgeWatermark > current.purgeWatermark) return undefined;
  for (const [id, { lastAcceptedAtMillis }] of current.deduplicationPages)
    if (!next.deduplicationPages.has(id) && !isOver(lastAcceptedAtMillis, next.timeMillis))
      return `the deduplication page ${id} is gone before it is over`;
  let gone = 0;
  for (const [key, { acceptedAtMillis }] of current.deduplication)
    if (!next.deduplication.has(key) && !isOver(acceptedAtMillis, next.timeMillis)) gone++;
  let folded = 0;
  for (const [id, { count }] of next.deduplicationPages)
    if (!current.deduplicationPages.has(id)) folded += count;
  return gone > folded ? `${gone} deduplication ids are gone before they are over` : undefined;
}

/** Of a state without pages. */
export function brokenFifoState(state: QueueState): string | undefined {
  const fifo = isFifo(state);
  for (const places of [state.deliveries, state.intents])
    for (const [sequence, { group }] of places) {
      const message = state.tail.get(sequence)?.message;
      if ((group !== undefined) !== fifo)
        return `sequence ${sequence} ${fifo ? 'has no group' : 'has a group'}`;
      if (group !== undefined && message && group !== groupOf(message))
        return `sequence ${sequence} has another group than its message`;
    }
  if (!fifo && state.deduplication.size > 0) return 'a standard queue deduplicates';
  let previous = 0;
  for (const { sequence } of state.deduplication.values()) {
    if (sequence <= previous) return 'the deduplication ids are not in order';
    if (sequence >= state.nextSequence) return `a deduplication id is of sequence ${sequence}, never given`;
    previous = sequence;
  }
  return undefined;
}
