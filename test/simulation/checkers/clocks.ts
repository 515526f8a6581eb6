/**
 * Leases, delays and enqueue stamps go by the store's time: judged by the store's true clock, as exactly as a node can
 * know it (an answer's flight, the resolution of `Date`, drift). Where the store lied or a wall clock stepped, only
 * what no lie touches is judged.
 */
import { resolveAttributes } from '../../../src/core/queue-attributes.ts';
import { defaultTiming } from '../../../src/engine/settings.ts';
import type { LandingDiff, MessageLife } from '../ledger.ts';
import { markerOf } from '../ledger.ts';
import { storeMillisAt } from '../life.ts';
import type { Circumstances } from './all.ts';
import type { DiffChecker } from './check.ts';

interface Sent {
  readonly arrivedAt: number;
  readonly delaySeconds: number | undefined;
}

export function clocksChecker(world: Circumstances): DiffChecker {
  const sends = new Map<string, Sent>();
  return {
    name: "leases, delays and stamps go by the store's time",
    arrived: ({ request, arrivedAt }) => {
      if (request.kind === 'send')
        for (const { content, delaySeconds } of request.entries)
          sends.set(markerOf(content.body), { arrivedAt, delaySeconds });
      return undefined;
    },
    diff: (diff) => {
      const error = world.clockErrorMillis();
      const wrong = error === undefined ? undefined : wrongLeases(diff, error);
      if (wrong) return `${diff.incarnation.queue}: ${wrong}`;
      for (const life of diff.born) {
        const sent = sends.get(markerOf(life.message.body));
        if (life.moved || !sent) continue;
        const why =
          wrongDelay(diff, life, sent, error) ??
          wrongStamp(diff, life, sent, world.stampErrorMillis(), error);
        if (why) return `${markerOf(life.message.body)} in ${diff.incarnation.queue}: ${why}`;
      }
      return undefined;
    },
  };
}

/** Whether an instant that the commit calls now is off; a commit may be as old as the engine lets it be. */
function offBy({ landing }: LandingDiff, nowMillis: number, error: number): string | undefined {
  const sentMillis = storeMillisAt(landing.sentAt);
  if (nowMillis > sentMillis + error) return `${nowMillis - sentMillis} ms ahead of the store`;
  if (nowMillis < sentMillis - error - defaultTiming.attemptAgeMaxMillis)
    return `${sentMillis - nowMillis} ms behind the store`;
  return undefined;
}

function wrongLeases(diff: LandingDiff, error: number): string | undefined {
  for (const [sequence, { token, leasedAtMillis }] of diff.after.deliveries) {
    if (diff.before?.deliveries.get(sequence)?.token === token) continue;
    const released = diff.before?.deliveries.get(sequence)?.leasedAtMillis === leasedAtMillis;
    const off = released ? undefined : offBy(diff, leasedAtMillis, error);
    if (off) return `sequence ${sequence} was leased ${off}`;
  }
  return undefined;
}

function wrongDelay(
  diff: LandingDiff,
  { sequence }: MessageLife,
  { delaySeconds, arrivedAt }: Sent,
  error: number | undefined,
): string | undefined {
  const delayMillis = (delaySeconds ?? resolveAttributes(diff.after.attributes).delaySeconds) * 1000;
  const dueAt = diff.after.delayed.get(sequence);
  if (delayMillis === 0) return dueAt === undefined ? undefined : 'it is delayed, and nobody asked';
  if (dueAt === undefined) return `it should be delayed by ${delayMillis} ms`;
  if (error === undefined) return undefined;
  const off = offBy(diff, dueAt - delayMillis, error);
  if (off) return `its delay of ${delayMillis} ms begins ${off}`;
  const early = storeMillisAt(arrivedAt) + delayMillis - dueAt;
  return early > error ? `its delay of ${delayMillis} ms ends ${early} ms early` : undefined;
}

/** Too high a stamp only keeps too long; too low a one ends a life before its time. */
function wrongStamp(
  { landing }: LandingDiff,
  { message }: MessageLife,
  { arrivedAt }: Sent,
  earlyMillisMax: number | undefined,
  error: number | undefined,
): string | undefined {
  const early = storeMillisAt(arrivedAt) - message.sentAtMillis;
  if (earlyMillisMax !== undefined && early > earlyMillisMax)
    return `its stamp is ${early} ms before the send`;
  const late = message.sentAtMillis - storeMillisAt(landing.sentAt);
  if (error !== undefined && late > error) return `its stamp is ${late} ms in the future`;
  return undefined;
}
