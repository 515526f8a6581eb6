/**
 * Message groups by real processes: three okuri processes on one bucket of a real S3 server, a FIFO queue of 1,000 groups, producers that
 * send each message several times under one deduplication id, ten consumers of which some die holding messages, all on a node
 * drawn for each call, and `kill -9` of a node every few seconds (fifo-clients.ts). At the end the queue is drained
 * and the whole history is judged: order, exclusivity and deduplication by history-groups.ts, what was lost or came back by
 * history.ts.
 *
 *     node --import tsx test/faults/fifo-groups.ts [--messages 12000] [--seconds 600] [--groups 1000] [--consumers 10]
 *         [--producers 6] [--kill-seconds 5] [--seed N] [--port N]
 *
 * Producers stop at that many messages or seconds, whichever comes first. The seed fixes what the clients choose, not how the
 * processes interleave.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check, figure, option, runChecks } from './checks.ts';
import { emptyGroupHistory, fifoClient, type RecordedGroupHistory } from './fifo-client.ts';
import { consumeGroups, produceOnce } from './fifo-clients.ts';
import { freePorts } from './free-ports.ts';
import { rules, violationsOf } from './history.ts';
import { asHistory, groupRules, groupViolations } from './history-groups.ts';
import { type OkuriProcess, pause, startOkuri } from './okuri-process.ts';
import { type SeededRandom, seededRandom } from './random.ts';
import { now } from './recording-client.ts';
import { mustCall, queueCounts } from './signed-client.ts';
import { temporaryFolder, versitygwStore } from './stores-for-okuri.ts';

const nodeCount = 3;
/** Commit windows differ, so that the nodes don't go in step. */
const lingerMillis = [20, 100, 50];
const drainSeconds = 180;

const messages = option('messages', 12_000);
const seconds = option('seconds', 600);
const groups = option('groups', 1_000);
const consumers = option('consumers', 10);
const producers = option('producers', 6);
const killSeconds = option('kill-seconds', 5);
const seed = option('seed', Date.now() % 2 ** 31);
const port = option('port', 0) || (await freePorts(1 + 2 * nodeCount));

async function fifoGroups(): Promise<void> {
  console.log(`fifo-groups: ${messages} messages or ${seconds} s, ${groups} groups, seed ${seed}`);
  const random = seededRandom(seed);
  const folder = temporaryFolder();
  const store = await versitygwStore(folder, port);
  const start = (index: number) =>
    startOkuri({
      port: port + 1 + 2 * index,
      healthPort: port + 2 + 2 * index,
      environment: { ...store.environment, OKURI_LINGER_MS: `${lingerMillis[index]}` },
      logFile: join(folder, `node-${index}.log`),
    });
  const nodes = await Promise.all(Array.from({ length: nodeCount }, (_, index) => start(index)));
  const urls = nodes.map(({ url }) => url);
  const { QueueUrl = '' } = await mustCall(urls[0]!, 'CreateQueue', {
    QueueName: `groups-${seed}.fifo`,
    Attributes: { FifoQueue: 'true' },
  });

  const history = emptyGroupHistory();
  const progress = { acknowledged: 0, wanted: messages, groups, stop: false, draining: false };
  const client = () => fifoClient(urls, QueueUrl, history, random.fork());
  const began = now();
  const consuming = Array.from({ length: consumers }, () => consumeGroups(client(), random.fork(), progress));
  const producing = Promise.all(
    Array.from({ length: producers }, (_, n) => produceOnce(`p${n}`, client, random.fork(), progress)),
  );
  const timeUp = setTimeout(() => {
    progress.wanted = 0;
  }, seconds * 1_000);
  const kills = await killWhile(producing, nodes, start, random.fork());
  clearTimeout(timeUp);
  const sentMillis = now() - began;
  progress.draining = true;
  await drained(urls[0]!, QueueUrl);
  progress.stop = true;
  await Promise.all(consuming);

  for (const [index, url] of urls.entries()) {
    const counts = await queueCounts(url, QueueUrl);
    check(`node ${index} counts nothing: visible, in flight, delayed`, counts.join() === '0,0,0', counts);
  }
  check('nodes were killed', kills > 0, kills);
  judge(history);
  report(history, kills, progress.acknowledged, sentMillis, now() - began);
  for (const node of nodes) check('a node stops in order', (await node.stop()) === 0);
  await store.stop();
}

/** @returns how often a node was killed before the promise was fulfilled. */
async function killWhile(
  running: Promise<unknown>,
  nodes: OkuriProcess[],
  start: (index: number) => Promise<OkuriProcess>,
  random: SeededRandom,
): Promise<number> {
  let finished = false;
  const end = running.then(() => {
    finished = true;
  });
  for (let kills = 0; ; kills += 1) {
    await Promise.race([end, pause(killSeconds * 1_000 * (0.5 + random.unit()))]);
    if (finished) return kills;
    const index = random.between(0, nodes.length - 1);
    await nodes[index]!.kill();
    // Some stay away for a while, so that others get on with what theirs was.
    if (random.chance(0.5)) await pause(random.between(0, killSeconds * 500));
    nodes[index] = await start(index);
  }
}

async function drained(node: string, QueueUrl: string): Promise<void> {
  const deadline = now() + drainSeconds * 1_000;
  while (now() < deadline) {
    const counts = await queueCounts(node, QueueUrl);
    if (counts.every((count) => count === 0)) return;
    await pause(500);
  }
}

function judge(history: RecordedGroupHistory): void {
  const found = [...groupViolations(history), ...violationsOf(asHistory(history))];
  for (const violation of found.slice(0, 10)) console.log('   violation', JSON.stringify(violation));
  for (const rule of [...groupRules, ...rules]) {
    const count = found.filter((violation) => violation.rule === rule).length;
    check(rule, count === 0, count);
  }
  const { mistakes } = history;
  check('no client was refused but by 503 or for an expired handle', mistakes.length === 0, [
    mistakes.length,
    ...mistakes.slice(0, 5),
  ]);
  if (found.length === 0) return;
  const kept = join(mkdtempSync(join(tmpdir(), 'okuri-fifo-groups-')), 'history.json');
  writeFileSync(kept, JSON.stringify({ violations: found, history }));
  console.log(`   kept: ${kept}`);
}

function report(
  history: RecordedGroupHistory,
  kills: number,
  acknowledged: number,
  sentMillis: number,
  tookMillis: number,
): void {
  const { attempts, deliveries, deletes } = history;
  const answered = attempts.filter(({ accepted }) => accepted).length;
  const handleOf = new Map(deliveries.map(({ receiptHandle, body }) => [receiptHandle, body]));
  const gone = new Map<string, number>();
  for (const { receiptHandle, acknowledged: done, ended } of deletes)
    if (done) gone.set(handleOf.get(receiptHandle) ?? '', ended);
  const afterDelete = attempts.filter(
    ({ id, began, accepted }) => accepted && began > (gone.get(id) ?? Infinity),
  );
  figure('messages acknowledged', acknowledged);
  figure('attempts answered, without a usable answer', [answered, attempts.length - answered]);
  figure('attempts answered after their message was deleted', afterDelete.length);
  figure(
    'deliveries',
    `${deliveries.length}, ${deliveries.filter((d) => d.receiveCount > 1).length} of them again`,
  );
  figure('groups received from', new Set(deliveries.map(({ group }) => group)).size);
  figure('deletes, refused for an expired handle', [deletes.length, history.expiredHandles]);
  figure('given back or extended', history.visibilityChanges.length);
  figure('receives lost', history.lostReceives.length);
  figure('calls without an answer, answered 503', [history.withoutAnswer, history.refusedForNow]);
  figure('kills', kills);
  figure('messages a second while sending', Math.round((acknowledged / sentMillis) * 1_000));
  figure('seconds in all', Math.round(tookMillis / 1_000));
}

await runChecks(fifoGroups);
