/**
 * How far `collectedBelow` may be raised: to the newest version seen at least the lag ago, so that an upload slower
 * than a commit but quicker than the lag is never refused.
 */
const samplesMax = 64;

export class CollectionLag {
  readonly #lagMillis: number;
  /** Ascending in both. */
  #samples: { readonly version: number; readonly atMillis: number }[] = [];
  #below = 0;

  constructor(lagMillis: number) {
    this.#lagMillis = lagMillis;
  }

  sample(version: number, monotonicMillis: number): void {
    const last = this.#samples.at(-1);
    // Coarse on purpose: a sample for each 64th of the lag is plenty.
    if (last && monotonicMillis - last.atMillis < this.#lagMillis / samplesMax) return;
    if (!last || version > last.version) this.#samples.push({ version, atMillis: monotonicMillis });
    this.below(monotonicMillis);
  }

  below(monotonicMillis: number): number {
    const passed = this.#samples.filter((sample) => sample.atMillis <= monotonicMillis - this.#lagMillis);
    const newest = passed.at(-1);
    if (newest) {
      this.#below = newest.version;
      this.#samples = this.#samples.slice(passed.length);
    }
    return this.#below;
  }
}
