/**
 * A busy group keeps no other waiting, and nobody keeps the oldest waiting, where a standard queue has message groups:
 *   - what a group sends that has hardly sent anything is called quiet, while a heap of another group's waits;
 *   - of the never received that a commit hands out, no more than each fourth is not quiet, while quiet ones are left;
 *   - the oldest is handed out after three others, while nothing keeps anybody from reading it.
 */
import type { QueueState } from '../../../src/core/queue-state.ts';
import { first, has, rangeCount } from '../../../src/core/range-set.ts';
import { isFifoState } from '../fifo.ts';
import type { LandingDiff, MessageLife } from '../ledger.ts';
import type { Circumstances } from './all.ts';
import type { DiffChecker } from './check.ts';
import { leasedBy } from './leased.ts';

/** Counts halve each minute: what was sent within this time has been halved twice at most, by a clock that is a little off. */
const recentMillis = 30_000;
/** A quarter of those sent of late, and a quarter of that. */
const heap = 16;
const turn = 4;
/** What a receive under way has loaded may have failed until then. */
const settledMillis = 60_000;

interface Past {
  /** By group: all that it ever sent. */
  readonly sent: Map<string, number>;
  /** The oldest, and how many others were handed out since it was left. */
  oldest: number;
  passed: number;
  since: number;
}

export function fairTurnsChecker(world: Pick<Circumstances, 'limits' | 'undisturbedSince'>): DiffChecker {
  const pasts = new Map<string, Past>();
  return {
    name: 'message groups of a standard queue get their turns',
    diff: (diff) => {
      const { after, born } = diff;
      if (isFifoState(after) || after.fairness.rates.size === 0) return undefined;
      const past = pasts.get(after.incarnation) ?? { sent: new Map(), oldest: 0, passed: 0, since: 0 };
      pasts.set(after.incarnation, past);
      for (const { message } of born)
        if (message.groupId !== undefined)
          past.sent.set(message.groupId, (past.sent.get(message.groupId) ?? 0) + 1);
      return notQuiet(diff, past, world.limits.quietRangesMax) ?? wrongTurns(diff, past, world);
    },
  };
}

function notQuiet(
  { after, landing, born, incarnation }: LandingDiff,
  { sent }: Past,
  rangesMax: number,
): string | undefined {
  const { fairness } = after;
  if (rangeCount(fairness.quiet) >= rangesMax) return undefined;
  let largest = 0;
  let of: string | undefined;
  const heaps = new Map<string, number>();
  for (const { message, sequence, bornAt } of incarnation.live.values()) {
    const { groupId } = message;
    if (groupId === undefined || landing.at - bornAt > recentMillis || !has(after.ready, sequence)) continue;
    if (has(fairness.quiet, sequence)) continue;
    const size = (heaps.get(groupId) ?? 0) + 1;
    heaps.set(groupId, size);
    if (size > largest) [largest, of] = [size, groupId];
  }
  if (largest < turn * heap) return undefined;
  const wronged = ({ message, sequence }: MessageLife) => {
    const { groupId } = message;
    const count = groupId === undefined ? 1 : sent.get(groupId)!;
    return count * turn * turn < largest && has(after.ready, sequence) && !has(fairness.quiet, sequence);
  };
  const found = born.find(wronged);
  return (
    found &&
    `sequence ${found.sequence} of ${found.message.groupId} is not quiet behind ${largest} messages of ${of}`
  );
}

function wrongTurns(
  diff: LandingDiff,
  past: Past,
  world: Pick<Circumstances, 'undisturbedSince'>,
): string | undefined {
  const { before, after, landing } = diff;
  if (!before) return undefined;
  const handedOut = [...leasedBy(diff).surely].filter((sequence) => wasReady(before, sequence));
  const well = world.undisturbedSince(landing.node) < landing.at - settledMillis;
  const left = after.fairness.quiet;
  const quietLeft =
    first(left) !== undefined && has(before.fairness.quiet, first(left)!) && has(before.ready, first(left)!);
  const others = handedOut.filter(
    (sequence) => has(before.ready, sequence) && !has(before.fairness.quiet, sequence),
  );
  if (well && quietLeft && others.length > Math.ceil((handedOut.length + turn - 1) / turn))
    return `${others.length} of ${handedOut.length} were handed out before sequence ${first(left)}, which is quiet`;
  const oldest = first(after.ready) ?? 0;
  if (oldest === 0 || oldest !== past.oldest || !well || after.purgeWatermark > before.purgeWatermark) {
    past.oldest = oldest;
    past.passed = 0;
    past.since = after.version;
    return undefined;
  }
  past.passed += handedOut.length;
  return past.passed >= turn
    ? `sequence ${oldest} is the oldest, and ${past.passed} others were handed out since version ${past.since}`
    : undefined;
}

/** For the first time, and not because of a delay. */
function wasReady(before: QueueState, sequence: number): boolean {
  return !before.deliveries.has(sequence) && !before.delayed.has(sequence) && !before.intents.has(sequence);
}
