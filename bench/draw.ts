/**
 * Draws from the distributions that the cost simulation needs, by nothing but IEEE additions, multiplications,
 * divisions and square roots: `Math.log` and `Math.exp` differ in their last digit from engine to engine, and the
 * committed tables must come out alike everywhere.
 */
import { SeededRandom } from '../test/support/seeded-random.ts';

const ln2 = Math.LN2;
/** The 99th percentile of the standard normal distribution. */
const z99 = 2.3263478740408408;

export interface Latency {
  readonly medianMillis: number;
  readonly p99Millis: number;
}

export class Draw {
  readonly #random: SeededRandom;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  unit(): number {
    return this.#random.unit();
  }

  between(least: number, most: number): number {
    return least + (most - least) * this.unit();
  }

  below(count: number): number {
    return Math.floor(this.unit() * count);
  }

  exponential(mean: number): number {
    return -mean * logarithm(1 - this.unit());
  }

  lognormal({ medianMillis, p99Millis }: Latency): number {
    const sigma = logarithm(p99Millis / medianMillis) / z99;
    return medianMillis * exponential(sigma * this.#normal());
  }

  /** Marsaglia's polar method. */
  #normal(): number {
    for (;;) {
      const x = 2 * this.unit() - 1;
      const y = 2 * this.unit() - 1;
      const square = x * x + y * y;
      if (square > 0 && square < 1) return x * Math.sqrt((-2 * logarithm(square)) / square);
    }
  }
}

export function logarithm(value: number): number {
  let rest = value;
  let twos = 0;
  for (; rest < 0.75; rest *= 2) twos--;
  for (; rest > 1.5; rest /= 2) twos++;
  const ratio = (rest - 1) / (rest + 1);
  let power = ratio;
  let sum = 0;
  for (let n = 1; n < 28; n += 2) {
    sum += power / n;
    power *= ratio * ratio;
  }
  return 2 * sum + twos * ln2;
}

export function exponential(value: number): number {
  const twos = Math.round(value / ln2);
  const rest = value - twos * ln2;
  let term = 1;
  let sum = 1;
  for (let n = 1; n < 16; n++) {
    term *= rest / n;
    sum += term;
  }
  return twos < 0 ? sum / 2 ** -twos : sum * 2 ** twos;
}
