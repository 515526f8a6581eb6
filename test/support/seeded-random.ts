/** Randomness that a seed replays (SplitMix32). */
import type { Random } from '../../src/engine/environment.ts';

export class SeededRandom implements Random {
  #state: number;
  /** Called before bytes are drawn: a test may let time pass in the middle of an engine's synchronous work. */
  onBytes: ((count: number) => void) | undefined;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  unit(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let mixed = this.#state ^ (this.#state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000;
  }

  bytes(count: number): Uint8Array {
    this.onBytes?.(count);
    return Uint8Array.from({ length: count }, () => Math.floor(this.unit() * 256));
  }
}
