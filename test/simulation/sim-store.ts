/**
 * One process's way to the bucket: takes time, loses, doubles, delays and fails requests as its seed says. What lands
 * when, and what the process is told, are drawn apart, so a process may be told anything about a write that is true
 * of some real network. Over 300 lines: one way of writing has all its fates beside each other.
 */

import { pageKinds } from '../../src/core/pages.ts';
import { parseObjectKey } from '../../src/format/object-keys.ts';
import {
  type DeleteIfMatchOutcome,
  type DeleteOutcome,
  type ETag,
  type GetOutcome,
  type ListPage,
  type ListRequest,
  type ObjectStore,
  type PutIfAbsentOutcome,
  type PutIfMatchOutcome,
  type PutOutcome,
  StoreError,
  type StoreTime,
} from '../../src/store/object-store.ts';
import type { Bucket, RequestOrigin } from './bucket.ts';
import type { FaultRates, NodeConfig, SimConfig } from './config.ts';
import type { Life } from './life.ts';
import { Prng } from './prng.ts';
import type { ReachedKind } from './reached.ts';
import { never, type Scheduler } from './scheduler.ts';

type Method = keyof ObjectStore;
type WriteOutcome =
  | PutOutcome
  | PutIfAbsentOutcome
  | PutIfMatchOutcome
  | DeleteOutcome
  | DeleteIfMatchOutcome;

/** What a node's network and the store itself are going through now. */
export interface Weather {
  readonly faulty: boolean;
  /** Requests of this node get nowhere until then. */
  downUntil(node: number): number;
  /** Requests of this node are refused for good until then. */
  deniedUntil(node: number): number;
  /** Multiplies latencies. */
  slowness(): number;
}

export interface StoreWatcher {
  /** `pausedMillis`: how long the process stalled between its last statement and this request. */
  request(node: number, method: Method, key: string, fate: string, pausedMillis?: number): void;
  /** A `Date` that lies was told. */
  lied(): void;
  reached(kind: ReachedKind): void;
}

export interface Connection {
  readonly node: number;
  readonly life: Life;
  readonly bucket: Bucket;
  readonly scheduler: Scheduler;
  readonly config: SimConfig;
  readonly nodeConfig: NodeConfig;
  readonly weather: Weather;
  readonly draw: Prng;
  readonly watcher: StoreWatcher;
}

type WriteFate =
  | 'plain'
  | 'slowAnswer'
  | 'requestLost'
  | 'responseLost'
  | 'late'
  | 'duplicate'
  | 'doubled'
  | 'retried'
  | 'throttled'
  | 'errorAfter'
  | 'refused'
  | 'skewed';

const writeFates = [
  'slowAnswer',
  'requestLost',
  'responseLost',
  'late',
  'duplicate',
  'doubled',
  'retried',
  'throttled',
  'errorAfter',
  'refused',
  'skewed',
] as const satisfies readonly (keyof FaultRates)[];

const pageSpellMillis = 4_000;

/** Of one object, for a while. */
type ObjectFate = 'pageFailed' | 'bodyFailed';

export class SimStore implements ObjectStore {
  readonly #to: Connection;

  constructor(connection: Connection) {
    this.#to = connection;
  }

  get(key: string, options?: { readonly ifNoneMatch?: ETag }): Promise<GetOutcome> {
    return this.#read('get', key, () => this.#remembered(this.#to.bucket.get(key, options?.ifNoneMatch)));
  }
  list(request: ListRequest): Promise<ListPage> {
    return this.#read('list', request.prefix, () => this.#listed(this.#to.bucket.list(request)));
  }
  put(key: string, body: Uint8Array): Promise<PutOutcome> {
    return this.#write('put', key, (from) => this.#to.bucket.put(from, key, body));
  }
  putIfAbsent(key: string, body: Uint8Array): Promise<PutIfAbsentOutcome> {
    return this.#write('putIfAbsent', key, (from) => this.#to.bucket.putIfAbsent(from, key, body));
  }
  putIfMatch(key: string, body: Uint8Array, etag: ETag): Promise<PutIfMatchOutcome> {
    return this.#write('putIfMatch', key, (from) => this.#to.bucket.putIfMatch(from, key, body, etag));
  }
  delete(key: string): Promise<DeleteOutcome> {
    return this.#write('delete', key, (from) => this.#to.bucket.delete(from, key));
  }
  deleteIfMatch(key: string, etag: ETag): Promise<DeleteIfMatchOutcome> {
    return this.#write('deleteIfMatch', key, (from) => this.#to.bucket.deleteIfMatch(from, key, etag));
  }

  #halfMillis(median: number): number {
    return (this.#to.draw.latency(median) / 2) * this.#to.weather.slowness();
  }

  #read<O>(method: Method, key: string, act: () => O): Promise<O> {
    const { life, scheduler, config, nodeConfig, draw, watcher, node } = this.#to;
    life.touch();
    if (!life.alive) return never();
    const sentAt = life.now;
    const fate = this.#readFate(sentAt, method === 'get' ? key : undefined);
    watcher.request(node, method, key, fate);
    const there = this.#halfMillis(nodeConfig.getMillis);
    const back = this.#halfMillis(nodeConfig.getMillis);
    if (fate === 'denied' || fate === 'skewed') return this.#refused(fate, sentAt + there + back);
    return new Promise((resolve, reject) => {
      const fail = (atMillis: number, reason: string) =>
        life.at(atMillis, () => {
          this.#arrive(() =>
            reject(new StoreError(reason, { retryable: true, throttled: draw.chance(0.3) })),
          );
        });
      if (fate === 'down')
        fail(sentAt + (draw.chance(0.5) ? there : config.requestTimeoutMillis), 'simulated: down');
      else if (fate === 'readFailed' || fate === 'pageFailed' || fate === 'bodyFailed')
        fail(sentAt + there + back, 'simulated: 503');
      else if (fate === 'stalledBody') fail(sentAt + config.requestTimeoutMillis, 'simulated: stalled body');
      else
        scheduler.at(sentAt + there, () => {
          const outcome = act();
          life.at(scheduler.now + back, () => this.#arrive(() => resolve(outcome)));
          return 'quiet';
        });
    });
  }

  #readFate(
    sentAt: number,
    key: string | undefined,
  ): 'down' | 'denied' | 'readFailed' | ObjectFate | 'stalledBody' | 'skewed' | 'plain' {
    const { weather, node, draw, config } = this.#to;
    if (weather.downUntil(node) > sentAt) return 'down';
    if (weather.deniedUntil(node) > sentAt) return 'denied';
    if (!weather.faulty) return 'plain';
    for (const fate of ['readFailed', 'stalledBody', 'skewed'] as const)
      if (draw.chance(config.faults[fate])) return fate;
    return (key !== undefined && this.#objectFate(key, sentAt)) || 'plain';
  }

  /** For every node alike, and again and again: who retries must not get past it. */
  #objectFate(key: string, sentAt: number): ObjectFate | undefined {
    const { seed, faults } = this.#to.config;
    if (faults.pageFailed + faults.bodyFailed === 0) return undefined;
    const kind = parseObjectKey(key)?.kind;
    const isPage = pageKinds.some((page) => page === kind);
    if (!isPage && kind !== 'seg') return undefined;
    const fate = isPage ? 'pageFailed' : 'bodyFailed';
    const spell = Math.floor(sentAt / pageSpellMillis);
    return new Prng(`${seed}/unreadable/${key}/${spell}`).chance(faults[fate]) ? fate : undefined;
  }

  /** Nothing was written. */
  #refused(why: 'denied' | 'skewed', toldAt: number): Promise<never> {
    const error =
      why === 'denied'
        ? new StoreError('simulated: 403 AccessDenied', { retryable: false })
        : new StoreError('simulated: RequestTimeTooSkewed', { retryable: true });
    return new Promise((_, reject) => {
      this.#to.life.at(toldAt, () => this.#arrive(() => reject(error)));
    });
  }

  #write<O extends WriteOutcome>(method: Method, key: string, act: (from: RequestOrigin) => O): Promise<O> {
    const { life, scheduler, config, nodeConfig, draw, weather, watcher, node } = this.#to;
    // Before the process may stall: what it looked at last is not older than this.
    const from: RequestOrigin = { node, sentAt: life.now };
    life.touch();
    if (!life.alive) return never();
    const sentAt = life.now;
    if (weather.downUntil(node) > sentAt) return this.#down(method, key, sentAt);
    const fate = weather.deniedUntil(node) > sentAt ? 'denied' : this.#fate(method);
    watcher.request(node, method, key, fate, sentAt - from.sentAt);
    const there = this.#halfMillis(nodeConfig.putMillis);
    const back = this.#halfMillis(nodeConfig.putMillis);
    const landsAt = sentAt + there;
    const laterAt = landsAt + draw.unit() * config.lateMillisMax;
    const gaveUpAt = sentAt + (draw.chance(0.5) ? there + back : config.requestTimeoutMillis);
    const land = (at: number, answer?: (outcome: O) => void) =>
      scheduler.at(at, () => {
        const outcome = act(from);
        answer?.(outcome);
        return 'quiet';
      });
    if (fate === 'denied' || fate === 'skewed') return this.#refused(fate, landsAt + back);
    return new Promise((resolve) => {
      const tell = (at: number, outcome: O) => life.at(at, () => this.#arrive(() => resolve(outcome)));
      const tellAgain = (outcome: O) => {
        if (outcome.kind === 'conflict') watcher.reached('412 for what one itself has written');
        tellLanded(outcome);
      };
      const tellLanded = (outcome: O) => tell(scheduler.now + back, this.#dated(outcome));
      switch (fate) {
        case 'plain':
          land(landsAt, tellLanded);
          break;
        case 'slowAnswer': {
          const slowMillis = draw.unit() * draw.unit() * config.requestTimeoutMillis;
          land(landsAt, (outcome) => tell(landsAt + slowMillis, this.#dated(outcome)));
          break;
        }
        case 'requestLost':
          tell(gaveUpAt, unknown<O>('request lost'));
          break;
        case 'responseLost':
          land(landsAt);
          tell(gaveUpAt, unknown<O>('response lost'));
          break;
        case 'late':
          land(laterAt);
          tell(gaveUpAt, unknown<O>('timeout'));
          break;
        case 'duplicate':
          land(landsAt, tellLanded);
          land(laterAt);
          break;
        case 'doubled':
          land(landsAt);
          land(landsAt, tellAgain);
          break;
        case 'retried':
          land(landsAt);
          land(landsAt + draw.unit() * config.requestTimeoutMillis * 0.8, tellAgain);
          break;
        case 'throttled':
          tell(landsAt + back, unknown<O>('SlowDown', true));
          break;
        case 'errorAfter':
          land(landsAt);
          tell(landsAt + back, unknown<O>('500'));
          break;
        case 'refused':
          tell(landsAt + back, { kind: 'conflict' } as O);
      }
    });
  }

  /** Refused at once: nothing was written. Or nothing is heard: it may never have left. */
  #down<O>(method: Method, key: string, sentAt: number): Promise<O> {
    const { life, config, draw, watcher, node } = this.#to;
    watcher.request(node, method, key, 'down');
    return new Promise((resolve, reject) => {
      if (draw.chance(0.5))
        life.at(sentAt + 1, () =>
          this.#arrive(() => reject(new StoreError('simulated: connection refused', { retryable: true }))),
        );
      else
        life.at(sentAt + config.requestTimeoutMillis, () =>
          this.#arrive(() => resolve({ kind: 'unknown', throttled: false, reason: 'simulated: down' } as O)),
        );
    });
  }

  #fate(method: Method): WriteFate {
    const { draw, weather, config } = this.#to;
    if (!weather.faulty) return 'plain';
    for (const fate of writeFates) {
      if (!draw.chance(config.faults[fate])) continue;
      if (fate === 'refused' && !method.includes('If')) continue;
      return fate;
    }
    return 'plain';
  }

  /** The clock in an answer: mostly honest. */
  #dated<O extends WriteOutcome>(outcome: O): O {
    const { draw, weather, config, watcher } = this.#to;
    if (outcome.kind !== 'done' || !('time' in outcome)) return outcome;
    const honest = outcome.time as StoreTime | undefined;
    if (!honest || !weather.faulty) return outcome;
    if (draw.chance(config.faults.aged)) {
      watcher.reached('an answer has an Age and so no clock');
      return { ...outcome, time: undefined };
    }
    if (!draw.chance(config.faults.lie)) return outcome;
    watcher.lied();
    const offMillis = Math.floor(draw.real(-1, 1) * draw.pick([3_000, 120_000, 86_400_000]));
    return { ...outcome, time: { ...honest, millis: honest.millis + offMillis } };
  }

  #remembered(outcome: GetOutcome): GetOutcome {
    if (outcome.kind !== 'done') return outcome;
    return { ...outcome, lastModified: this.#modified(outcome.lastModified, 86_400_000) };
  }

  /** What lies further than that of a tombstone is beyond what okuri promises (docs/correctness.md). */
  #listed(page: ListPage): ListPage {
    const { weather, config } = this.#to;
    if (!weather.faulty || config.faults.modified === 0) return page;
    const most = (config.timing.tombstoneAgeMillis ?? 0) / 2;
    const objects = page.objects.map((listed) => ({
      ...listed,
      lastModified: this.#modified(listed.lastModified, most),
    }));
    return { ...page, objects };
  }

  #modified(honest: StoreTime, mostMillis: number): StoreTime {
    const { draw, weather, config, watcher } = this.#to;
    if (!weather.faulty || !draw.chance(config.faults.modified)) return honest;
    watcher.reached('Last-Modified lies');
    return { ...honest, millis: honest.millis + Math.floor(draw.real(-1, 1) * mostMillis) };
  }

  /** The process goes on with an answer, unless it dies or stalls just then. */
  #arrive(goOn: () => void): void {
    const { life } = this.#to;
    life.touch();
    if (!life.alive) return;
    if (life.now > this.#to.scheduler.now) life.at(life.now, goOn);
    else goOn();
  }
}

function unknown<O>(reason: string, throttled = false): O {
  return { kind: 'unknown', throttled, reason: `simulated: ${reason}` } as O;
}
