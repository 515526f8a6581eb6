/**
 * A running median in one number: each sample moves it a small step up or down. A mean would follow a single request
 * that hung for seconds, and every writer's pace would follow the mean.
 */
const step = 1.05;

export class MedianEstimate {
  #value = 0;

  /** 0 before the first sample. */
  get value(): number {
    return this.#value;
  }

  sampled(value: number): void {
    if (this.#value === 0) this.#value = value;
    else if (value > this.#value) this.#value *= step;
    else if (value < this.#value) this.#value /= step;
  }
}
