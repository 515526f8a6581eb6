/** Many numbers in little memory: a row writes a million manifests, and its memory is what is measured. */
export class Sizes {
  #values = new Float64Array(1024);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get sum(): number {
    return this.#values.subarray(0, this.#count).reduce((sum, value) => sum + value, 0);
  }

  add(value: number): void {
    if (this.#count === this.#values.length) {
      const grown = new Float64Array(this.#count * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#count++] = value;
  }

  /** NaN when there are none. */
  quantile(part: number): number {
    const sorted = this.#values.slice(0, this.#count).sort();
    return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
  }

  get max(): number {
    return this.quantile(1);
  }

  get median(): number {
    return this.quantile(0.5);
  }
}
