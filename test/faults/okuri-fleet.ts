/**
 * Several okuri processes, each behind a door of its own to the store, and what happens to them: killed, paused longer
 * than any timeout and resumed (a zombie with stale caches), stopped in order, cut off from the store, started again on
 * their old ports. What their /metrics counted is kept over their deaths.
 */
import { join } from 'node:path';
import type { Door, FaultProxy } from './fault-proxy.ts';
import { type OkuriProcess, pause, startOkuri } from './okuri-process.ts';
import type { SeededRandom } from './random.ts';

/** Commit windows differ, so that the nodes don't go in step. */
const lingerMillis = [20, 100, 50];
export const pauseMillisMax = 20_000;
const metricsEveryMillis = 1_000;

interface Seat {
  readonly index: number;
  readonly door: Door;
  readonly logFile: string;
  node: OkuriProcess;
  /** Something is happening to it. */
  busy: boolean;
  /** Deaths of it are ours. */
  expectsEnd: boolean;
  readonly url: string;
}

export class OkuriFleet {
  /** What happened, by kind. */
  readonly counts = new Map<string, number>();
  /** What no node may do: end by itself, or not end when asked on a store that works. */
  readonly mishaps: string[] = [];
  readonly #random: SeededRandom;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #port: number;
  readonly #seats: Seat[] = [];
  readonly #happening = new Set<Promise<void>>();
  /** The last counters seen of each process that ever ran. */
  readonly #metrics = new Map<number, ReadonlyMap<string, number>>();
  #over = false;

  /** Two ports for each node from `port` on. */
  constructor(port: number, environment: Readonly<Record<string, string>>, random: SeededRandom) {
    this.#port = port;
    this.#environment = environment;
    this.#random = random;
  }

  get urls(): readonly string[] {
    return this.#seats.map(({ url }) => url);
  }

  get logFiles(): readonly string[] {
    return this.#seats.map(({ logFile }) => logFile);
  }

  async start(doors: readonly Door[], folder: string): Promise<void> {
    for (const [index, door] of doors.entries()) {
      const logFile = join(folder, `node-${index}.log`);
      const node = await this.#launch(index, door, logFile);
      const seat: Seat = { index, door, logFile, node, busy: false, expectsEnd: false, url: node.url };
      this.#seats.push(seat);
      this.#watch(seat);
    }
    void this.#readMetrics();
  }

  /** One misfortune after another until `over` says so; then everybody is brought back. */
  async suffer(over: () => boolean, proxy: FaultProxy): Promise<void> {
    const random = this.#random;
    while (!over()) {
      await pause(random.between(300, 4_000));
      if (random.chance(0.2)) proxy.changeRegime();
      if (random.chance(0.02)) this.#cutAll();
      const idle = this.#seats.filter(({ busy }) => !busy);
      const seat = idle[random.between(0, idle.length - 1)];
      // One node is mostly left in peace, or nothing would get done; at times none is.
      if (seat === undefined || (idle.length === 1 && !random.chance(0.1))) continue;
      const work = this.#happen(seat);
      this.#happening.add(work);
      void work.finally(() => this.#happening.delete(work));
    }
    await Promise.all(this.#happening);
  }

  /** @returns the sum over all processes that ever ran. */
  async metrics(): Promise<ReadonlyMap<string, number>> {
    await Promise.all(this.#seats.map((seat) => this.#readMetricsOf(seat)));
    const sums = new Map<string, number>();
    for (const counters of this.#metrics.values())
      for (const [name, value] of counters) sums.set(name, (sums.get(name) ?? 0) + value);
    return sums;
  }

  async stop(): Promise<readonly (number | null)[]> {
    this.#over = true;
    return Promise.all(
      this.#seats.map((seat) => {
        seat.expectsEnd = true;
        return seat.node.stop();
      }),
    );
  }

  async #happen(seat: Seat): Promise<void> {
    seat.busy = true;
    try {
      const draw = this.#random.unit();
      if (draw < 0.35) await this.#kill(seat);
      else if (draw < 0.65) await this.#freeze(seat);
      else if (draw < 0.9) await this.#cut(seat);
      else await this.#restart(seat);
    } catch (error) {
      this.mishaps.push(error instanceof Error ? error.message : String(error));
    } finally {
      seat.busy = false;
    }
  }

  async #kill(seat: Seat): Promise<void> {
    this.#count('kills');
    seat.expectsEnd = true;
    await seat.node.kill();
    await pause(this.#random.between(0, 4_000));
    await this.#relaunch(seat);
  }

  /** Longer than the visibility timeouts of the clients, mostly; some zombies never wake up. */
  async #freeze(seat: Seat): Promise<void> {
    this.#count('pauses');
    process.kill(seat.node.pid, 'SIGSTOP');
    await pause(this.#random.between(1_000, pauseMillisMax));
    if (this.#random.chance(0.15)) return this.#kill(seat);
    process.kill(seat.node.pid, 'SIGCONT');
    await pause(this.#random.between(0, 3_000));
  }

  async #cut(seat: Seat): Promise<void> {
    this.#count('nodes cut off from the store');
    const millis = this.#random.between(500, 12_000);
    seat.door.cut(this.#random.chance(0.5) ? 'silent' : 'reset', millis);
    await pause(millis);
  }

  #cutAll(): void {
    this.#count('store cut off from all nodes');
    const millis = this.#random.between(500, 6_000);
    for (const { door } of this.#seats) door.cut('reset', millis);
  }

  async #restart(seat: Seat): Promise<void> {
    this.#count('restarts in order');
    seat.expectsEnd = true;
    const code = await seat.node.stop();
    if (code !== 0) this.#count(`restarts in order that ended with ${code}`);
    await this.#relaunch(seat);
  }

  async #relaunch(seat: Seat): Promise<void> {
    seat.node = await this.#launch(seat.index, seat.door, seat.logFile);
    seat.expectsEnd = false;
    this.#watch(seat);
  }

  async #launch(index: number, door: Door, logFile: string): Promise<OkuriProcess> {
    door.spared = true;
    try {
      return await startOkuri({
        port: this.#port + 2 * index,
        healthPort: this.#port + 2 * index + 1,
        environment: {
          ...this.#environment,
          OKURI_S3_ENDPOINT: door.endpoint,
          OKURI_LINGER_MS: `${lingerMillis[index % lingerMillis.length]}`,
        },
        logFile,
      });
    } finally {
      door.spared = false;
    }
  }

  #watch(seat: Seat): void {
    const { node } = seat;
    void node.ended.then((code) => {
      if (!seat.expectsEnd) this.mishaps.push(`node ${seat.index} ended by itself with ${code}`);
    });
  }

  async #readMetrics(): Promise<void> {
    while (!this.#over) {
      await Promise.all(this.#seats.map((seat) => this.#readMetricsOf(seat)));
      await pause(metricsEveryMillis);
    }
  }

  /** Of a node that is away the last reading stands. */
  async #readMetricsOf({ node }: Seat): Promise<void> {
    try {
      const signal = AbortSignal.timeout(500);
      const text = await (await fetch(`${node.healthUrl}/metrics`, { signal })).text();
      const counters = new Map<string, number>();
      for (const line of text.split('\n')) {
        const sample = /^(okuri_[a-z0-9_]+_total)(?:\{[^}]*\})? (\S+)/.exec(line);
        const [, name, value] = sample ?? [];
        if (name !== undefined) counters.set(name, (counters.get(name) ?? 0) + Number(value));
      }
      if (counters.size > 0) this.#metrics.set(node.pid, counters);
    } catch {
      // Killed, paused, or starting.
    }
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}
