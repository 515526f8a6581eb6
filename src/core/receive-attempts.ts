/**
 * ReceiveRequestAttemptId of FIFO queues: a receive whose answer was lost may be repeated with the same id, and gets the
 * same messages with the same handles although they are in flight, their visibility timeout counted anew. Each delivery
 * that such a receive makes carries what names the attempt and how many it made in all; so it is judged by any node.
 *
 * It counts for five minutes, and only while all its messages are as they were handed out: once one of them was
 * deleted, given another timeout or has expired, the same id is that of a new receive.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { Draft } from './draft.ts';
import { type AttemptHash, attemptHashBytes, hexFromBytes } from './ids.ts';
import { DEDUPLICATION_MILLIS, LEASE_MILLIS_MAX } from './limits.ts';
import { type FoundDelivery, OpenLeasePage } from './open-lease-page.ts';
import type { Delivery } from './queue-state.ts';

export function attemptHashOf(attemptId: string): AttemptHash {
  return hexFromBytes(sha256(utf8ToBytes(attemptId)).subarray(0, attemptHashBytes)) as AttemptHash;
}

/** In ascending order of sequence; empty where there is nothing to repeat. Pages that can't be read may hide one of them. */
export function handedOutBy(draft: Draft, attempt: AttemptHash): readonly FoundDelivery[] {
  const { nowMillis } = draft.time;
  let newest: FoundDelivery[] = [];
  for (const found of deliveriesOf(draft)) {
    const { delivery } = found;
    if (delivery.attempt?.id !== attempt || delivery.visibleAtMillis <= nowMillis) continue;
    if (delivery.attempt.messages === 0) continue;
    if (delivery.leasedAtMillis + DEDUPLICATION_MILLIS <= nowMillis) continue;
    const version = newest[0]?.delivery.leaseVersion ?? 0;
    if (delivery.leaseVersion > version) newest = [found];
    else if (delivery.leaseVersion === version) newest.push(found);
  }
  if (newest.length !== newest[0]?.delivery.attempt?.messages) return [];
  return newest.sort((a, b) => a.sequence - b.sequence);
}

/** What it was, with a timeout that counts from now. */
export function handedOutAgain(draft: Draft, delivery: Delivery, timeoutSeconds: number): Delivery {
  const latestMillis = delivery.leasedAtMillis + LEASE_MILLIS_MAX;
  return {
    ...delivery,
    visibleAtMillis: Math.min(draft.time.nowMillis + timeoutSeconds * 1000, latestMillis),
    ...(delivery.attempt && { attempt: { ...delivery.attempt, repeated: true } }),
  };
}

/** A delivery that was given another timeout can't be had by the attempt any more; that two answers have it stays known. */
export function withoutAttempt(delivery: Delivery): Delivery {
  if (!delivery.attempt) return delivery;
  const { attempt, ...rest } = delivery;
  return attempt.repeated ? { ...rest, attempt: { ...attempt, messages: 0 } } : rest;
}

function* deliveriesOf({ deliveries }: Draft): Generator<FoundDelivery, void, undefined> {
  for (const [sequence, delivery] of deliveries.inline.current)
    yield { sequence, delivery, page: undefined, ordinal: 0 };
  for (const page of deliveries.allPages()) if (page instanceof OpenLeasePage) yield* page.found();
}
