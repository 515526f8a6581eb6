/**
 * What clients of one queue saw, and whether a queue that keeps okuri's promises can have shown it. Pure.
 * A queue and its dead-letter queue are one history: a message that moves keeps its id and its receive count goes on.
 *
 * Times are milliseconds of one clock shared by all clients. A call takes effect at some instant between `began` and
 * `ended`; a call without a usable answer may have taken effect or not, and up to `lateEffectMillis` after `ended`. The
 * queue must have been drained to nothing before a history is judged.
 *
 * Deliveries of one message are ordered by their receive count, since each is one commit that raises it. A delivery to a
 * client that hung up may be taken back, and its count be given out again: nobody saw it, so what was seen still has
 * counts of its own.
 */

import { erasureViolations, mayBeErased } from './history-erasures.ts';
import { leaseHolds, leaseViolations } from './history-leases.ts';

export interface Interval {
  readonly began: number;
  readonly ended: number;
}

/** One message of one send; every attempt has a body of its own, so a repeated attempt is another send. */
export interface Send extends Interval {
  readonly body: string;
  /** Absent when no usable answer came. */
  readonly messageId: string | undefined;
  readonly delaySeconds?: number;
}

export interface Delivery extends Interval {
  /** Where it was received, when the history is of several queues. */
  readonly queue?: string;
  readonly body: string;
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly receiveCount: number;
  /** Absent when not known: then it may have ended at once. */
  readonly visibilitySeconds?: number;
}

/** Whatever was answered, it may have taken effect. */
export interface VisibilityChange {
  readonly receiptHandle: string;
  readonly began: number;
  readonly seconds: number;
}

/** A purge, or the deletion of the queue. */
export interface Erasure extends Interval {
  readonly acknowledged: boolean;
}

/** A receive without a usable answer: it may have delivered up to ten messages that nobody saw. */
export interface LostReceive extends Interval {
  /** The client hung up, or seemed to: what it was given may have been taken back. */
  readonly hungUp?: boolean;
}

export interface Delete extends Interval {
  readonly receiptHandle: string;
  readonly acknowledged: boolean;
}

export interface History {
  readonly sends: readonly Send[];
  readonly deliveries: readonly Delivery[];
  readonly deletes: readonly Delete[];
  readonly lostReceives: readonly LostReceive[];
  readonly visibilityChanges?: readonly VisibilityChange[];
  readonly erasures?: readonly Erasure[];
}

export const rules = [
  'an acknowledged send is received',
  'nothing is received that nobody sent',
  'a send makes one message',
  'a delivery has a receive count of its own',
  'receive counts rise with time',
  'no message comes back after its delete was answered',
  'no message goes without a delete that could take effect',
  'no message is delivered while another delivery holds it',
  'no message is delivered before its delay is over',
  'no message outlives a purge or its queue',
] as const;

/** Judged by history-dead-letters.ts. */
export const deadLetterRule = 'a message becomes a dead letter when it was received often enough';

export interface Violation {
  readonly rule: (typeof rules)[number] | typeof deadLetterRule;
  readonly body: string;
  readonly detail: string;
}

/**
 * A swap that was on its way when its node was killed can land after the connection broke: how much later a call without
 * an answer may still take effect. The store's own request timeouts are well below; who delays writes or pauses nodes
 * must say more.
 */
const defaultLateEffectMillis = 15_000;

export function violationsOf(
  history: History,
  lateEffectMillis = defaultLateEffectMillis,
): readonly Violation[] {
  const { lostReceives, erasures = [] } = history;
  const erasable = (send: Send | undefined) => mayBeErased(send, erasures, lateEffectMillis);
  const sends = new Map(history.sends.map((send) => [send.body, send]));
  const deliveries = groupBy(history.deliveries, (delivery) => delivery.body);
  const deletes = groupBy(history.deletes, (each) => each.receiptHandle);
  const changes = groupBy(history.visibilityChanges ?? [], (change) => change.receiptHandle);
  const found: Violation[] = [];
  for (const send of history.sends) {
    if (send.messageId !== undefined && !deliveries.has(send.body) && !erasable(send))
      found.push({ rule: 'an acknowledged send is received', body: send.body, detail: send.messageId });
  }
  for (const [body, unordered] of deliveries) {
    const ordered = unordered.toSorted((a, b) => a.receiveCount - b.receiveCount);
    const send = sends.get(body);
    const context: DeleteContext = { deletes, changes, lostReceives, lateEffectMillis };
    found.push(...identityViolations(body, send, ordered));
    found.push(...countViolations(body, ordered));
    found.push(...leaseViolations(send, ordered, changes));
    found.push(...erasureViolations(send, ordered, erasures));
    found.push(...comingBack(body, ordered, context));
    if (!erasable(send)) found.push(...goingUndeleted(body, ordered, deletes));
  }
  return found;
}

interface DeleteContext {
  readonly deletes: ReadonlyMap<string, readonly Delete[]>;
  readonly changes: ReadonlyMap<string, readonly VisibilityChange[]>;
  readonly lostReceives: readonly LostReceive[];
  readonly lateEffectMillis: number;
}

/** Map.groupBy, which Node 20 lacks. */
export function groupBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): ReadonlyMap<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

function identityViolations(
  body: string,
  send: Send | undefined,
  deliveries: readonly Delivery[],
): readonly Violation[] {
  if (send === undefined) return [{ rule: 'nothing is received that nobody sent', body, detail: '' }];
  const ids = new Set(deliveries.map((delivery) => delivery.messageId));
  if (send.messageId !== undefined) ids.add(send.messageId);
  if (ids.size === 1) return [];
  return [{ rule: 'a send makes one message', body, detail: [...ids].join(' ') }];
}

function countViolations(body: string, ordered: readonly Delivery[]): readonly Violation[] {
  const found: Violation[] = [];
  for (const [index, delivery] of ordered.entries()) {
    const next = ordered[index + 1];
    if (next === undefined) break;
    const detail = `${describe(delivery)}; ${describe(next)}`;
    if (next.receiveCount === delivery.receiveCount)
      found.push({ rule: 'a delivery has a receive count of its own', body, detail });
    else if (next.ended < delivery.began) found.push({ rule: 'receive counts rise with time', body, detail });
  }
  return found;
}

function comingBack(
  body: string,
  ordered: readonly Delivery[],
  context: DeleteContext,
): readonly Violation[] {
  const found: Violation[] = [];
  for (const [index, delivery] of ordered.entries()) {
    const next = ordered[index + 1];
    if (next === undefined) break;
    for (const each of context.deletes.get(delivery.receiptHandle) ?? []) {
      if (!each.acknowledged || maybeSuperseded(delivery, next, each, context)) continue;
      const detail = `${describe(delivery)}; deleted at ${each.began}–${each.ended}; ${describe(next)}`;
      found.push({ rule: 'no message comes back after its delete was answered', body, detail });
    }
  }
  return found;
}

function goingUndeleted(
  body: string,
  ordered: readonly Delivery[],
  deletes: ReadonlyMap<string, readonly Delete[]>,
): readonly Violation[] {
  const explained = ordered.some((delivery, index) =>
    deletes.get(delivery.receiptHandle)?.some((each) => {
      const surelySuperseded = ordered.slice(index + 1).some((later) => later.ended < each.began);
      return !surelySuperseded;
    }),
  );
  if (explained) return [];
  const detail = ordered.map(describe).join('; ');
  return [{ rule: 'no message goes without a delete that could take effect', body, detail }];
}

/** Whether another delivery of the message, seen or unseen, can have been made before the delete took effect. */
function maybeSuperseded(
  delivery: Delivery,
  next: Delivery,
  each: Delete,
  { changes, lostReceives, lateEffectMillis }: DeleteContext,
): boolean {
  if (leaseHolds(delivery, changes, each.ended)) return false;
  if (next.began < each.ended) return true;
  // On its way to the dead-letter queue it already belonged there, and no handle held it any more.
  if (next.queue !== delivery.queue) return true;
  const unseen = lostReceives.filter(
    (lost) => lost.began < each.ended && lost.ended + lateEffectMillis > delivery.began,
  );
  // The counts leave no room for an unseen delivery, but for one that was taken back.
  if (next.receiveCount === delivery.receiveCount + 1) return unseen.some((lost) => lost.hungUp);
  return unseen.length > 0;
}

function describe({ receiveCount, began, ended, queue }: Delivery): string {
  return `delivery ${receiveCount}${queue === undefined ? '' : ` from ${queue}`} at ${began}–${ended}`;
}
