/**
 * What clients of one queue saw, and whether a queue that keeps okuri's promises can have shown it. Pure.
 *
 * Times are milliseconds of one clock shared by all clients. A call takes effect at some instant between `began` and
 * `ended`; a call without a usable answer may have taken effect or not. The queue must have been drained to nothing
 * before a history is judged, and no client may have hung up on a receive by itself (then a delivery could be taken
 * back and its receive count be given out again, which the rules below would call an error).
 *
 * Deliveries of one message are ordered by their receive count, since each is one commit that raises it.
 */

export interface Interval {
  readonly began: number;
  readonly ended: number;
}

/** One message of one send; every attempt has a body of its own, so a repeated attempt is another send. */
export interface Send extends Interval {
  readonly body: string;
  /** Absent when no usable answer came. */
  readonly messageId: string | undefined;
}

export interface Delivery extends Interval {
  readonly body: string;
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly receiveCount: number;
}

export interface Delete extends Interval {
  readonly receiptHandle: string;
  readonly acknowledged: boolean;
}

export interface History {
  readonly sends: readonly Send[];
  readonly deliveries: readonly Delivery[];
  readonly deletes: readonly Delete[];
  /** Receives without a usable answer: each may have delivered up to ten messages that nobody saw. */
  readonly lostReceives: readonly Interval[];
}

export interface Violation {
  readonly rule:
    | 'an acknowledged send is received'
    | 'nothing is received that nobody sent'
    | 'a send makes one message'
    | 'a delivery has a receive count of its own'
    | 'receive counts rise with time'
    | 'no message comes back after its delete was answered'
    | 'no message goes without a delete that could take effect';
  readonly body: string;
  readonly detail: string;
}

/**
 * A swap that was on its way when its node was killed can land after the connection broke: how much later a lost
 * receive may still take effect. The store's own request timeouts are well below.
 */
const lateEffectMillis = 15_000;

export function violationsOf(history: History): readonly Violation[] {
  const sends = new Map(history.sends.map((send) => [send.body, send]));
  const deliveries = groupBy(history.deliveries, (delivery) => delivery.body);
  const deletes = groupBy(history.deletes, (each) => each.receiptHandle);
  const found: Violation[] = [];
  for (const send of history.sends) {
    if (send.messageId !== undefined && !deliveries.has(send.body))
      found.push({ rule: 'an acknowledged send is received', body: send.body, detail: send.messageId });
  }
  for (const [body, unordered] of deliveries) {
    const ordered = unordered.toSorted((a, b) => a.receiveCount - b.receiveCount);
    found.push(...identityViolations(body, sends.get(body), ordered));
    found.push(...countViolations(body, ordered));
    found.push(...deleteViolations(body, ordered, deletes, history.lostReceives));
  }
  return found;
}

/** Map.groupBy, which Node 20 lacks. */
function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, Item[]> {
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

function deleteViolations(
  body: string,
  ordered: readonly Delivery[],
  deletes: ReadonlyMap<string, readonly Delete[]>,
  lostReceives: readonly Interval[],
): readonly Violation[] {
  const found: Violation[] = [];
  let explained = false;
  for (const [index, delivery] of ordered.entries()) {
    const next = ordered[index + 1];
    for (const each of deletes.get(delivery.receiptHandle) ?? []) {
      const surelySuperseded = ordered.slice(index + 1).some((later) => later.ended < each.began);
      if (!surelySuperseded) explained = true;
      if (!each.acknowledged || next === undefined || maybeSuperseded(delivery, next, each, lostReceives))
        continue;
      const detail = `${describe(delivery)}; deleted at ${each.began}–${each.ended}; ${describe(next)}`;
      found.push({ rule: 'no message comes back after its delete was answered', body, detail });
    }
  }
  if (!explained) {
    const detail = ordered.map(describe).join('; ');
    found.push({ rule: 'no message goes without a delete that could take effect', body, detail });
  }
  return found;
}

/** Whether another delivery of the message, seen or unseen, can have been made before the delete took effect. */
function maybeSuperseded(
  delivery: Delivery,
  next: Delivery,
  each: Delete,
  lostReceives: readonly Interval[],
): boolean {
  if (next.began < each.ended) return true;
  if (next.receiveCount === delivery.receiveCount + 1) return false;
  return lostReceives.some(
    (lost) => lost.began < each.ended && lost.ended + lateEffectMillis > delivery.began,
  );
}

function describe(delivery: Delivery): string {
  return `delivery ${delivery.receiveCount} at ${delivery.began}–${delivery.ended}`;
}
