/**
 * The one source of randomness of a simulation: sfc32, seeded by text, so that each part draws from a stream of its
 * own (`<seed>/<part>`) and a change in one part does not shift the draws of another.
 *
 * No Math.log or Math.exp: engines differ in their last digit, and a seed must replay alike on Node, Bun and Deno.
 * Skewed distributions come from tables instead.
 */
import type { Random } from '../../src/engine/environment.ts';

export class Prng implements Random {
  readonly #name: string;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(name: string) {
    this.#name = name;
    this.#a = hashed(name, 0x9e3779b9);
    this.#b = hashed(name, 0x243f6a88);
    this.#c = hashed(name, 0xb7e15162);
    for (let i = 0; i < 12; i++) this.#next();
  }

  /** A stream of its own, independent of how far this one was drawn. */
  stream(part: string): Prng {
    return new Prng(`${this.#name}/${part}`);
  }

  #next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  unit(): number {
    return this.#next() / 0x1_0000_0000;
  }

  bytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count);
    for (let i = 0; i < count; i += 4) {
      const word = this.#next();
      for (let j = 0; j < 4 && i + j < count; j++) bytes[i + j] = word >>> (8 * j);
    }
    return bytes;
  }

  chance(probability: number): boolean {
    return probability > 0 && this.unit() < probability;
  }

  /** An integer from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.unit() * (most - least + 1));
  }

  real(least: number, most: number): number {
    return least + this.unit() * (most - least);
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.unit() * items.length)]!;
  }

  /** A key, by its weight. */
  weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key {
    const entries = Object.entries(weights) as [Key, number][];
    let rest = this.unit() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      rest -= weight;
      if (rest < 0) return key;
    }
    return entries.at(-1)![0];
  }

  /** About lognormal around `median` (sigma 0.45, cut at 12 times the median). */
  latency(median: number): number {
    const at = this.unit() * (latencyQuantiles.length - 1);
    const below = Math.floor(at);
    const low = latencyQuantiles[below]!;
    const factor = low + (latencyQuantiles[below + 1]! - low) * (at - below);
    // The last step of the table is its tail: a rare draw goes further.
    return median * (below === latencyQuantiles.length - 2 && this.unit() < 0.1 ? factor * 4 : factor);
  }
}

/** Quantiles 0, 0.05, … 1 of a lognormal with median 1. */
const latencyQuantiles = [
  0.3, 0.477, 0.562, 0.627, 0.685, 0.738, 0.79, 0.841, 0.892, 0.945, 1, 1.058, 1.121, 1.189, 1.266, 1.355,
  1.46, 1.594, 1.78, 2.096, 3,
];

/** FNV-1a with a finisher. */
function hashed(text: string, salt: number): number {
  let hash = (0x811c9dc5 ^ salt) | 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
