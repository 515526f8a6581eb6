/**
 * One seed from beginning to end: create the queues, let clients and faults loose (safety), heal and drain (liveness),
 * sweep, and look at what is left.
 */
import { Bucket } from './bucket.ts';
import { createRequest, SimClient } from './clients.ts';
import { Cluster } from './cluster.ts';
import { drawConfig, type SimConfig } from './config.ts';
import { Court, type Failure } from './court.ts';
import type { Landing } from './history.ts';
import { storeMillisAt } from './life.ts';
import {
  buryEverything,
  createEverywhere,
  drainEverything,
  endTasks,
  giveBackEverywhere,
  sweepEverything,
  wakeEverywhere,
} from './liveness.ts';
import { Prng } from './prng.ts';
import { Reached, type ReachedKind } from './reached.ts';
import { Scheduler } from './scheduler.ts';
import { noTrace, type Trace } from './trace.ts';
import { outliveIds, undelayGroups, unlockGroups } from './unlock.ts';
import { wakeForPages } from './wake-for-pages.ts';
import { SimWeather } from './weather.ts';

const minute = 60_000;
/** Virtual time that clients get for their calls; slow seeds make fewer. */
const safetyMillisMax = 20 * minute;
const phaseMillisMax = 60 * 60 * minute;

export interface RunResult {
  readonly config: SimConfig;
  readonly failure: Failure | undefined;
  readonly calls: number;
  readonly landings: number;
  readonly storeRequests: number;
  readonly events: number;
  readonly endedAt: number;
  /** Of the stream that everything else was derived from: equal in two equal runs. */
  readonly nextRandom: number;
  readonly reached: ReadonlyMap<ReachedKind, number>;
}

export async function runSeed(seed: string, trace: Trace = noTrace, calls?: number): Promise<RunResult> {
  const config = drawConfig(seed, calls);
  const scheduler = new Scheduler();
  const draw = new Prng(seed);
  const say = (text: string) => trace.on && trace.line(scheduler.now, text);
  const reached = new Reached();
  const weather = new SimWeather(scheduler, config, draw.stream('weather'), say, reached);
  const bucket: Bucket = new Bucket(() => storeMillisAt(scheduler.now), config.dateResolutionMillis, {
    changed: (from, key, body) => {
      const landing = court.changed(from, key, body, storeMillisAt(scheduler.now));
      if (landing) say(describeLanding(landing));
    },
  });
  const court: Court = new Court(
    () => scheduler.now,
    (key) => bucket.peek(key)?.body,
    reached,
    {
      liesTold: () => cluster.clocks.liesTold,
      aborts: () => cluster.aborts,
      clockErrorMillis: () => cluster.clocks.clockErrorMillis(),
      stampErrorMillis: () => cluster.clocks.stampErrorMillis(),
      sleepHidden: () => cluster.clocks.sleepHidden(),
      limits: config.limits,
      undisturbedSince: (node) => cluster.undisturbedSince(node),
      droughtMillisMax: config.droughtMillisMax,
      present: (key) => bucket.peek(key) !== undefined,
    },
  );
  const cluster: Cluster = new Cluster({
    scheduler,
    config,
    bucket,
    court,
    weather,
    reached,
    draw,
    trace,
  });
  const phases = playPhases({ scheduler, config, bucket, court, cluster, weather, draw });
  let over = false;
  phases.then(
    () => {
      over = true;
    },
    (error: unknown) => court.fail('the simulation itself works', String(error)),
  );
  await scheduler.run(() => over || court.failure !== undefined, phaseMillisMax);
  if (!over && !court.failure) court.fail('everything ends', 'some call was never answered');
  cluster.end();
  return {
    config,
    failure: court.failure,
    calls: cluster.calls,
    landings: court.landings,
    storeRequests: cluster.storeRequests,
    events: scheduler.events,
    endedAt: scheduler.now,
    reached: reached.counts,
    nextRandom: draw.unit() + cluster.nodes.reduce((sum, { life }) => sum + life.monotonicMillis(), 0),
  };
}

interface Stage {
  readonly scheduler: Scheduler;
  readonly config: SimConfig;
  readonly bucket: Bucket;
  readonly court: Court;
  readonly cluster: Cluster;
  readonly weather: SimWeather;
  readonly draw: Prng;
}

async function playPhases(stage: Stage): Promise<void> {
  const { scheduler, config, bucket, court, cluster, weather, draw } = stage;
  await createQueues(stage);
  const until = scheduler.now + safetyMillisMax;
  const goesOn = () => cluster.calls < config.calls && scheduler.now < until;
  const world = { scheduler, config, cluster, goesOn };
  await Promise.all(
    config.clients.map((_, index) => new SimClient(world, index, draw.stream(`client ${index}`)).run()),
  );
  weather.heal();
  cluster.heal();
  await scheduler.sleep(
    Math.max(config.lateMillisMax, config.pauseMillisMax) + config.requestTimeoutMillis + 20_000,
  );
  await drainEverything(stage);
  if (court.failure) return;
  await endTasks(stage);
  if (court.failure) return;
  await undelayGroups(stage);
  await wakeEverywhere(stage);
  if (court.failure) return;
  await createEverywhere(stage);
  if (court.failure) return;
  await giveBackEverywhere(stage);
  if (court.failure) return;
  await unlockGroups(stage);
  if (court.failure) return;
  await wakeForPages(stage);
  if (court.failure) return;
  await outliveIds(stage);
  await sweepEverything(stage);
  court.finished(bucket.keys());
  if (court.failure) return;
  // The process that sweeps goes on, and what it has just written is no left-over.
  const old = (key: string) => bucket.peek(key)!.writtenAtMillis < storeMillisAt(scheduler.now) - minute;
  await buryEverything(stage, () => bucket.keys().filter(old));
}

/** Dead-letter queues first, since a policy must name one that is there. */
async function createQueues({ scheduler, config, cluster }: Stage): Promise<void> {
  for (const queue of config.queues.toReversed())
    for (let tries = 0; tries < 50; tries++) {
      const node = (tries + queue.name.length) % config.nodes.length;
      const reply = await cluster.call(-3, node, createRequest(queue, 2), { timeoutMillis: 30_000 });
      if (reply.kind === 'answer' && (reply.answer.kind === 'created' || reply.answer.kind === 'exists'))
        break;
      await scheduler.sleep(1_000);
    }
}

function describeLanding({ node, queue, after, storedAfter }: Landing): string {
  if (!after) return `n${node}: ${queue} is gone`;
  if (after.kind === 'tombstone') return `n${node}: ${queue} has a tombstone`;
  const { version, ready, delayed, deliveries, tail, segments, intents } = after.state;
  const { delayedPages, leasePages, readyPages, segmentsPages } = storedAfter!;
  return `n${node}: ${queue} version ${version} (ready ${ready.length / 2} ranges, delayed ${delayed.size}, deliveries ${deliveries.size}, tail ${tail.size}, segments ${segments.size}, intents ${intents.size}, pages ${delayedPages.size} delayed, ${leasePages.size} lease, ${readyPages.size} ready, ${segmentsPages.size} segments)`;
}
