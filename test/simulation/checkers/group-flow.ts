/**
 * A locked group holds up no other: a receive of a FIFO queue that got less than it asked for left nothing that it might have
 * had. Told by the state that its leases landed with, where nothing kept its node from reading everything. Of an empty
 * receive nobody knows by which state it was answered: those the healed world asks for (unlock.ts).
 */
import { resolveAttributes } from '../../../src/core/queue-attributes.ts';
import { decodeReceiptHandle } from '../../../src/core/receipt-handle.ts';
import { isFifoQueue, isFifoState } from '../fifo.ts';
import type { LandingDiff } from '../ledger.ts';
import { markerOf } from '../ledger.ts';
import type { Circumstances } from './all.ts';
import type { DiffChecker } from './check.ts';
import { leasedBy } from './leased.ts';

export function groupFlowChecker(world: Pick<Circumstances, 'limits' | 'undisturbedSince'>): DiffChecker {
  /** By incarnation and version: what its receives left. */
  const lefts = new Map<string, string>();
  return {
    name: 'a locked group holds up no other',
    diff: (diff) => {
      // The receives of a commit look through so many and no more.
      const there = diff.incarnation.live.size + diff.ended.length;
      if (!isFifoState(diff.after) || there > world.limits.fifoLookMax) return undefined;
      const left = freeAfter(diff, world.limits.inFlightMax);
      if (left !== undefined) lefts.set(`${diff.after.incarnation}/${diff.after.version}`, left);
      return undefined;
    },
    answered: ({ id, node, request, arrivedAt }, answer) => {
      if (request.kind !== 'receive' || !isFifoQueue(request.queue) || !('messages' in answer))
        return undefined;
      const handle = decodeReceiptHandle(answer.messages[0]?.receiptHandle ?? '');
      if (!handle || answer.messages.length >= request.request.maxMessages) return undefined;
      const left = lefts.get(`${handle.incarnation}/${handle.leaseVersion}`);
      if (left === undefined || world.undisturbedSince(node) > arrivedAt) return undefined;
      return `call ${id}: got ${answer.messages.length} of ${request.request.maxMessages} messages of ${request.queue}, and left ${left}`;
    },
  };
}

/** The head of a group that was visible and free when the receives of this landing had taken theirs. */
function freeAfter(diff: LandingDiff, inFlightMax: number): string | undefined {
  const { after, incarnation } = diff;
  const { surely, perhaps } = leasedBy(diff);
  const [any] = surely;
  if (any === undefined) return undefined;
  const now = after.deliveries.get(any)!.leasedAtMillis;
  const maxReceiveCount = resolveAttributes(after.attributes).redrivePolicy?.maxReceiveCount;
  let inFlight = 0;
  for (const { visibleAtMillis } of after.deliveries.values()) if (visibleAtMillis > now) inFlight++;
  if (inFlight >= inFlightMax) return undefined;
  // Whatever is not due holds up all that was sent after it.
  let end = Number.POSITIVE_INFINITY;
  for (const [sequence, dueAt] of after.delayed) if (dueAt > now) end = Math.min(end, sequence);
  const groups = new Set<string | undefined>();
  for (const sequence of [...incarnation.live.keys()].sort((a, b) => a - b)) {
    if (sequence >= end) return undefined;
    const { message } = incarnation.live.get(sequence)!;
    if (groups.has(message.groupId)) continue;
    groups.add(message.groupId);
    if (perhaps.has(sequence) || after.intents.has(sequence)) continue;
    const delivery = after.deliveries.get(sequence);
    if (delivery && delivery.visibleAtMillis > now) continue;
    // It may have to move, and wait for that.
    if (delivery && delivery.receiveCount >= (maxReceiveCount ?? Number.POSITIVE_INFINITY)) continue;
    return `${markerOf(message.body)} (sequence ${sequence}, ${message.groupId})`;
  }
  return undefined;
}
