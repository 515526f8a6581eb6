/**
 * Deterministic simulation from the command line:
 *
 *   dst.ts --seconds 60      kept seeds first, then fresh ones; prints the rate; stops at the first failure
 *   dst.ts --seconds 60 --jobs 2   the same in two processes, each with seeds of its own
 *   dst.ts --seed S          replays one seed with its trace
 *   dst.ts --twice S         runs it twice: trace, next random number and clock must be equal
 *   dst.ts --digests --count 50 --from 1   one line a seed and one digest over all: equal on every runtime
 *   dst.ts --fixed           the fixed set of CI: all clean, and together they reach every kind of fault
 *   dst.ts --count 100 --from 1   seeds 1..100; all failures are listed; in parts with --jobs
 *   dst.ts --hunt 100 --from 1    the same, up to the first failure
 *   … --weather names       seeds of one weather (focus.ts); --reached: in how many seeds each kind of fault came about
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { drawConfig } from './config.ts';
import { type ReachedKind, reachedKinds } from './reached.ts';
import { printConfig, printFailure } from './report.ts';
import type { RunResult } from './run.ts';
import { runSeed } from './run.ts';
import { fixedSeeds, freshSeed, keepSeed, keptSeeds } from './seeds.ts';
import { DigestTrace } from './trace.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    seed: { type: 'string' },
    twice: { type: 'string' },
    count: { type: 'string' },
    from: { type: 'string' },
    hunt: { type: 'string' },
    jobs: { type: 'string', default: '1' },
    calls: { type: 'string' },
    fixed: { type: 'boolean', default: false },
    fresh: { type: 'boolean', default: false },
    digests: { type: 'boolean', default: false },
    reached: { type: 'boolean', default: false },
    weather: { type: 'string' },
    quiet: { type: 'boolean', default: false },
  },
});

const calls = values.calls === undefined ? undefined : Number(values.calls);

async function replay(seed: string): Promise<boolean> {
  printConfig(drawConfig(seed, calls));
  const trace = new DigestTrace(values.quiet ? undefined : (line) => console.log(line));
  const result = await runSeed(seed, trace, calls);
  console.log(
    `digest ${trace.digest}, ${trace.lines} lines, next random ${result.nextRandom}, clock ${result.endedAt}`,
  );
  printFailure(result);
  return result.failure === undefined;
}

async function twice(seed: string): Promise<boolean> {
  const lines: string[] = [];
  for (let run = 0; run < 2; run++) {
    const trace = new DigestTrace();
    const { nextRandom, endedAt } = await runSeed(seed, trace, calls);
    lines.push(`digest ${trace.digest}, ${trace.lines} lines, next random ${nextRandom}, clock ${endedAt}`);
  }
  const equal = lines[0] === lines[1];
  console.log(`seed ${seed}: ${equal ? 'twice the same' : 'DIFFERENT'}\n  ${lines.join('\n  ')}`);
  return equal;
}

/** One line a seed, which any runtime must print alike; a failing seed is printed too. */
async function digests(): Promise<boolean> {
  const all = new DigestTrace();
  const from = Number(values.from ?? 1);
  let clean = true;
  for (let seed = from; seed < from + Number(values.count ?? 50); seed++) {
    const trace = new DigestTrace();
    const { nextRandom, endedAt, failure } = await runSeed(String(seed), trace, calls);
    const line = `seed ${seed} digest ${trace.digest} lines ${trace.lines} next random ${nextRandom} clock ${endedAt}`;
    all.line(seed, line);
    console.log(failure ? `${line} FAILS: ${failure.property}` : line);
    clean &&= failure === undefined;
  }
  console.log(`all ${all.digest}`);
  return clean;
}

async function many(): Promise<boolean> {
  const started = performance.now();
  const cpu = process.cpuUsage();
  const limitMillis = values.seconds === undefined ? Number.POSITIVE_INFINITY : Number(values.seconds) * 1000;
  const given = values.fixed ? String(fixedSeeds().length) : (values.count ?? values.hunt);
  const count = given === undefined ? Number.POSITIVE_INFINITY : Number(given);
  const stopsAtFirst = values.count === undefined && !values.fixed;
  const kept = given === undefined && !values.fresh ? keptSeeds() : [];
  const first = values.fixed ? fixedSeeds() : kept;
  const from = Number(values.from ?? (given === undefined ? Date.now() % 1e9 : 1));
  const next = (index: number) => (given === undefined ? freshSeed(from, index) : `${prefix}${from + index}`);
  const inSeeds = new Map<ReachedKind, number>();
  const prefix = values.weather === undefined ? '' : `${values.weather}-`;
  let stoppedBy: RunResult | undefined;
  const totals = { seeds: 0, calls: 0, landings: 0, storeRequests: 0, failures: 0 };
  while (totals.seeds < count && performance.now() - started < limitMillis) {
    const seed = first[totals.seeds] ?? next(totals.seeds - first.length);
    const result = await runSeed(seed, undefined, calls);
    totals.seeds++;
    for (const kind of result.reached.keys()) inSeeds.set(kind, (inSeeds.get(kind) ?? 0) + 1);
    totals.calls += result.calls;
    totals.landings += result.landings;
    totals.storeRequests += result.storeRequests;
    if (!result.failure) continue;
    if (calls === undefined && !first.includes(seed)) keepSeed({ seed, found: result.failure.property });
    totals.failures++;
    if (stopsAtFirst) {
      stoppedBy = result;
      break;
    }
    printFailure(result);
  }
  if (values.reached) tell(inSeeds, totals.seeds);
  const minutes = (performance.now() - started) / 60_000;
  const cpuMinutes = process.cpuUsage(cpu).user / 60e6;
  const per = (value: number) => Math.round(value / minutes).toLocaleString('en');
  const perCpu = (value: number) => Math.round(value / cpuMinutes).toLocaleString('en');
  console.log(
    `${totals.seeds} seeds, ${totals.calls} operations, ${totals.landings} commits, ${totals.storeRequests} store requests, ${totals.failures} failures in ${(minutes * 60).toFixed(1)} s: ${per(totals.calls)} operations/min, ${per(totals.seeds)} seeds/min (by CPU time ${perCpu(totals.calls)} and ${perCpu(totals.seeds)})`,
  );
  const missed = values.fixed ? reachedKinds.filter((kind) => !inSeeds.has(kind)) : [];
  for (const kind of missed) console.log(`FAILED: no seed of the fixed set reaches: ${kind}`);
  if (stoppedBy) {
    printConfig(stoppedBy.config);
    printFailure(stoppedBy);
  }
  return totals.failures + missed.length === 0;
}

function tell(inSeeds: ReadonlyMap<ReachedKind, number>, seeds: number): void {
  for (const kind of reachedKinds)
    console.log(`${String(inSeeds.get(kind) ?? 0).padStart(5)} of ${seeds} seeds: ${kind}`);
}

/** The first process to fail ends the others. */
async function inProcesses(jobs: number): Promise<boolean> {
  const from = Number(values.from ?? Date.now() % 1e9);
  const share = values.count === undefined ? undefined : Math.ceil(Number(values.count) / jobs);
  const script = fileURLToPath(import.meta.url);
  const children = Array.from({ length: jobs }, (_, job) => {
    const limit = share === undefined ? ['--seconds', values.seconds ?? '60'] : ['--count', String(share)];
    const kept = job === 0 ? [] : ['--fresh'];
    const args = [
      ...process.execArgv,
      script,
      ...limit,
      ...kept,
      '--from',
      String(from + job * (share ?? 1e9)),
    ];
    return spawn(process.execPath, args, { stdio: 'inherit' });
  });
  const passes = children.map(
    (child) =>
      new Promise<boolean>((resolve) => {
        child.once('exit', (code) => {
          if (code !== 0) for (const other of children) other.kill();
          resolve(code === 0);
        });
      }),
  );
  return (await Promise.all(passes)).every(Boolean);
}

function play(): Promise<boolean> {
  if (values.seed !== undefined) return replay(values.seed);
  if (values.digests) return digests();
  if (values.twice !== undefined) return twice(values.twice);
  return Number(values.jobs) > 1 ? inProcesses(Number(values.jobs)) : many();
}

process.exit((await play()) ? 0 : 1);
