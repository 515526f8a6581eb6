/** What the network and the store go through over time: outages of the store, partitions of one node, slow spells. */
import type { SimConfig } from './config.ts';
import type { Prng } from './prng.ts';
import type { Scheduler } from './scheduler.ts';
import type { Weather } from './sim-store.ts';

export class SimWeather implements Weather {
  faulty = true;
  readonly #downUntil: number[];
  #slowUntil = 0;
  #slowness = 1;
  readonly #scheduler: Scheduler;
  readonly #config: SimConfig;
  readonly #draw: Prng;
  readonly #tell: (text: string) => void;

  constructor(scheduler: Scheduler, config: SimConfig, draw: Prng, tell: (text: string) => void) {
    this.#scheduler = scheduler;
    this.#config = config;
    this.#draw = draw;
    this.#tell = tell;
    this.#downUntil = config.nodes.map(() => 0);
    if (config.outagesPerMinute > 0) this.#next();
  }

  downUntil(node: number): number {
    return this.faulty ? this.#downUntil[node]! : 0;
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

  #strike(): void {
    const { now } = this.#scheduler;
    const until = now + this.#config.outageMillisMax * this.#draw.unit();
    const kind = this.#draw.weighted({ store: 1, node: 2, slow: 2 });
    this.#tell(`weather ${kind} until ${until.toFixed(0)}`);
    if (kind === 'slow') {
      this.#slowUntil = until;
      this.#slowness = this.#draw.pick([3, 10, 40]);
    } else if (kind === 'store') this.#downUntil.fill(until);
    else this.#downUntil[this.#draw.between(0, this.#downUntil.length - 1)] = until;
  }
}
