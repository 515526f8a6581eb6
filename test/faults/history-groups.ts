/**
 * What clients of one FIFO queue saw, and whether a queue that keeps its order can have shown it. Pure. Beside the rules of
 * history.ts, to which `asHistory` hands the same calls: what is sent under one deduplication id is one message there.
 *
 * A message is identified by its sequence number. A receive may take of a group only what nothing comes before that is still
 * alive, apart from what it takes itself (docs/design/0007-fifo.md). So when a call got a message, whatever comes before it
 * in its group was handed to that very call ahead of it, or was deleted by then; that holds too where earlier messages
 * expired or were given back while later ones were out, since then it is the earlier ones that come.
 *
 * Deduplication is judged for attempts within the window that began with the first of them; who repeats later must not be
 * recorded.
 */
import type { Delete, Delivery, History, LostReceive, Send, VisibilityChange } from './history.ts';
import { groupBy } from './history.ts';
import { heldUntil } from './history-leases.ts';

/** One entry of one call. The same id is sent several times, with the same body, which names it in the history. */
export interface Attempt {
  readonly id: string;
  readonly group: string;
  readonly began: number;
  readonly ended: number;
  /** Absent when no usable answer came. */
  readonly accepted?: { readonly messageId: string; readonly sequence: string };
}

export interface GroupDelivery extends Delivery {
  readonly group: string;
  readonly sequence: string;
  /** All messages of one answer have one number, and their places in it. */
  readonly call: number;
  readonly place: number;
}

/** `refused`: surely without effect. */
export interface GroupDelete extends Delete {
  readonly refused: boolean;
}

export interface GroupHistory {
  readonly attempts: readonly Attempt[];
  readonly deliveries: readonly GroupDelivery[];
  readonly deletes: readonly GroupDelete[];
  readonly lostReceives: readonly LostReceive[];
  readonly visibilityChanges: readonly VisibilityChange[];
}

export const groupRules = [
  'a deduplication id is one message',
  'sequence numbers rise with time',
  'a message keeps its group, id and sequence number',
  'no message is received before what comes before it in its group',
  'no group is in two hands',
  'no message comes back after its delete was answered, whoever held it',
] as const;

export interface GroupViolation {
  readonly rule: (typeof groupRules)[number];
  readonly body: string;
  readonly detail: string;
}

/** What history.ts judges: one send for all attempts of one id. Refused deletes had no effect. */
export function asHistory(history: GroupHistory): History {
  const sends = [...groupBy(history.attempts, ({ id }) => id)].map(([body, attempts]): Send => {
    const accepted = attempts.find((attempt) => attempt.accepted)?.accepted;
    return {
      body,
      messageId: accepted?.messageId,
      began: Math.min(...attempts.map(({ began }) => began)),
      ended: Math.max(...attempts.map(({ ended }) => ended)),
    };
  });
  return { ...history, sends, deletes: history.deletes.filter(({ refused }) => !refused) };
}

export function groupViolations(history: GroupHistory): readonly GroupViolation[] {
  const { attempts, deliveries } = history;
  const deletes = groupBy(
    history.deletes.filter(({ refused }) => !refused),
    ({ receiptHandle }) => receiptHandle,
  );
  const changes = groupBy(history.visibilityChanges, ({ receiptHandle }) => receiptHandle);
  const found: GroupViolation[] = [
    ...identityViolations(attempts, deliveries),
    ...risingViolations(attempts),
  ];
  for (const group of groupBy(deliveries, (delivery) => delivery.group).values()) {
    const messages = [...groupBy(group, ({ sequence }) => sequence).values()].map((all) =>
      messageOf(all, deletes),
    );
    messages.sort((a, b) => compare(a.sequence, b.sequence));
    for (const [index, message] of messages.entries()) {
      found.push(...returning(message));
      for (const delivery of message.deliveries)
        for (const earlier of messages.slice(0, index)) found.push(...overtaking(delivery, earlier));
    }
    found.push(...twoHands(group, deletes, changes));
  }
  return found;
}

interface Message {
  readonly body: string;
  readonly sequence: string;
  readonly deliveries: readonly GroupDelivery[];
  /** Its first delete that can have taken effect; infinite when there is none. */
  readonly deleteBegan: number;
  /** After this it was surely gone. */
  readonly deleteAnswered: number;
}

function messageOf(
  deliveries: readonly GroupDelivery[],
  deletes: ReadonlyMap<string, readonly GroupDelete[]>,
): Message {
  const own = deliveries.flatMap(({ receiptHandle }) => deletes.get(receiptHandle) ?? []);
  const answered = own.filter(({ acknowledged }) => acknowledged);
  const { body, sequence } = deliveries[0]!;
  return {
    body,
    sequence,
    deliveries,
    deleteBegan: Math.min(...own.map(({ began }) => began)),
    deleteAnswered: Math.min(...answered.map(({ ended }) => ended)),
  };
}

/** Of 20 digits all, or of any number of them. */
function compare(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

function identityViolations(
  attempts: readonly Attempt[],
  deliveries: readonly GroupDelivery[],
): readonly GroupViolation[] {
  const found: GroupViolation[] = [];
  const sent = groupBy(attempts, ({ id }) => id);
  const received = groupBy(deliveries, ({ body }) => body);
  for (const body of new Set([...sent.keys(), ...received.keys()])) {
    const answers = (sent.get(body) ?? []).flatMap(({ accepted }) => (accepted ? [accepted] : []));
    const seen = received.get(body) ?? [];
    const messages = new Set(
      [...answers, ...seen].map(({ messageId, sequence }) => `${messageId} ${sequence}`),
    );
    if (messages.size > 1)
      found.push({ rule: 'a deduplication id is one message', body, detail: [...messages].join('; ') });
    const group = sent.get(body)?.[0]?.group;
    const strayed = seen.find((delivery) => group !== undefined && delivery.group !== group);
    if (strayed)
      found.push({
        rule: 'a message keeps its group, id and sequence number',
        body,
        detail: `sent to ${group}; ${describe(strayed)}`,
      });
  }
  for (const [sequence, all] of groupBy(deliveries, (delivery) => delivery.sequence)) {
    const bodies = new Set(all.map(({ body }) => body));
    if (bodies.size > 1)
      found.push({
        rule: 'a message keeps its group, id and sequence number',
        body: [...bodies].join(' '),
        detail: sequence,
      });
  }
  return found;
}

/** What was first sent after another was answered has a higher number, in whatever group. */
function risingViolations(attempts: readonly Attempt[]): readonly GroupViolation[] {
  const messages = [...groupBy(attempts, ({ id }) => id)].flatMap(([body, all]) => {
    const accepted = all.filter((attempt) => attempt.accepted);
    if (accepted.length === 0) return [];
    const { sequence } = accepted[0]!.accepted!;
    const began = Math.min(...all.map((attempt) => attempt.began));
    return [{ body, sequence, began, ended: Math.min(...accepted.map(({ ended }) => ended)) }];
  });
  const byEnd = messages.toSorted((a, b) => a.ended - b.ended);
  const found: GroupViolation[] = [];
  let highest: (typeof messages)[number] | undefined;
  let at = 0;
  for (const message of messages.toSorted((a, b) => a.began - b.began)) {
    for (; (byEnd[at]?.ended ?? Number.POSITIVE_INFINITY) < message.began; at++)
      if (!highest || compare(byEnd[at]!.sequence, highest.sequence) > 0) highest = byEnd[at]!;
    if (highest && compare(highest.sequence, message.sequence) >= 0)
      found.push({
        rule: 'sequence numbers rise with time',
        body: message.body,
        detail: `${message.sequence}, sent from ${message.began} on; ${highest.sequence} was answered at ${highest.ended}`,
      });
  }
  return found;
}

function returning({ body, deliveries, deleteAnswered }: Message): readonly GroupViolation[] {
  const again = deliveries.find(({ began }) => began > deleteAnswered);
  if (!again) return [];
  return [
    {
      rule: 'no message comes back after its delete was answered, whoever held it',
      body,
      detail: `deleted by ${deleteAnswered}; ${describe(again)}`,
    },
  ];
}

function overtaking(delivery: GroupDelivery, earlier: Message): readonly GroupViolation[] {
  const beside = earlier.deliveries.some(
    ({ call, place }) => call === delivery.call && place < delivery.place,
  );
  if (beside) return [];
  const later = earlier.deliveries.find(
    ({ began, call }) => call !== delivery.call && began > delivery.ended,
  );
  if (!later && earlier.deleteBegan < delivery.ended) return [];
  const what = later ? `came at ${later.began}` : `was not deleted before ${earlier.deleteBegan}`;
  return [
    {
      rule: 'no message is received before what comes before it in its group',
      body: delivery.body,
      detail: `${describe(delivery)}; ${earlier.body} (${earlier.sequence}) ${what}`,
    },
  ];
}

/** While somebody surely holds a message, others get only what comes before it. */
function twoHands(
  group: readonly GroupDelivery[],
  deletes: ReadonlyMap<string, readonly GroupDelete[]>,
  changes: ReadonlyMap<string, readonly VisibilityChange[]>,
): readonly GroupViolation[] {
  const found: GroupViolation[] = [];
  for (const held of group) {
    const deleted = (deletes.get(held.receiptHandle) ?? []).map(({ began }) => began);
    const until = Math.min(heldUntil(held, changes), ...deleted);
    for (const other of group) {
      if (other.call === held.call || other.began <= held.ended || other.ended >= until) continue;
      if (compare(other.sequence, held.sequence) < 0) continue;
      found.push({
        rule: 'no group is in two hands',
        body: other.body,
        detail: `${describe(other)}; ${held.body}, ${describe(held)}, is held until ${until}`,
      });
    }
  }
  return found;
}

function describe({ group, sequence, receiveCount, began, ended }: GroupDelivery): string {
  return `${sequence} of ${group}, delivery ${receiveCount} at ${began}–${ended}`;
}
