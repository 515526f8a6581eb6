/** What `just cost` measures: each run on a simulation of its own, seeded, so that the figures are those of the code. */
import { MemoryStore } from '../src/store/memory-store.ts';
import { DOLLARS_PER_MILLION } from '../src/store/metered-store.ts';
import { Scheduler } from '../test/simulation/scheduler.ts';
import { originMillis, simulatedNode } from './simulated-node.ts';
import { nearS3 } from './simulated-store.ts';
import { Workload, type WorkloadOptions, type WorkloadResult } from './workload.ts';

export interface CostRun {
  readonly group: 'end to end' | 'other loads' | 'produced' | 'consumed';
  readonly nodes: number;
  readonly ratePerSecond: number;
  readonly lingerMillis: number;
  readonly seconds: number;
  /** Of the group of other loads: what is other, in words and for the workload. */
  readonly other?: { readonly title: string; readonly load: Partial<WorkloadOptions> };
}

const usual = { nodes: 1, ratePerSecond: 100, lingerMillis: 100, seconds: 120 };

export const endToEndRuns: readonly CostRun[] = [
  ...[20, 100, 500].map((lingerMillis) => ({ ...usual, lingerMillis })),
  ...[2, 4, 8].map((nodes) => ({ ...usual, nodes })),
  { ...usual, ratePerSecond: 1, seconds: 1_200 },
  { ...usual, ratePerSecond: 10, seconds: 600 },
  { ...usual, ratePerSecond: 1_000, seconds: 30 },
].map((run) => ({ group: 'end to end' as const, ...run }));

/** Near `ratePerSecond` of 100: a worker of the simulation takes about 28 messages a second. */
const drainingWorkers = 4;

export const otherRuns: readonly CostRun[] = [
  { title: 'bodies of 10 KiB', load: { bodyBytes: 10 * 1024 } },
  {
    title: 'behind a backlog of 100,000 messages',
    load: { standing: 100_000, workersPerNode: drainingWorkers },
  },
  { title: 'one node sends, the other receives', load: { nodes: 2, lastOnlyConsumes: true } },
].map((other) => ({ ...usual, group: 'other loads', nodes: other.load.nodes ?? 1, other }));

export const oneSidedRuns: readonly CostRun[] = (['produced', 'consumed'] as const).flatMap((group) =>
  [20, 100, 500].map((lingerMillis) => ({ group, ...usual, seconds: 60, lingerMillis })),
);

export interface CostFigures {
  readonly run: CostRun;
  readonly result: WorkloadResult;
  /** What the requests are divided by. */
  readonly messages: number;
}

export async function measure(run: CostRun): Promise<CostFigures> {
  const { group, nodes, ratePerSecond, lingerMillis, seconds, other } = run;
  const common = { seed: 1, nodes, tuning: { lingerMillis } };
  if (group === 'consumed') {
    const backlog = ratePerSecond * seconds;
    const workers = { backlog, workersPerNode: drainingWorkers };
    const result = await new Workload({ ...common, ...workers, ratePerSecond: 0, seconds: 600 }).run();
    if (result.deleted < backlog) throw new Error(`${result.deleted} of ${backlog} messages were consumed`);
    return { run, result, messages: result.deleted };
  }
  const result = await new Workload({
    ...common,
    ratePerSecond,
    seconds,
    consume: group !== 'produced',
    ...other?.load,
  }).run();
  return { run, result, messages: group === 'produced' ? result.sent : (result.sent + result.deleted) / 2 };
}

export interface IdleFigures {
  /** Dollars a month, of one process that serves nothing: its daily sweep of the bucket. */
  readonly process: number;
  /** What a queue adds that nobody waits on. */
  readonly queue: number;
  /** What a receive adds that waits on a queue all month, on one node. */
  readonly waiting: number;
  readonly many: readonly ManyWaited[];
}

export interface ManyWaited {
  /** Queues, each with a receive that waits all month, on one node. */
  readonly queues: number;
  /** Dollars a month and queue, each read by itself. */
  readonly byGet: number;
  /** As it is: by LISTs where they cost less. */
  readonly asIs: number;
}

const minuteMillis = 60_000;
const dayMillis = 24 * 60 * 60 * 1000;
const daysPerMonth = 30;

export async function measureIdle(): Promise<IdleFigures> {
  const queues = 10;
  const alone = await idleDollars(0, 0, daysPerMonth);
  const many = await idleDollars(queues, 0, daysPerMonth);
  const quiet = await idleDollars(1, 0, 1);
  const waiting = await idleDollars(1, 1, 1);
  return {
    process: alone,
    // To a hundredth of a cent: when the sweeps fall differs by chance, and one more or less may fall into the month.
    queue: Math.max(0, Math.round(((many - alone) / queues) * 10_000) / 10_000),
    waiting: (waiting - quiet) * daysPerMonth,
    many: await Promise.all([10, 20, 100, 1_000].map(measureMany)),
  };
}

async function measureMany(queues: number): Promise<ManyWaited> {
  const days = (queues > 100 ? 2 : 20) / (24 * 60);
  const monthly = async (listTags: boolean) =>
    ((await idleDollars(queues, queues, days, listTags)) / queues / days) * daysPerMonth;
  return { queues, byGet: await monthly(false), asIs: await monthly(true) };
}

/** Of the time after the first two minutes, in which intervals grow to their full length. */
async function idleDollars(queues: number, waiters: number, days: number, listTags = true): Promise<number> {
  const scheduler = new Scheduler();
  const bucket = new MemoryStore({ nowMillis: () => Math.floor(originMillis + scheduler.now) });
  const node = simulatedNode(bucket, scheduler, 1, nearS3, { lingerMillis: 100, listTags });
  const { service } = node.engine;
  for (let n = 0; n < queues; n++) void service.createQueue(`jobs-${n}`, new Map());
  await scheduler.run(() => false, minuteMillis);
  const wait = async (name: string) => {
    for (;;)
      await service.receive(name, {
        maxMessages: 10,
        waitSeconds: 20,
        visibilityTimeoutSeconds: undefined,
        signal: new AbortController().signal,
      });
  };
  for (let n = 0; n < waiters; n++) void wait(`jobs-${n}`);
  await scheduler.run(() => false, 3 * minuteMillis);
  const begin = node.meter.snapshot().dollars;
  await scheduler.run(() => false, 3 * minuteMillis + days * dayMillis);
  return node.meter.snapshot().dollars - begin;
}

export const prices = `$${DOLLARS_PER_MILLION.put} per million PUT and LIST, $${DOLLARS_PER_MILLION.get.toFixed(2)} per million GET`;
