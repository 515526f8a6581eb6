/**
 * Whether to look at many waited queues by one LIST, which shows the tags of up to a thousand manifests, or by a GET
 * of each. Pure. Prices are counted in GETs.
 *
 * A queue of interval I costs 1 / I a second by GET. A LIST every T serves all whose interval is at least T, for
 * `price` / T, and saves their GETs except of those whose tag turns out to differ. The faster ones keep their GETs:
 * one queue with traffic must not make everybody's LIST follow its pace.
 */
export interface WaitedPace {
  readonly intervalMillis: number;
  /** How often a look at it found another content, 0 to 1: then the LIST was paid besides the GET. */
  readonly changedShare: number;
}

/** The interval at which a LIST of these queues saves most; undefined when it saves nothing. */
export function listPace(waited: readonly WaitedPace[], price: number): number | undefined {
  // Intervals are few, and this is asked at each look of thousands of queues: they are summed up, not sorted.
  const sparedEach = new Map<number, number>();
  for (const { intervalMillis, changedShare } of waited)
    sparedEach.set(intervalMillis, (sparedEach.get(intervalMillis) ?? 0) + 1 - changedShare);
  let best: number | undefined;
  let mostSaved = 0;
  let spared = 0;
  for (const [intervalMillis, each] of [...sparedEach].sort(([a], [b]) => b - a)) {
    spared += each / intervalMillis;
    const saved = spared - price / intervalMillis;
    if (saved <= mostSaved) continue;
    mostSaved = saved;
    best = intervalMillis;
  }
  return best;
}

/**
 * Whether to list now, at that pace, and not when all are due: what is due already must be worth what is thrown away
 * of the last LIST. So one late comer is read alone, and a crowd of them is not.
 */
export function worthListing(
  dueNow: readonly WaitedPace[],
  sinceLastListMillis: number,
  paceMillis: number,
  price: number,
): boolean {
  const spared = dueNow.reduce((sum, { changedShare }) => sum + 1 - changedShare, 0);
  return spared > price * (1 - Math.min(1, sinceLastListMillis / paceMillis));
}
