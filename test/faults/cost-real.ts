/**
 * Whether the tables of docs/cost.md hold for real processes: okuri nodes on versitygw behind a proxy that is as far
 * away as the simulated store and counts requests, under the same load, beside the same row of `just cost`.
 *
 *     node --import tsx test/faults/cost-real.ts [--seconds 60] [--nodes 0 (1, 2 and 4)] [--seed 1] [--allow 1]
 *
 * Counts and dollars within 10 %, two nodes' end-to-end p99 within 400 ms. The latter is why no CI runs it: the proxy
 * adds S3's latencies, but what comes on top is this machine's, shared by servers, proxy and clients. How much that
 * was stands beside the figures.
 *
 * First the proxy answers every kind of request after its median, and what the processes see beyond is their own time:
 * the proxy allows for it afterwards. `--allow 0` lets it come on top; several nodes then wait longer for each other,
 * and commit more rarely, than nodes without a CPU do.
 */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type CostFigures, type CostRun, endToEndRuns, measure } from '../../bench/cost-runs.ts';
import { Draw } from '../../bench/draw.ts';
import { queue } from '../../bench/load-shape.ts';
import { nearS3 } from '../../bench/simulated-store.ts';
import { quantile } from '../../bench/workload.ts';
import { DOLLARS_PER_MILLION, REQUEST_CLASSES, type RequestClass } from '../../src/store/metered-store.ts';
import { check, figure, option, runChecks } from './checks.ts';
import { CountingProxy, countsBetween, type ProxyCounts } from './counting-proxy.ts';
import { freePorts } from './free-ports.ts';
import { MeasuredLoad } from './measured-load.ts';
import { counter, type OkuriProcess, pause, startOkuri } from './okuri-process.ts';
import { PublishedRounds } from './store-distance.ts';
import { temporaryFolder, versitygwStore } from './stores-for-okuri.ts';

const seconds = option('seconds', 60);
const onlyNodes = option('nodes', 0);
const seed = option('seed', 1);
const allow = option('allow', 1) !== 0;

const tolerance = 0.1;
/** A clock's PUT a minute, or the first look of a second: one more or less falls into the window by chance. */
const strayRequests = 3;
const twoNodesP99MillisMax = 400;

/** A node's estimates are medians of its last 31 requests of a kind. */
const settleMillis = 10_000;
const calibrateMillis = 15_000;

interface Row {
  readonly requests: Readonly<Record<RequestClass, number>>;
  readonly messages: number;
  readonly lostSwaps: number;
  readonly sendMillis: readonly number[];
  readonly endToEndMillis: readonly number[];
}

async function costReal(): Promise<void> {
  const rows = endToEndRuns.filter(
    ({ nodes, ratePerSecond, lingerMillis }) =>
      ratePerSecond === 100 && lingerMillis === 100 && (onlyNodes === 0 ? nodes <= 4 : nodes === onlyNodes),
  );
  const lines: string[] = [];
  for (const run of rows) {
    const simulated = rowOf(await measure(run));
    const measured = await onRealProcesses(run);
    lines.push(...linesOf(run.nodes, simulated, measured));
    compare(run.nodes, simulated, measured);
  }
  console.log(`\n${[...head, ...lines].join('\n')}\n`);
}

function rowOf({ result, messages }: CostFigures): Row {
  const { requests, lostSwaps, sendMillis, endToEndMillis } = result;
  return { requests, messages, lostSwaps, sendMillis, endToEndMillis };
}

async function onRealProcesses({ nodes, ratePerSecond, lingerMillis }: CostRun): Promise<Row> {
  const folder = temporaryFolder();
  const port = await freePorts(1 + 3 * nodes);
  const store = await versitygwStore(folder, port);
  const proxy = new CountingProxy(port, new Draw(seed), nearS3);
  const processes: OkuriProcess[] = [];
  for (let n = 0; n < nodes; n++) {
    const endpoint = await proxy.door(port + 1 + n);
    processes.push(
      await startOkuri({
        port: port + 1 + nodes + 2 * n,
        healthPort: port + 2 + nodes + 2 * n,
        environment: {
          ...store.environment,
          OKURI_S3_ENDPOINT: endpoint,
          OKURI_LINGER_MS: `${lingerMillis}`,
        },
        logFile: join(folder, `node-${n}.log`),
      }),
    );
  }
  const load = new MeasuredLoad({
    urls: processes.map(({ url }) => url),
    ratePerSecond,
    lingerMillis,
    seed: seed * 1000 + nodes,
  });
  await load.start();
  const rounds = new PublishedRounds(store, queue);
  await calibrate(nodes, proxy, rounds);
  await pause(settleMillis);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  proxy.storeMillis.length = 0;
  proxy.lateMillis.length = 0;
  const [metersBefore, before] = [await metersOf(processes), proxy.counts()];
  rounds.meanMillis();
  load.measure();
  await pause(seconds * 1000);
  load.end();
  rounds.end();
  const [counts, metersAfter] = [countsBetween(before, proxy.counts()), await metersOf(processes)];
  delay.disable();
  checkRun(nodes, load, counts, metersAfter - metersBefore);
  conditions(nodes, proxy, delay);
  if (nodes > 1)
    figure(`${nodes}: a read and a swap as the processes see them, ms, mean`, rounds.meanMillis().toFixed(1));
  const codes = await Promise.all(processes.map((node) => node.stop()));
  check(
    `${nodes}: every process stops in order`,
    codes.every((code) => code === 0),
    codes,
  );
  await store.stop();
  const { sendMillis, endToEndMillis } = load;
  return { ...counts, messages: (load.sent + load.deleted) / 2, sendMillis, endToEndMillis };
}

/** One node alone hardly ever reads its manifest, so its account is of its start; its windows don't follow it either. */
async function calibrate(nodes: number, proxy: CountingProxy, rounds: PublishedRounds): Promise<void> {
  if (nodes === 1) return;
  proxy.constant = true;
  await pause(settleMillis);
  rounds.meanMillis();
  await pause(calibrateMillis);
  const roundMillis = nearS3.put.medianMillis + nearS3.get.medianMillis;
  const ownMillis = (rounds.meanMillis() - roundMillis) / 2;
  figure(`${nodes}: the processes' own time on a request, ms`, ownMillis.toFixed(1));
  proxy.constant = false;
  if (allow) proxy.ownMillis = ownMillis;
}

/** By the processes' own meters. */
async function metersOf(processes: readonly OkuriProcess[]): Promise<number> {
  const counts = processes.map((node) => counter(node, 'okuri_store_requests_total', () => true));
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

function checkRun(nodes: number, load: MeasuredLoad, counts: ProxyCounts, meters: number): void {
  const { failures, again, sent, deleted } = load;
  check(`${nodes}: every call was answered`, failures.length === 0, [failures.length, failures.slice(0, 3)]);
  check(`${nodes}: no message was delivered twice`, again === 0, again);
  check(`${nodes}: consumers keep up`, sent > 0 && Math.abs(deleted - sent) < 0.02 * sent, [sent, deleted]);
  check(`${nodes}: the store failed no request`, counts.failures === 0, counts.failures);
  const requests = REQUEST_CLASSES.reduce((sum, kind) => sum + counts.requests[kind], 0);
  const agree = Math.abs(requests - meters) <= 0.01 * requests + strayRequests;
  check(`${nodes}: the proxy counts what the processes' meters count`, agree, [requests, meters]);
}

/** What this machine added to the latencies. */
function conditions(
  nodes: number,
  { storeMillis, lateMillis }: CountingProxy,
  delay: ReturnType<typeof monitorEventLoopDelay>,
): void {
  const spread = (values: readonly number[]) =>
    [0.5, 0.99].map((part) => quantile(values, part).toFixed(1)).join(' / ');
  figure(`${nodes}: versitygw's own time p50 / p99, ms`, spread(storeMillis));
  figure(`${nodes}: answers of the proxy later than drawn p50 / p99, ms`, spread(lateMillis));
  const [p50, p99] = [50, 99].map((part) => (delay.percentile(part) / 1e6).toFixed(1));
  figure(`${nodes}: event loop of proxy and clients, 5 ms timer p50 / p99, ms`, `${p50} / ${p99}`);
  figure(`${nodes}: load of the machine`, loadavg()[0]?.toFixed(2));
}

function compare(nodes: number, simulated: Row, measured: Row): void {
  for (const kind of REQUEST_CLASSES) {
    const expected = (simulated.requests[kind] / simulated.messages) * measured.messages;
    const seen = measured.requests[kind];
    const near = Math.abs(seen - expected) <= Math.max(tolerance * expected, strayRequests);
    check(`${nodes}: ${kind} as simulated`, near, { seen, expected: expected.toFixed(1) });
  }
  const ratio = dollars(measured) / dollars(simulated);
  check(`${nodes}: dollars as simulated`, Math.abs(ratio - 1) <= tolerance, ratio.toFixed(3));
  if (nodes !== 2) return;
  const p99Millis = quantile(measured.endToEndMillis, 0.99);
  check(`2: end-to-end p99 within ${twoNodesP99MillisMax} ms`, p99Millis <= twoNodesP99MillisMax, p99Millis);
}

/** Per million messages. */
function dollars({ requests, messages }: Row): number {
  return (
    REQUEST_CLASSES.reduce((sum, kind) => sum + requests[kind] * DOLLARS_PER_MILLION[kind], 0) / messages
  );
}

const head = [
  '| nodes | | PUT | conditional PUT | GET | LIST | DELETE | $ per million | lost swaps | send p50 / p99, ms | end to end p50 / p99, ms |',
  '| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
];

function linesOf(nodes: number, simulated: Row, measured: Row): string[] {
  const line = (name: string, row: Row) => [
    nodes,
    name,
    ...REQUEST_CLASSES.map((kind) => (row.requests[kind] / row.messages).toFixed(4)),
    dollars(row).toFixed(3),
    `${Math.round((100 * row.lostSwaps) / row.requests.conditionalPut)} %`,
    ...[row.sendMillis, row.endToEndMillis].map((values) =>
      [0.5, 0.99].map((part) => quantile(values, part).toFixed(0)).join(' / '),
    ),
  ];
  const ratio = (one: number, other: number) => (other === 0 ? '–' : (one / other).toFixed(2));
  const ratios = REQUEST_CLASSES.map((kind) =>
    ratio(measured.requests[kind] / measured.messages, simulated.requests[kind] / simulated.messages),
  );
  return [
    line('simulated', simulated),
    line('measured', measured),
    [nodes, 'ratio', ...ratios, ratio(dollars(measured), dollars(simulated)), '', '', ''],
  ].map((cells) => `| ${cells.join(' | ')} |`);
}

await runChecks(costReal);
