/**
 * Several okuri processes on one bucket of a real S3 server, behind a proxy that loses, repeats, delays, refuses and
 * stalls requests (store-faults.ts); nodes are killed, paused beyond the visibility timeout, cut off and started again
 * (okuri-fleet.ts); signed clients on five groups of queues (chaos-traffic.ts). Then everything heals, the queues are
 * drained, old writes come to the store once more, and each group's history is judged by history.ts,
 * that of the FIFO queue by history-groups.ts too.
 *
 *     node --import tsx test/faults/chaos.ts [--seconds 600] [--nodes 3] [--seed N] [--keep 1] [--port N]
 *
 * The seed fixes what clients, faults and misfortunes choose, not how the processes interleave. `--keep 1` leaves the
 * logs of the nodes and, for a group with violations, its history behind and says where.
 */
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Group, groupsOf, type Phase, queueUrl, Traffic } from './chaos-traffic.ts';
import { check, figure, option, runChecks } from './checks.ts';
import { FaultProxy } from './fault-proxy.ts';
import { freePorts } from './free-ports.ts';
import { deadLetterRule, rules, type Violation, violationsOf } from './history.ts';
import { deadLetterViolations } from './history-dead-letters.ts';
import { asHistory, type GroupViolation, groupRules, groupViolations } from './history-groups.ts';
import { OkuriFleet, pauseMillisMax } from './okuri-fleet.ts';
import { pause } from './okuri-process.ts';
import { seededRandom } from './random.ts';
import { now } from './recording-client.ts';
import { call } from './signed-client.ts';
import { lateMillisMax } from './store-faults.ts';
import { temporaryFolder, versitygwStore } from './stores-for-okuri.ts';

const seconds = option('seconds', 600);
const nodes = option('nodes', 3);
const seed = option('seed', Date.now() % 2 ** 31);
const keep = option('keep', 0) === 1;

const drainMillisMax = 240_000;
/** Beyond the traffic: the end of pauses, the drain, the judgement. */
const hangMillis = drainMillisMax + 120_000;
/** A dead letter on its way is counted nowhere; another node's gets 5 s before we move it. */
const emptyForMillis = 10_000;
/** A command may wait in a paused node, then for its unresolved attempts (20 s), then in the proxy. */
const lateEffectMillis = pauseMillisMax + 2 * 20_000 + lateMillisMax;

async function chaos(): Promise<void> {
  console.log(`chaos: ${seconds} s, ${nodes} nodes, seed ${seed}`);
  const random = seededRandom(seed);
  const folder = temporaryFolder();
  const port = option('port', 0) || (await freePorts(1 + 3 * nodes));
  const store = await versitygwStore(folder, port);
  const proxy = new FaultProxy(port, random.fork());
  const doors = await Promise.all(Array.from({ length: nodes }, (_, n) => proxy.door(port + 1 + n)));
  const fleet = new OkuriFleet(port + 1 + nodes, store.environment, random.fork());
  await fleet.start(doors, folder);
  const groups = groupsOf(seed);
  const phase: Phase = { over: false, draining: false, stop: false };
  const traffic = new Traffic(fleet.urls, random.fork(), phase);
  for (const group of groups) await traffic.create(group);

  const began = now();
  const running = groups.map((group) => traffic.run(group));
  proxy.changeRegime();
  await fleet.suffer(() => now() - began > seconds * 1000, proxy);
  phase.over = true;
  await proxy.heal();
  await Promise.all(running.map(({ produced }) => produced));
  phase.draining = true;
  const drainBegan = now();
  await Promise.all(groups.map((group) => drained(fleet.urls, traffic, group, drainBegan)));
  phase.stop = true;
  await Promise.all(running.map(({ consumed }) => consumed));
  const { sent, taken } = await proxy.replay();
  check(`${sent} old writes sent once more are refused`, sent > 0 && taken.length === 0, taken.slice(0, 5));
  for (const group of groups) await checkEmpty(fleet.urls, group);

  for (const group of groups) judge(group);
  const metrics = await fleet.metrics();
  report(groups, fleet, proxy, metrics, now() - began);
  checkProcesses(fleet, metrics);
  const codes = await fleet.stop();
  check(
    'all nodes stop in order',
    codes.every((code) => code === 0),
    codes,
  );
  if (keep) console.log(`   kept: ${keepEvidence(fleet, groups)}`);
  await store.stop();
}

/** Waits until every queue of the group has been empty for a while. Late deletions of a queue are made good. */
async function drained(
  urls: readonly string[],
  traffic: Traffic,
  group: Group,
  drainBegan: number,
): Promise<void> {
  let emptySince: number | undefined;
  while (now() - drainBegan < drainMillisMax) {
    const counts = await countsOf(urls, group);
    if (counts.includes('QueueDoesNotExist')) await traffic.create(group);
    if (counts.every((count) => count === '0,0,0')) {
      emptySince ??= now();
      if (now() - emptySince >= emptyForMillis) return;
    } else emptySince = undefined;
    await pause(500);
  }
}

async function countsOf(urls: readonly string[], group: Group): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const queue of group.queues) {
    for (const url of urls) {
      const input = { QueueUrl: queueUrl(queue), AttributeNames: ['All'] };
      const answer = await call(url, 'GetQueueAttributes', input, 10_000);
      if (answer.kind === 'lost') seen.push(answer.reason);
      else if (answer.kind === 'refused') seen.push(answer.type.replace(/.*#/, ''));
      else {
        const { Attributes = {} } = answer.body;
        const names = ['', 'NotVisible', 'Delayed'];
        seen.push(names.map((name) => Attributes[`ApproximateNumberOfMessages${name}`]).join());
      }
    }
  }
  return seen;
}

async function checkEmpty(urls: readonly string[], group: Group): Promise<void> {
  const counts = await countsOf(urls, group);
  const empty = counts.every((count) => count === '0,0,0');
  check(`${group.name}: every node counts 0 visible, in flight, delayed`, empty, counts);
  for (const queue of group.queues) {
    const input = { QueueUrl: queueUrl(queue), MaxNumberOfMessages: 10 };
    const answer = await call(urls[0] as string, 'ReceiveMessage', input);
    const nothing = answer.kind === 'ok' && answer.body.Messages === undefined;
    check(`${queue}: nothing more is received`, nothing, answer);
  }
}

type AnyViolation = Violation | GroupViolation;
const violations = new Map<Group, readonly AnyViolation[]>();

function judge(group: Group): void {
  const { name, redrive, ordered } = group;
  const { mistakes } = ordered ?? group.history;
  const history = ordered ? asHistory(ordered) : group.history;
  const found = [
    ...violationsOf(history, lateEffectMillis),
    ...(redrive === undefined ? [] : deadLetterViolations(history, redrive)),
    ...(ordered === undefined ? [] : groupViolations(ordered)),
  ];
  violations.set(group, found);
  for (const violation of found.slice(0, 10)) console.log('   violation', name, JSON.stringify(violation));
  const judged = [
    ...rules,
    ...(redrive === undefined ? [] : [deadLetterRule]),
    ...(ordered === undefined ? [] : groupRules),
  ];
  for (const rule of judged) {
    const count = found.filter((violation) => violation.rule === rule).length;
    check(`${name}: ${rule}`, count === 0, count);
  }
  check(`${name}: no client was refused but by 503`, mistakes.length === 0, [
    mistakes.length,
    ...mistakes.slice(0, 5),
  ]);
  const worked = history.deliveries.length > 0 && history.deletes.some(({ acknowledged }) => acknowledged);
  check(`${name}: messages were delivered and deleted`, worked);
}

function checkProcesses(fleet: OkuriFleet, metrics: ReadonlyMap<string, number>): void {
  check('no node ended by itself or would not start', fleet.mishaps.length === 0, fleet.mishaps);
  const linesWith = (pattern: RegExp) =>
    fleet.logFiles.flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => pattern.test(line)),
    );
  const lines = linesWith(/a commit failed|assertion failed|uncaught|unhandled/i);
  check('no node logged a mistake of its own', lines.length === 0, [lines.length, ...lines.slice(0, 5)]);
  const unreadable = metrics.get('okuri_unreadable_bodies_total') ?? 0;
  const why = unreadable === 0 ? [] : linesWith(/cannot be read/).slice(0, 5);
  check('no body was unreadable', unreadable === 0, [unreadable, ...why]);
}

function report(
  groups: readonly Group[],
  fleet: OkuriFleet,
  proxy: FaultProxy,
  metrics: ReadonlyMap<string, number>,
  tookMillis: number,
): void {
  for (const { name, history: own, redrive, ordered } of groups) {
    const { sends, deliveries, deletes, lostReceives, erasures = [] } = ordered ? asHistory(ordered) : own;
    const failures = ordered ?? own;
    const acknowledged = sends.filter(({ messageId }) => messageId !== undefined).length;
    figure(`${name}: sends acknowledged, without a usable answer`, [
      acknowledged,
      sends.length - acknowledged,
    ]);
    const again = deliveries.filter(({ receiveCount }) => receiveCount > 1).length;
    figure(`${name}: deliveries, of them again`, [deliveries.length, again]);
    figure(`${name}: deletes, acknowledged`, [deletes.length, deletes.filter((d) => d.acknowledged).length]);
    if (redrive !== undefined)
      figure(
        `${name}: dead letters received`,
        new Set(deliveries.filter(({ queue }) => queue === redrive.target).map(({ body }) => body)).size,
      );
    const done = erasures.filter((erasure) => erasure.acknowledged).length;
    if (erasures.length > 0)
      figure(`${name}: erasures, tries without an answer`, [done, erasures.length - done]);
    figure(`${name}: receives lost, calls without an answer, answered 503, queue missing`, [
      lostReceives.length,
      failures.withoutAnswer,
      failures.refusedForNow,
      failures.queueMissing,
    ]);
  }
  for (const [what, count] of fleet.counts) figure(what, count);
  for (const [what, count] of [...proxy.counts].sort()) figure(`store: ${what}`, count);
  for (const name of ['commits', 'commands', 'conflicts', 'unknowns', 'late_hits', 'moved_messages'])
    figure(name.replaceAll('_', ' '), metrics.get(`okuri_${name}_total`));
  for (const name of ['spilled_segments', 'loaded_segments', 'collected_objects'])
    figure(name.replaceAll('_', ' '), metrics.get(`okuri_${name}_total`));
  figure('seconds in all', Math.round(tookMillis / 1000));
}

function keepEvidence(fleet: OkuriFleet, groups: readonly Group[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'okuri-chaos-'));
  for (const file of fleet.logFiles) cpSync(file, join(folder, basename(file)));
  for (const group of groups) {
    const found = violations.get(group) ?? [];
    if (found.length === 0) continue;
    const evidence = { violations: found, history: group.ordered ?? group.history };
    writeFileSync(join(folder, `${group.name}.json`), JSON.stringify(evidence));
  }
  return folder;
}

const watchdog = pause(seconds * 1000 + hangMillis).then(() => {
  throw new Error('the test hangs');
});
await runChecks(() => Promise.race([chaos(), watchdog]));
