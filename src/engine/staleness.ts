/**
 * How often this loop's view turned out to be stale when it wanted to commit. A read before the swap costs a GET each
 * time and saves a lost swap (and the same GET) when the view was stale: it pays when that happens more often than
 * the price of a GET in PUTs.
 */
const weight = 0.1;

export class Staleness {
  #share = 0;

  /** About one sample in ten counts. */
  get share(): number {
    return this.#share;
  }

  sampled(stale: boolean): void {
    this.#share += weight * ((stale ? 1 : 0) - this.#share);
  }
}
