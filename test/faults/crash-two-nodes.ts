/**
 * Two okuri processes on one bucket, random clients on both, `kill -9` of one of the two every few seconds, and a
 * store that loses one answer in a hundred. At the end the queue is drained and the whole history is judged by
 * history.ts.
 *
 *     node --import tsx test/faults/crash-two-nodes.ts [--messages 20000] [--seed N] [--kill-seconds 4]
 *         [--lost-answers 0.01]
 *
 * The seed fixes what the clients choose, not how the processes interleave.
 */
import { join } from 'node:path';
import { check, figure, option, runChecks } from './checks.ts';
import { freePorts } from './free-ports.ts';
import { rules, violationsOf } from './history.ts';
import { type OkuriProcess, pause, startOkuri } from './okuri-process.ts';
import { seededRandom } from './random.ts';
import { consume, type Progress, produce } from './random-clients.ts';
import { emptyHistory, now, type RecordedHistory, recordingClient } from './recording-client.ts';
import { mustCall, queueCounts } from './signed-client.ts';
import { storeProxy } from './store-proxy.ts';
import { temporaryFolder, versitygwStore } from './stores-for-okuri.ts';

const PRODUCERS = 10;
const CONSUMERS = 14;
const DRAIN_SECONDS = 180;

const wanted = option('messages', 20_000);
const seed = option('seed', Date.now() % 2 ** 31);
const killSeconds = option('kill-seconds', 4);
const lostAnswers = option('lost-answers', 0.01);
const port = await freePorts(8);

async function crashTwoNodes(): Promise<void> {
  console.log(`crash-two-nodes: ${wanted} messages, seed ${seed}`);
  const random = seededRandom(seed);
  const folder = temporaryFolder();
  const store = await versitygwStore(folder, port);
  let answersLost = 0;
  const losing = random.fork();
  const OKURI_S3_ENDPOINT = await storeProxy({
    listenPort: port + 5,
    targetPort: port,
    loseAnswer: () => {
      const lose = losing.chance(lostAnswers);
      if (lose) answersLost += 1;
      return lose;
    },
  });
  const start = (index: number) =>
    startOkuri({
      port: port + 1 + 2 * index,
      healthPort: port + 2 + 2 * index,
      environment: { ...store.environment, OKURI_S3_ENDPOINT },
      logFile: join(folder, `node-${index}.log`),
    });
  const nodes = [await start(0), await start(1)];
  const urls = nodes.map((node) => node.url);
  const first = urls[0] as string;
  const { QueueUrl = '' } = await mustCall(first, 'CreateQueue', { QueueName: `crash-${seed}` });

  const history = emptyHistory();
  const progress: Progress = { acknowledged: 0, wanted, stop: false, draining: false };
  const client = () => recordingClient(urls, QueueUrl, history, random.fork());
  const began = now();
  const producers = Array.from({ length: PRODUCERS }, (_, n) =>
    produce(`p${n}`, client(), random.fork(), progress),
  );
  const consumers = Array.from({ length: CONSUMERS }, () => consume(client(), random.fork(), progress));
  const producing = Promise.all(producers);
  const kills = await killWhile(producing, nodes, start);
  const sentAfter = now() - began;
  progress.draining = true;
  const left = await drain(first, QueueUrl);
  progress.stop = true;
  await Promise.all(consumers);

  check('the queue is drained: visible, in flight, delayed', left.join() === '0,0,0', left);
  const other = await queueCounts(urls[1] as string, QueueUrl);
  check('the other node says the same', other.join() === '0,0,0', other);
  check('a node was killed', kills > 0 || wanted < 2_000, kills);
  judge(history);
  figure('answers of the store lost', answersLost);
  report(history, kills, sentAfter, now() - began);
  for (const node of nodes) check('a node stops in order', (await node.stop()) === 0);
  await store.stop();
}

/** @returns how often a node was killed before the promise was fulfilled. */
async function killWhile(
  running: Promise<unknown>,
  nodes: OkuriProcess[],
  start: (index: number) => Promise<OkuriProcess>,
): Promise<number> {
  const random = seededRandom(seed + 1);
  let finished = false;
  const end = running.then(() => {
    finished = true;
  });
  for (let kills = 0; ; kills += 1) {
    await Promise.race([end, pause(killSeconds * 1000 * (0.5 + random.unit()))]);
    if (finished) return kills;
    const index = random.between(0, nodes.length - 1);
    await (nodes[index] as OkuriProcess).kill();
    nodes[index] = await start(index);
  }
}

async function drain(node: string, QueueUrl: string): Promise<readonly number[]> {
  const deadline = now() + DRAIN_SECONDS * 1000;
  for (;;) {
    const counts = await queueCounts(node, QueueUrl);
    if (counts.every((count) => count === 0) || now() > deadline) return counts;
    await pause(500);
  }
}

function judge(history: RecordedHistory): void {
  const violations = violationsOf(history);
  for (const violation of violations.slice(0, 10)) console.log('   violation', JSON.stringify(violation));
  for (const rule of rules) {
    const count = violations.filter((violation) => violation.rule === rule).length;
    check(rule, count === 0, count);
  }
  check('no client was refused but by 503', history.mistakes.length === 0, history.mistakes.slice(0, 5));
}

function report(history: RecordedHistory, kills: number, sentAfter: number, tookMillis: number): void {
  const acknowledged = history.sends.filter((send) => send.messageId !== undefined).length;
  const redelivered = history.deliveries.filter((delivery) => delivery.receiveCount > 1).length;
  figure('sends acknowledged', acknowledged);
  figure('sends without a usable answer', history.sends.length - acknowledged);
  figure('deliveries', `${history.deliveries.length}, ${redelivered} of them again`);
  figure('deletes', history.deletes.length);
  figure('receives lost', history.lostReceives.length);
  figure('calls without an answer, calls answered 503', [history.withoutAnswer, history.refusedForNow]);
  figure('kills', kills);
  figure('acknowledged sends a second', Math.round((acknowledged / sentAfter) * 1000));
  figure('seconds in all', Math.round(tookMillis / 1000));
}

await runChecks(crashTwoNodes);
