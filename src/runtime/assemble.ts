/**
 * One node, from configuration to open ports and back. The only place that knows all the parts: store → meter → probe →
 * watch → retries → queue service → SQS surface → listeners.
 *
 * Start: the health port first, so that a supervisor sees a living process while the store is being probed; the API
 * port last, so that nobody is answered by half a node. Stop: the same backwards.
 */
import type { Log } from '../engine/environment.ts';
import type { QueueService } from '../engine/queue-api.ts';
import { createQueueService, type Engine } from '../engine/queue-service.ts';
import { clockObjectKey } from '../format/object-keys.ts';
import { MeteredStore, type MeterSnapshot } from '../store/metered-store.ts';
import { RetryingStore } from '../store/retrying-store.ts';
import { formatAddress, type ListenAddress } from './addresses.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { createHealthApp, createHealthHandler, plainProblem, type Readiness } from './health-app.ts';
import { HttpListener } from './http-listener.ts';
import {
  CONNECTIONS_MAX,
  DRAIN_WITHIN_MILLIS,
  HEALTH_CONNECTIONS_MAX,
  STORE_ASKED_EVERY_MILLIS,
  STORE_FAILED_AFTER_MILLIS,
} from './limits.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { openStore, probeOpened } from './open-store.ts';
import type { Platform } from './platform.ts';
import { createSystemRandom } from './random.ts';
import { createSqsSurface } from './sqs-surface.ts';
import { StartFailure } from './start-failure.ts';
import { watchStore } from './store-health.ts';
import { VERSION } from './version.ts';

export interface NodeOptions {
  readonly config: Config;
  readonly platform: Platform;
  readonly log: Log;
  /** The node can't go on: its store was taken by another process. */
  readonly onLost: (error: Error) => void;
}

export interface RunningNode {
  readonly api: ListenAddress;
  readonly health: ListenAddress;
  /** Takes no new work, answers what waits, finishes commits, closes everything. */
  stop(): Promise<void>;
}

/** What the health port tells, which is up before the rest. */
interface Vitals {
  phase: 'starting' | 'ready' | 'stopping';
  storeFailingForMillis: () => number;
  engineCounters: () => Readonly<Record<string, number>>;
  storeUse: () => MeterSnapshot | undefined;
  connections: () => number;
}

/** In the order of starting; closed in the opposite order. */
type Closers = (() => Promise<void>)[];

/** @throws StartFailure for what the operator can mend; nothing is left open then. */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const vitals: Vitals = {
    phase: 'starting',
    storeFailingForMillis: () => 0,
    engineCounters: () => ({}),
    storeUse: () => undefined,
    connections: () => 0,
  };
  const closers: Closers = [];
  const stop = async () => {
    vitals.phase = 'stopping';
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const metrics = createMetrics({
      engineCounters: () => vitals.engineCounters(),
      storeUse: () => vitals.storeUse(),
      connections: () => vitals.connections(),
      version: VERSION,
      runtime: `${options.platform.name} ${options.platform.version}`,
    });
    const health = await startHealth(options, vitals, metrics, closers);
    const parts = await startQueueService(options, vitals, closers);
    const api = await startApi(options, vitals, parts.service, metrics, closers);
    vitals.phase = 'ready';
    return { api, health, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startHealth(
  { config, platform, log }: NodeOptions,
  vitals: Vitals,
  metrics: Metrics,
  closers: Closers,
): Promise<ListenAddress> {
  const app = createHealthApp(() => readiness(vitals), metrics);
  const listener = new HttpListener({
    platform,
    handler: createHealthHandler(app),
    problem: plainProblem,
    log,
    connectionsMax: HEALTH_CONNECTIONS_MAX,
  });
  const address = await listenOn(listener, 'OKURI_HEALTH_LISTEN', config.healthListen);
  closers.push(() => listener.stop(0));
  return address;
}

function readiness(vitals: Vitals): Readiness {
  if (vitals.phase !== 'ready') return { kind: 'not-ready', reason: vitals.phase };
  const failing = vitals.storeFailingForMillis();
  if (failing < STORE_FAILED_AFTER_MILLIS) return { kind: 'ready' };
  return { kind: 'not-ready', reason: `the store has failed for ${Math.floor(failing / 1_000)} s` };
}

async function startQueueService(options: NodeOptions, vitals: Vitals, closers: Closers): Promise<Engine> {
  const { config, log, onLost } = options;
  const around = { clock: systemClock, random: createSystemRandom(), log, onLost };
  const opened = await openStore(config.store, around);
  closers.push(() => opened.close());
  // The meter is under the retries, so that each request counts as often as it is sent.
  const metered = new MeteredStore(opened.store);
  vitals.storeUse = () => metered.snapshot();
  const probed = await probeOpened(opened, metered, around);
  // From here on only: the probe asks for refusals, and says by itself when the store is down.
  const health = watchStore(metered, around.clock, log, clockObjectKey(around.random.bytes(16)));
  vitals.storeFailingForMillis = health.failingForMillis;
  const asking = setInterval(() => void health.askWhenFailing(), STORE_ASKED_EVERY_MILLIS);
  asking.unref();
  closers.push(async () => clearInterval(asking));
  const store = new RetryingStore(health.store, around.clock, around.random);
  log.info('The store passed the probe', {
    store: opened.description,
    conditionalDelete: probed.conditionalDelete,
    listTags: probed.listTags,
  });
  const parts = createQueueService(
    { clock: around.clock, random: around.random, store, log },
    {
      accountId: config.accountId,
      region: config.region,
      lingerMillis: config.lingerMillis,
      cooldowns: config.cooldowns,
      conditionalDelete: probed.conditionalDelete,
      listTags: probed.listTags,
    },
  );
  vitals.engineCounters = () => ({ ...parts.counters() });
  closers.push(() => parts.stop());
  return parts;
}

async function startApi(
  { config, platform, log }: NodeOptions,
  vitals: Vitals,
  service: QueueService,
  metrics: Metrics,
  closers: Closers,
): Promise<ListenAddress> {
  const credentials = new Map(config.credentials.map((credential) => [credential.accessKeyId, credential]));
  const surface = createSqsSurface({
    service,
    credentialOf: (accessKeyId) => credentials.get(accessKeyId),
    digests: platform.digests,
    accountId: config.accountId,
    region: config.region,
    ...(config.publicUrl === undefined ? {} : { publicUrl: config.publicUrl }),
    trustProxy: config.trustProxy,
    nowMillis: () => systemClock.wallMillis(),
    requestId: () => crypto.randomUUID(),
    log: (message, fields) => log.error(message, fields),
  });
  const listener = new HttpListener({
    platform,
    handler: surface.handler,
    problem: surface.problem,
    log,
    connectionsMax: CONNECTIONS_MAX,
    observe: (action, status, seconds) => metrics.observeRequest(action, status, seconds),
  });
  vitals.connections = () => listener.connections();
  const address = await listenOn(listener, 'OKURI_LISTEN', config.listen);
  closers.push(() => listener.stop(DRAIN_WITHIN_MILLIS));
  return address;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is already in use by another process',
  EADDRNOTAVAIL: 'is no address of this machine',
  EACCES: 'may not be listened on by this user',
  ENOTFOUND: 'names no host',
};

async function listenOn(
  listener: HttpListener,
  variable: string,
  wanted: ListenAddress,
): Promise<ListenAddress> {
  try {
    const { address, port } = await listener.listen(wanted.host, wanted.port);
    return { host: address, port };
  } catch (error) {
    await listener.stop(0);
    const code = (error as { readonly code?: string }).code ?? 'failed';
    throw new StartFailure(
      `${variable} ${formatAddress(wanted)} ${REASONS[code] ?? `cannot be used (${code})`}`,
    );
  }
}
