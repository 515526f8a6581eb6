/**
 * What the network and the store go through over time: outages of the store, partitions of one node, slow spells, and
 * spells in which the store refuses a node's requests (403).
 */
import type { SimConfig } from './config.ts';
import type { Prng } from './prng.ts';
import type { Reached } from './reached.ts';
import type { Scheduler } from './scheduler.ts';
import type { Weather } from './sim-store.ts';

export class SimWeather implements Weather {
  faulty = true;
  readonly #downUntil: number[];
  readonly #deniedUntil: number[];
  #slowUntil = 0;
  #slowness = 1;
  readonly #scheduler: Scheduler;
  readonly #config: SimConfig;
  readonly #draw: Prng;
  readonly #tell: (text: string) => void;
  readonly #reached: Reached;

  constructor(
    scheduler: Scheduler,
    config: SimConfig,
    draw: Prng,
    tell: (text: string) => void,
    reached: Reached,
  ) {
    this.#reached = reached;
    this.#scheduler = scheduler;
    this.#config = config;
    this.#draw = draw;
    this.#tell = tell;
    this.#downUntil = config.nodes.map(() => 0);
    this.#deniedUntil = config.nodes.map(() => 0);
    if (config.outagesPerMinute > 0) this.#next();
    if (config.denialsPerMinute > 0) this.#denyNext(draw.stream('denials'));
  }

  downUntil(node: number): number {
    return this.faulty ? this.#downUntil[node]! : 0;
  }

  deniedUntil(node: number): number {
    return this.faulty ? this.#deniedUntil[node]! : 0;
  }

  slowness(): number {
    return this.faulty && this.#scheduler.now < this.#slowUntil ? this.#slowness : 1;
  }

  heal(): void {
    this.faulty = false;
  }

  #next(): void {
    const gapMillis = (60_000 / this.#config.outagesPerMinute) * 2 * this.#draw.unit();
    this.#scheduler.at(this.#scheduler.now + gapMillis, () => {
      if (!this.faulty) return 'quiet';
      this.#strike();
      this.#next();
      return 'quiet';
    });
  }

  #denyNext(draw: Prng): void {
    const gapMillis = (60_000 / this.#config.denialsPerMinute) * 2 * draw.unit();
    this.#scheduler.at(this.#scheduler.now + gapMillis, () => {
      if (!this.faulty) return 'quiet';
      const node = draw.between(0, this.#deniedUntil.length - 1);
      const until = this.#scheduler.now + this.#config.outageMillisMax * draw.unit();
      this.#tell(`weather denied to n${node} until ${until.toFixed(0)}`);
      this.#deniedUntil[node] = until;
      this.#denyNext(draw);
      return 'quiet';
    });
  }

  #strike(): void {
    const { now } = this.#scheduler;
    const until = now + this.#config.outageMillisMax * this.#draw.unit();
    const kind = this.#draw.weighted({ store: 1, node: 2, slow: 2 });
    this.#tell(`weather ${kind} until ${until.toFixed(0)}`);
    if (kind === 'slow') this.#reached.note('the store is slow for a while');
    else if (kind === 'node') this.#reached.note('a node is cut off from the store');
    else if (until - now > 60_000) this.#reached.note('the store is away for more than a minute');
    if (kind === 'slow') {
      this.#slowUntil = until;
      this.#slowness = this.#draw.pick([3, 10, 40]);
    } else if (kind === 'store') this.#downUntil.fill(until);
    else this.#downUntil[this.#draw.between(0, this.#downUntil.length - 1)] = until;
  }
}
