/** Which messages one landing leased to receives, as its two states tell. */
import type { LandingDiff } from '../ledger.ts';

export interface LeasedNow {
  readonly surely: ReadonlySet<number>;
  /** Besides these, what came from another queue and may have been leased at once, for no time. */
  readonly perhaps: ReadonlySet<number>;
}

export function leasedBy({ before, after, born }: LandingDiff): LeasedNow {
  const surely = new Set<number>();
  const perhaps = new Set<number>();
  for (const [sequence, delivery] of after.deliveries) {
    const previous = before?.deliveries.get(sequence);
    if (previous?.token === delivery.token) continue;
    const { receiveCount, visibleAtMillis, leasedAtMillis } = delivery;
    const intent = before?.intents.get(sequence);
    // Given back: the count is lower by one, unless it was leased again at once.
    if (previous && receiveCount < previous.receiveCount) continue;
    if (intent && receiveCount <= intent.receiveCount) continue;
    perhaps.add(sequence);
    const moved = born.some((life) => life.sequence === sequence && life.moved);
    if (!moved || visibleAtMillis > leasedAtMillis) surely.add(sequence);
  }
  return { surely, perhaps };
}
