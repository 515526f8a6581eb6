/**
 * okuri on a store that goes away: frozen with SIGSTOP (connections hang), then killed (connections are refused).
 * Requests must get a retryable ServiceUnavailable in SQS's form within a bounded time, /readyz must say 503 once the
 * store has failed for 30 s, and afterwards everything acknowledged must be there.
 *
 *     node --import tsx test/faults/store-down.ts [--seed N] [--frozen-seconds 15] [--dead-seconds 40]
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, figure, option, runChecks } from './checks.ts';
import { freePorts } from './free-ports.ts';
import { violationsOf } from './history.ts';
import { type OkuriProcess, pause, readiness, startOkuri } from './okuri-process.ts';
import { seededRandom } from './random.ts';
import { consume, type Progress, produce } from './random-clients.ts';
import { emptyHistory, recordingClient } from './recording-client.ts';
import { type Answer, call, mustCall, queueCounts } from './signed-client.ts';
import { temporaryFolder, versitygwStore } from './stores-for-okuri.ts';

/** Commands older than 10 s are refused (DESIGN.md section 3), after a store request that may take as long. */
const ANSWER_MILLIS = 30_000;

const seed = option('seed', Date.now() % 2 ** 31);
const frozenSeconds = option('frozen-seconds', 15);
const deadSeconds = option('dead-seconds', 40);
const port = await freePorts(8);

async function storeDown(): Promise<void> {
  console.log(`store-down: seed ${seed}`);
  const random = seededRandom(seed);
  const folder = temporaryFolder();
  let store = await versitygwStore(folder, port);
  const { environment } = store;
  const logFile = join(folder, 'node.log');
  const node = await startOkuri({ port: port + 1, healthPort: port + 2, environment, logFile });
  const { QueueUrl = '' } = await mustCall(node.url, 'CreateQueue', { QueueName: `down-${seed}` });
  // Calls on a queue of their own, since a send that was refused with 503 may be there all the same.
  const probed =
    (await mustCall(node.url, 'CreateQueue', { QueueName: `down-${seed}-probe` })).QueueUrl ?? '';
  const history = emptyHistory();
  const client = () => recordingClient([node.url], QueueUrl, history, random.fork());
  const progress: Progress = { acknowledged: 0, wanted: Infinity, stop: false, draining: false };
  const producers = [1, 2].map((n) => produce(`p${n}`, client(), random.fork(), progress));
  const consumers = [1, 2].map(() => consume(client(), random.fork(), progress));
  await pause(3_000);

  const pid = pidOfStore(folder);
  process.kill(pid, 'SIGSTOP');
  await whileDown('frozen', node, probed, frozenSeconds);
  process.kill(pid, 'SIGCONT');
  await recovers('thawed', node, QueueUrl);
  await pause(2_000);

  await store.stop();
  await whileDown('dead', node, probed, deadSeconds);
  if (deadSeconds > 32) check('dead for 30 s: /readyz says 503', (await readiness(node)) === 503);
  store = await versitygwStore(folder, port);
  await recovers('started again', node, QueueUrl);
  await pause(2_000);

  progress.wanted = 0;
  progress.draining = true;
  await Promise.all(producers);
  const deadline = Date.now() + 120_000;
  let counts = await queueCounts(node.url, QueueUrl);
  while (counts.some((count) => count > 0) && Date.now() < deadline) {
    await pause(500);
    counts = await queueCounts(node.url, QueueUrl);
  }
  progress.stop = true;
  await Promise.all(consumers);
  check('the queue is drained: visible, in flight, delayed', counts.join() === '0,0,0', counts);
  const violations = violationsOf(history);
  check('everything acknowledged came, nothing came back', violations.length === 0, violations.slice(0, 5));
  check('no client was refused but by 503', history.mistakes.length === 0, history.mistakes.slice(0, 5));
  check('no call was left without an answer', history.withoutAnswer === 0, history.withoutAnswer);
  figure('sends acknowledged', history.sends.filter((send) => send.messageId !== undefined).length);
  figure('calls answered 503', history.refusedForNow);
  check('the node stops in order', (await node.stop()) === 0);
  await store.stop();
}

/** The gateway itself: server-process.ts tells only the shell that guards it. */
function pidOfStore(folder: string): number {
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const [command = '', ...args] = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0');
      if (command.endsWith('versitygw') && args.includes(join(folder, 'versitygw'))) return Number(entry);
    } catch {
      // It ended while we looked.
    }
  }
  throw new Error('versitygw is not running');
}

async function whileDown(what: string, node: OkuriProcess, QueueUrl: string, seconds: number): Promise<void> {
  const until = Date.now() + seconds * 1000;
  const inputs = {
    SendMessage: { QueueUrl, MessageBody: 'x' },
    ReceiveMessage: { QueueUrl },
    GetQueueAttributes: { QueueUrl },
    ListQueues: {},
  };
  for (const [action, input] of Object.entries(inputs)) {
    const began = Date.now();
    const answer = await call(node.url, action, input, ANSWER_MILLIS + 5_000);
    const took = Date.now() - began;
    check(`${what}: ${action} gets ServiceUnavailable with 503`, isUnavailable(answer), answer);
    check(`${what}: ${action} is answered in time`, took < ANSWER_MILLIS, took);
  }
  while (Date.now() < until) await pause(200);
}

function isUnavailable(answer: Answer): boolean {
  return answer.kind === 'refused' && answer.status === 503 && answer.type.endsWith('ServiceUnavailable');
}

async function recovers(what: string, node: OkuriProcess, QueueUrl: string): Promise<void> {
  const began = Date.now();
  let answer = await call(node.url, 'GetQueueAttributes', { QueueUrl });
  while (answer.kind !== 'ok' && Date.now() < began + 30_000) {
    await pause(200);
    answer = await call(node.url, 'GetQueueAttributes', { QueueUrl });
  }
  check(`${what}: requests are answered again`, answer.kind === 'ok', answer);
  while ((await readiness(node)) !== 200 && Date.now() < began + 60_000) await pause(200);
  check(`${what}: /readyz says 200`, (await readiness(node)) === 200);
  figure('back after, ms', Date.now() - began);
}

await runChecks(storeDown);
