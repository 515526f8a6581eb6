/**
 * Deliveries: every lease is of a visible message by the deciding clock, has a token of its own, counts one more than
 * the one before; and every answered receive hands out leases that landed for it, each once, with the right body.
 */
import type { DeliveryToken } from '../../../src/core/ids.ts';
import { resolveAttributes } from '../../../src/core/queue-attributes.ts';
import type { Delivery, QueueState } from '../../../src/core/queue-state.ts';
import { has } from '../../../src/core/range-set.ts';
import { decodeReceiptHandle } from '../../../src/core/receipt-handle.ts';
import { isFifoState } from '../fifo.ts';
import type { LandingDiff } from '../ledger.ts';
import { type DiffChecker, leaseKey } from './check.ts';

interface Lease {
  readonly landedAt: number;
  readonly receiveCount: number;
  readonly body: string;
  readonly messageId: string;
  readonly timeoutMillis: number;
  /** The queue's own, where the receive asks for none. */
  readonly defaultTimeoutMillis: number;
  answered: boolean;
  /** Its client has it, so nobody may give it back. */
  keeps: boolean;
  givenBack: boolean;
}

/** `aborts`: how many receives were broken off so far; only those give leases back, which lowers the count again. */
export function deliveriesChecker(aborts: () => number): DiffChecker {
  /** Leases that a visibility change to 0 was asked for. */
  const opened = new Set<string>();
  const leases = new Map<string, Lease>();
  const tokens = new Set<DeliveryToken>();
  return {
    name: 'a delivery is of a visible message, fenced by a token of its own, and handed out once',
    arrived: ({ request }) => {
      if (request.kind === 'visibility')
        for (const { receiptHandle, visibilityTimeoutSeconds } of request.entries) {
          const handle = visibilityTimeoutSeconds === 0 && decodeReceiptHandle(receiptHandle);
          if (handle) opened.add(leaseKey(handle));
        }
      return undefined;
    },
    undelivered: (answer) => {
      if (!('messages' in answer)) return undefined;
      for (const { receiptHandle } of answer.messages) {
        const handle = decodeReceiptHandle(receiptHandle);
        const lease = handle && leases.get(leaseKey(handle));
        if (lease) lease.keeps = false;
      }
      return undefined;
    },
    diff: (diff) => {
      for (const { sequence, token } of released(diff)) {
        const lease = leases.get(leaseKey({ incarnation: diff.after.incarnation, sequence, token }));
        if (lease?.keeps) return `the lease of sequence ${sequence} was given back and its client has it`;
        if (lease) lease.givenBack = true;
      }
      for (const [sequence, delivery] of diff.after.deliveries) {
        const previous = diff.before?.deliveries.get(sequence);
        if (previous?.token === delivery.token) continue;
        if (tokens.has(delivery.token)) return `token ${delivery.token} is given a second time`;
        tokens.add(delivery.token);
        const wrong = wrongLease(diff, sequence, delivery, previous, opened, aborts() > 0);
        if (wrong) return `sequence ${sequence} of ${diff.incarnation.queue}: ${wrong}`;
        const { message } = diff.incarnation.live.get(sequence)!;
        const { incarnation } = diff.after;
        leases.set(leaseKey({ incarnation, sequence, token: delivery.token }), {
          landedAt: diff.landing.at,
          receiveCount: delivery.receiveCount,
          body: message.body,
          messageId: message.messageId,
          timeoutMillis: delivery.visibleAtMillis - delivery.leasedAtMillis,
          defaultTimeoutMillis: resolveAttributes(diff.after.attributes).visibilityTimeoutSeconds * 1000,
          answered: false,
          keeps: false,
          givenBack: false,
        });
      }
      return undefined;
    },
    answered: ({ request, arrivedAt, id }, answer) => {
      if (request.kind !== 'receive' || answer.kind !== 'done' || !('messages' in answer)) return undefined;
      if (answer.messages.length > request.request.maxMessages)
        return `call ${id}: more messages than asked for`;
      for (const { receiptHandle, receiveCount, message } of answer.messages) {
        const handle = decodeReceiptHandle(receiptHandle);
        const lease = handle && leases.get(leaseKey(handle));
        if (!lease) return `call ${id}: ${message.messageId} was handed out without a lease`;
        if (lease.answered) return `call ${id}: the lease of ${message.messageId} was handed out twice`;
        lease.answered = true;
        if (lease.givenBack) return `call ${id}: the lease of ${message.messageId} was given back before`;
        lease.keeps = true;
        if (lease.landedAt < arrivedAt) return `call ${id}: got a lease older than itself`;
        const asked = request.request.visibilityTimeoutSeconds;
        const timeoutMillis = asked === undefined ? lease.defaultTimeoutMillis : asked * 1000;
        if (lease.timeoutMillis !== timeoutMillis)
          return `call ${id}: leased for ${lease.timeoutMillis} ms, not ${timeoutMillis}`;
        if (lease.receiveCount !== receiveCount)
          return `call ${id}: receive count ${receiveCount} is not the lease's`;
        if (lease.body !== message.body || lease.messageId !== message.messageId)
          return `call ${id}: another message than the leased one`;
      }
      return undefined;
    },
  };
}

/** Leases that this landing gave back: the message is as if it had not been received. */
function* released({ before, after }: LandingDiff): Generator<{ sequence: number; token: DeliveryToken }> {
  if (!before) return;
  for (const [sequence, { token, receiveCount }] of before.deliveries) {
    const now = after.deliveries.get(sequence);
    if (now ? now.token !== token && now.receiveCount <= receiveCount : has(after.ready, sequence))
      yield { sequence, token };
  }
}

function wrongLease(
  { before, after }: LandingDiff,
  sequence: number,
  delivery: Delivery,
  previous: Delivery | undefined,
  opened: ReadonlySet<string>,
  mayBeReleased: boolean,
): string | undefined {
  if (delivery.leaseVersion !== after.version) return 'a new token with an old lease version';
  if (!before) return undefined;
  if (before.intents.has(sequence)) return undefined;
  const born = sequence >= before.nextSequence;
  if (previous) {
    // Released, and perhaps leased again by the same commit.
    const risen = delivery.receiveCount - previous.receiveCount;
    if (mayBeReleased && (risen === 0 || risen === -1)) return undefined;
    if (risen !== 1) return `receive count ${previous.receiveCount} became ${delivery.receiveCount}`;
    const key = leaseKey({ incarnation: before.incarnation, sequence, token: previous.token });
    if (previous.visibleAtMillis > delivery.leasedAtMillis && !opened.has(key))
      return `in flight until ${previous.visibleAtMillis}, leased again at ${delivery.leasedAtMillis}`;
    return undefined;
  }
  if (born) return undefined;
  if (delivery.receiveCount !== 1) return `a first delivery has receive count ${delivery.receiveCount}`;
  const dueBefore = before.delayed.get(sequence);
  const dueAt = dueBefore === undefined ? undefined : dueBefore + duesMovedBy(before, after);
  if (dueAt !== undefined && dueAt > delivery.leasedAtMillis)
    return `delayed until ${dueAt}, leased at ${delivery.leasedAtMillis}`;
  return undefined;
}

/** On a FIFO queue a change of its delay holds for what is delayed already. */
function duesMovedBy(before: QueueState, after: QueueState): number {
  if (!isFifoState(after)) return 0;
  const delaySeconds = ({ attributes }: QueueState) => resolveAttributes(attributes).delaySeconds;
  return (delaySeconds(after) - delaySeconds(before)) * 1000;
}
