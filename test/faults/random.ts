/** Seeded random numbers for test clients: one seed printed at the start repeats every client's choices. */
export interface SeededRandom {
  /** Uniform in [0, 1). */
  unit(): number;
  /** Uniform among the whole numbers from `low` to `high`, both included. */
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  /** An independent stream, so that clients don't disturb each other's choices. */
  fork(): SeededRandom;
}

/** mulberry32 */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const unit = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    unit,
    between: (low, high) => low + Math.floor(unit() * (high - low + 1)),
    chance: (probability) => unit() < probability,
    fork: () => seededRandom(Math.floor(unit() * 2 ** 32)),
  };
}
