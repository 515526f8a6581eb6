/**
 * On a FIFO queue a handle whose visibility timeout is over is refused and changes nothing, also when nobody else has
 * received the message; one that is in time is not refused; and a handle of what is gone is none to complain about.
 */
import { resolveAttributes } from '../../../src/core/queue-attributes.ts';
import { decodeReceiptHandle, type ReceiptHandle } from '../../../src/core/receipt-handle.ts';
import { stampOf } from '../../../src/core/stamps.ts';
import { isFifoQueue, isFifoState } from '../fifo.ts';
import type { CallRequest } from '../history.ts';
import type { LandingDiff, Ledger } from '../ledger.ts';
import { storeMillisAt } from '../life.ts';
import { type DiffChecker, leaseKey } from './check.ts';

export function expiredHandlesChecker(
  ledger: Ledger,
  clockErrorMillis: () => number | undefined,
): DiffChecker {
  const asked = new Set<string>();
  /** By incarnation and sequence. */
  const endedAt = new Map<string, number>();
  const wrongAnswer = (handle: ReceiptHandle, outcome: string | undefined, arrivedAt: number, at: number) => {
    const { incarnation, sequence, token } = handle;
    const life = ledger.incarnations.get(incarnation);
    if (!life || life.endedAt !== undefined) return undefined;
    const isAlive = life.live.has(sequence);
    if (outcome === 'done' || outcome === 'not-available')
      return isAlive ? `called ${outcome}, and it is there` : undefined;
    if (outcome !== 'expired') return undefined;
    if ((endedAt.get(`${incarnation}/${sequence}`) ?? arrivedAt) < arrivedAt)
      return 'called expired, and it was gone before';
    const held = life.state.deliveries.get(sequence);
    const error = clockErrorMillis();
    if (held?.token !== token || error === undefined) return undefined;
    const left = held.visibleAtMillis - storeMillisAt(at) - error;
    return left > 0 ? `called expired, and it is good for ${left} ms more` : undefined;
  };
  return {
    name: 'an expired handle is refused and changes nothing',
    arrived: ({ request }) => {
      if (!isFifoQueue(request.queue)) return undefined;
      for (const handle of handlesOf(request)) if (handle) asked.add(leaseKey(handle));
      return undefined;
    },
    diff: (diff) => {
      if (!isFifoState(diff.after)) return undefined;
      for (const { incarnation, sequence } of diff.ended)
        endedAt.set(`${incarnation}/${sequence}`, diff.landing.at);
      return usedTooLate(diff, asked, clockErrorMillis());
    },
    answered: ({ id, request, arrivedAt }, answer, at) => {
      if (!isFifoQueue(request.queue) || answer.kind !== 'done' || !('entries' in answer)) return undefined;
      for (const [index, handle] of handlesOf(request).entries()) {
        if (!handle || ledger.incarnations.get(handle.incarnation)?.queue !== request.queue) continue;
        const outcome = answer.entries[index]?.kind;
        // A visibility change that was done leaves it where it is.
        if (request.kind === 'visibility' && outcome === 'done') continue;
        const wrong = wrongAnswer(handle, outcome, arrivedAt, at);
        if (wrong)
          return `call ${id}: the handle of sequence ${handle.sequence} of ${request.queue} is ${wrong}`;
      }
      return undefined;
    },
  };
}

/**
 * Deletes and extensions that landed for a delivery which was over by the manifest's own time, a lower bound of the store's:
 * the clock that decides may be behind it by as much as it is wrong.
 */
function usedTooLate(
  { before, after, ended, incarnation }: LandingDiff,
  asked: ReadonlySet<string>,
  error: number | undefined,
): string | undefined {
  if (!before || error === undefined) return undefined;
  const isOver = (sequence: number) => {
    const delivery = before.deliveries.get(sequence);
    if (!delivery || delivery.visibleAtMillis > after.timeMillis - error) return false;
    return asked.has(leaseKey({ incarnation: after.incarnation, sequence, token: delivery.token }));
  };
  const retentionMillis = resolveAttributes(after.attributes).retentionSeconds * 1000;
  if (before.purgeWatermark === after.purgeWatermark)
    for (const { sequence, message } of ended)
      if (isOver(sequence) && stampOf(message) + retentionMillis > after.timeMillis)
        return `sequence ${sequence} of ${incarnation.queue} was deleted by a handle that was over, until ${before.deliveries.get(sequence)?.visibleAtMillis} at ${after.timeMillis}`;
  for (const [sequence, { token, visibleAtMillis }] of after.deliveries) {
    const earlier = before.deliveries.get(sequence);
    if (earlier?.token !== token || earlier.visibleAtMillis === visibleAtMillis) continue;
    if (isOver(sequence))
      return `sequence ${sequence} of ${incarnation.queue} was extended by a handle that was over`;
  }
  return undefined;
}

function handlesOf(request: CallRequest): readonly (ReceiptHandle | undefined)[] {
  if (request.kind === 'delete') return request.handles.map(decodeReceiptHandle);
  if (request.kind === 'visibility')
    return request.entries.map(({ receiptHandle }) => decodeReceiptHandle(receiptHandle));
  return [];
}
