/**
 * Whether a body comes fast enough. It starts with patience for `patienceMillis`; time uses it up, each byte buys some
 * at the least pace, and nothing is saved beyond what it started with. So a body that stalls ends, one that drips ends,
 * and one that was nearly sent at once in order to hold memory ends as soon as they do.
 */
export interface Pace {
  readonly patienceMillis: number;
  readonly bytesPerSecondMin: number;
}

export class BodyPace {
  readonly #pace: Pace;
  #untilMillis: number;
  #bytesRead: number;

  /** `bytesRead` counts from anywhere: the socket's own count. */
  constructor(pace: Pace, nowMillis: number, bytesRead: number) {
    this.#pace = pace;
    this.#untilMillis = nowMillis + pace.patienceMillis;
    this.#bytesRead = bytesRead;
  }

  isTooSlow(nowMillis: number, bytesRead: number): boolean {
    const boughtMillis = ((bytesRead - this.#bytesRead) / this.#pace.bytesPerSecondMin) * 1_000;
    this.#bytesRead = bytesRead;
    this.#untilMillis = Math.min(nowMillis + this.#pace.patienceMillis, this.#untilMillis + boughtMillis);
    return nowMillis > this.#untilMillis;
  }
}
