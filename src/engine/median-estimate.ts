/**
 * The median of the latest samples. A mean would follow a single request that hung for seconds or went over a cold
 * connection, and the windows of every writer would follow the mean.
 */
const samplesMax = 31;

export class MedianEstimate {
  readonly #samples: number[] = [];
  #value = 0;

  /** 0 before the first sample. */
  get value(): number {
    return this.#value;
  }

  sampled(value: number): void {
    this.#samples.push(value);
    if (this.#samples.length > samplesMax) this.#samples.shift();
    const sorted = [...this.#samples].sort((a, b) => a - b);
    this.#value = sorted[(sorted.length - 1) >> 1]!;
  }
}
