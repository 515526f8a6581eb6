/**
 * `just fairness`: whether a busy message group keeps others waiting on a standard queue. Ten groups send a message a
 * second each, an eleventh a hundred, to workers that manage less than all but more than the ten; how long the ten wait,
 * with the eleventh and without. Virtual time, the same on every machine; `--seconds 60` for less than ten minutes of it.
 */
import { parseArgs } from 'node:util';
import { FairLoad, type FairLoadOptions, type FairLoadResult } from './fair-load.ts';
import { quantile } from './workload.ts';

/** Issue 6: of the p95 with the busy group and without. */
export const ratioMax = 2;

export interface FairRow {
  readonly title: string;
  /** Workers that are all busy for seconds keep everybody waiting: then it is they that are measured. */
  readonly judged: boolean;
  readonly load: Partial<FairLoadOptions>;
}

const usual = {
  seed: 1,
  nodes: 1,
  quietGroups: 10,
  quietPerSecond: 1,
  workersPerNode: 48,
  maxMessages: 1,
  workMillis: 500,
};
const onThree = { nodes: 3, workersPerNode: 16 };
const tens = { maxMessages: 10, workMillis: 1_000 };

export const fairRows: readonly FairRow[] = [
  { title: 'one node', judged: true, load: {} },
  { title: 'three nodes', judged: true, load: onThree },
  { title: 'three nodes, all delayed by 5 s', judged: true, load: { ...onThree, delaySeconds: 5 } },
  { title: 'one node, without message groups', judged: false, load: { grouped: false } },
  {
    title: 'one node, 12 workers that take ten at once',
    judged: false,
    load: { ...tens, workersPerNode: 12 },
  },
];

export interface FairFigures {
  readonly without: FairLoadResult;
  readonly beside: FairLoadResult;
  readonly ratio: number;
}

export async function measureFairness(load: FairRow['load'], seconds: number): Promise<FairFigures> {
  const run = (busyPerSecond: number) => new FairLoad({ ...usual, ...load, seconds, busyPerSecond }).run();
  const without = await run(0);
  const beside = await run(100);
  return { without, beside, ratio: p95(beside) / p95(without) };
}

function p95({ quietMillis, quietSent }: FairLoadResult): number {
  // Those that still wait have waited longest.
  const waiting = Math.max(0, quietSent - quietMillis.length);
  return quantile([...quietMillis, ...new Array<number>(waiting).fill(Number.POSITIVE_INFINITY)], 0.95);
}

function shown(title: string, result: FairLoadResult): string {
  const { quietMillis, waiting, manifestBytesMax, gets, getBytes, puts, received, dollars } = result;
  const wait = [0.5, 0.95, 0.99].map((part) => quantile(quietMillis, part).toFixed(0)).join(' / ');
  const megabytes = (getBytes / 1e6).toFixed(0);
  return (
    `   ${title.padEnd(12)} quiet ones wait ${wait} ms (p50 / p95 / p99 of ${quietMillis.length} received), ` +
    `${waiting} messages wait at the end, manifest at most ${(manifestBytesMax / 1024).toFixed(0)} KiB, ` +
    `${gets} GETs of ${megabytes} MB, ${puts} PUTs, $${((dollars / received) * 1e6).toFixed(2)} per million`
  );
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '600' } } });
  let over = 0;
  for (const { title, judged, load } of fairRows) {
    const { without, beside, ratio } = await measureFairness(load, Number(values.seconds));
    const isOver = judged && !(ratio <= ratioMax);
    if (isOver) over++;
    const verdict = judged ? `≤ ${ratioMax.toFixed(1)} ${isOver ? 'OVER' : 'ok'}` : 'not judged';
    console.log(`${title}: p95 of the quiet groups ${ratio.toFixed(2)} times what it is alone, ${verdict}`);
    console.log(`${shown('alone', without)}\n${shown('beside it', beside)}`);
  }
  const judged = fairRows.filter((row) => row.judged).length;
  console.log(`${judged - over} passed, ${over} failed`);
  return over === 0 ? 0 : 1;
}

if (import.meta.url === new URL(process.argv[1] ?? '', 'file:').href) process.exit(await main());
