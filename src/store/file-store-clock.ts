/**
 * The file store's own time: the local wall clock, never backwards (DESIGN.md section 7).
 *
 * While the wall clock is behind what was already told, time goes on at the rate of the monotonic clock instead of
 * standing still: a clock that had been set a year ahead for a minute must not freeze every visibility timeout for
 * a year. What was told before a restart is handed in as the floor.
 */

export interface LocalClocks {
  /** Milliseconds since the Unix epoch; may step. */
  wallMillis(): number;
  /** Milliseconds from any start; never backwards. */
  monotonicMillis(): number;
}

export class FileStoreClock {
  readonly #clocks: LocalClocks;
  #toldMillis: number;
  #toldAtMonotonicMillis: number;

  constructor(clocks: LocalClocks, floorMillis: number) {
    this.#clocks = clocks;
    this.#toldMillis = floorMillis;
    this.#toldAtMonotonicMillis = clocks.monotonicMillis();
  }

  /** Whole milliseconds, never less than before; `behind`: the wall clock was, so the told time must be remembered. */
  read(): { readonly millis: number; readonly behind: boolean } {
    const monotonic = this.#clocks.monotonicMillis();
    const wall = this.#clocks.wallMillis();
    const carried = this.#toldMillis + (monotonic - this.#toldAtMonotonicMillis);
    this.#toldMillis = Math.max(wall, carried);
    this.#toldAtMonotonicMillis = monotonic;
    // The two clocks tick differently by parts of a millisecond: only a real step counts as behind.
    return { millis: Math.floor(this.#toldMillis), behind: carried - wall > BEHIND_MILLIS };
  }
}

const BEHIND_MILLIS = 1_000;
