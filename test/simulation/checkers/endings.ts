/**
 * No message is lost: each that leaves a queue leaves by a delete of its very delivery, a purge, its retention (by the
 * store's true clock, never early), or a move that its target has taken.
 */
import { resolveAttributes } from '../../../src/core/queue-attributes.ts';
import type { QueueState } from '../../../src/core/queue-state.ts';
import { decodeReceiptHandle } from '../../../src/core/receipt-handle.ts';
import { stampOf } from '../../../src/core/stamps.ts';
import { defaultTiming } from '../../../src/engine/settings.ts';
import type { LandingDiff, Ledger, MessageLife } from '../ledger.ts';
import { markerOf } from '../ledger.ts';
import { storeMillisAt } from '../life.ts';
import { type DiffChecker, leaseKey } from './check.ts';

/** Lies told so far may each move manifest time by the allowance of core/time.ts. */
const lieSlackMillis = 5_100;

interface KnownOfTime {
  liesTold(): number;
  sleepHidden(): boolean;
}

export function endingsChecker(ledger: Ledger, time: KnownOfTime): DiffChecker {
  const deletes = new Set<string>();
  /** Store time at which the send of a message reached a node: a moved one keeps it. */
  const sentAt = new Map<string, number>();
  /** In a FIFO queue retention counts from the move: not before this. */
  const movedAt = new Map<MessageLife, number>();
  return {
    name: 'a message leaves by delete, purge, retention or move, and is not lost',
    arrived: ({ request, arrivedAt }) => {
      if (request.kind === 'send')
        for (const { content } of request.entries)
          sentAt.set(markerOf(content.body), storeMillisAt(arrivedAt));
      if (request.kind === 'delete')
        for (const text of request.handles) {
          const handle = decodeReceiptHandle(text);
          if (handle) deletes.add(leaseKey(handle));
        }
      return undefined;
    },
    diff: (diff) => {
      for (const life of diff.born)
        if (life.message.movedAtMillis !== undefined)
          movedAt.set(life, storeMillisAt(diff.landing.sentAt) - defaultTiming.attemptAgeMaxMillis);
      for (const life of diff.ended) {
        const beganAt = movedAt.get(life) ?? sentAt.get(markerOf(life.message.body))!;
        const why = whyLost(diff, life, deletes, ledger) ?? diedEarly(diff, life, beganAt, slackMillis(time));
        if (why)
          return `${markerOf(life.message.body)} (sequence ${life.sequence} of ${diff.incarnation.queue}): ${why}`;
      }
      return undefined;
    },
  };
}

/** What a machine slept unknown to it is missing in its stamps, whatever it was told since. */
function slackMillis({ liesTold, sleepHidden }: KnownOfTime): number {
  return sleepHidden() ? Number.POSITIVE_INFINITY : liesTold() * lieSlackMillis;
}

function whyLost(
  { before, after }: LandingDiff,
  life: MessageLife,
  deletes: ReadonlySet<string>,
  ledger: Ledger,
): string | undefined {
  if (!before) return 'it left with the first version';
  const { sequence } = life;
  const intent = before.intents.get(sequence);
  if (intent) {
    const target = ledger.incarnations.get(intent.targetIncarnation);
    const taken = target?.state.incomingLinks.get(before.incarnation)?.lastNumber ?? 0;
    if (taken >= intent.number) return undefined;
    // It came back from a target that is gone, and ended in the same commit.
    const expired = stampOf(life.message) + retentionMillisOf(after) <= after.timeMillis;
    if (target?.endedAt !== undefined && (sequence < after.purgeWatermark || expired)) return undefined;
    return `its move ${intent.number} was resolved, its target had taken ${taken}`;
  }
  if (sequence < after.purgeWatermark && before.purgeWatermark < after.purgeWatermark) return undefined;
  const delivery = before.deliveries.get(sequence);
  if (delivery && deletes.has(leaseKey({ incarnation: before.incarnation, sequence, token: delivery.token })))
    return undefined;
  const retention = retentionMillisOf(after);
  if (stampOf(life.message) + retention > after.timeMillis)
    return `no delete, no purge, no move; retention of ${retention} ms is not over (sent ${stampOf(life.message)}, manifest time ${after.timeMillis})`;
  return undefined;
}

/** Retention by the store's own clock; whatever else ended the message is no concern of it. */
function diedEarly(
  { before, after, landing }: LandingDiff,
  { message, sequence }: MessageLife,
  beganAt: number,
  slack: number,
): string | undefined {
  const retention = retentionMillisOf(after);
  const gone =
    before?.intents.has(sequence) ||
    sequence < after.purgeWatermark ||
    stampOf(message) + retention > after.timeMillis;
  if (gone) return undefined;
  const early = beganAt + retention - landing.storeMillis;
  return early > slack ? `retention ended it ${early} ms early by the store's own clock` : undefined;
}

function retentionMillisOf({ attributes }: QueueState): number {
  return resolveAttributes(attributes).retentionSeconds * 1000;
}
