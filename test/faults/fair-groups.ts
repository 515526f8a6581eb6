/**
 * Fair queues by real processes: a node (or several) on versitygw; ten message groups of a standard queue send a message a second
 * each, and for the second half an eleventh sends a hundred, more than the workers manage. How long the messages of the
 * ten wait, without the eleventh and beside it: the p95 may at most double (issue 6).
 *
 *     node --import tsx test/faults/fair-groups.ts [--seconds 60] [--nodes 1] [--port N]
 */
import { join } from 'node:path';
import { check, figure, option, runChecks } from './checks.ts';
import { freePorts } from './free-ports.ts';
import { pause, startOkuri } from './okuri-process.ts';
import { mustCall, queueCounts } from './signed-client.ts';
import { temporaryFolder, versitygwStore } from './stores-for-okuri.ts';

const ratioMax = 2;
const quietGroups = 10;
const busyPerSecond = 100;
const workers = 40;
/** On average. All of one length, workers would come in step, a second apart. */
const jobMillis = 400;

const seconds = option('seconds', 60);
const port = option('port', await freePorts(8));

interface Phase {
  /** From the call of the send to the worker's hands, of the quiet groups' messages. */
  readonly quietMillis: number[];
  quietSent: number;
  over: boolean;
}

async function fairGroups(): Promise<void> {
  const folder = temporaryFolder();
  const store = await versitygwStore(folder, port);
  const nodes = await Promise.all(
    Array.from({ length: option('nodes', 1) }, (_, n) =>
      startOkuri({
        port: port + 1 + 2 * n,
        healthPort: port + 2 + 2 * n,
        environment: { ...store.environment, OKURI_LINGER_MS: '100' },
        logFile: join(folder, `node-${n}.log`),
      }),
    ),
  );
  const urls = nodes.map(({ url }) => url);
  const { QueueUrl = '' } = await mustCall(urls[0]!, 'CreateQueue', { QueueName: 'fair' });
  const alone = await play(urls, QueueUrl, 0);
  const beside = await play(urls, QueueUrl, busyPerSecond);
  const [waiting = 0] = await queueCounts(urls[0]!, QueueUrl);
  figure('alone: wait p50, p95, ms', [quantile(alone, 0.5), quantile(alone, 0.95)]);
  figure('beside it: wait p50, p95, ms', [quantile(beside, 0.5), quantile(beside, 0.95)]);
  figure('messages of the busy group that wait', waiting);
  const ratio = quantile(beside, 0.95) / quantile(alone, 0.95);
  figure('ratio', ratio.toFixed(2));
  check('there is a backlog of the busy group', waiting > 5 * seconds, waiting);
  check(
    'every quiet message is received',
    beside.quietMillis.length >= 0.97 * beside.quietSent,
    beside.quietSent,
  );
  check(`the p95 is at most ${ratioMax} times as long`, ratio <= ratioMax, ratio);
  for (const node of nodes) check('a node stops in order', (await node.stop()) === 0);
  await store.stop();
}

async function play(urls: readonly string[], QueueUrl: string, busy: number): Promise<Phase> {
  const phase: Phase = { quietMillis: [], quietSent: 0, over: false };
  const until = performance.now() + seconds * 1000;
  const working = Array.from({ length: workers }, (_, n) => work(urls[n % urls.length]!, QueueUrl, phase));
  const sending = Array.from({ length: quietGroups }, (_, n) =>
    send(urls, QueueUrl, `quiet${n}`, 1, until, phase),
  );
  if (busy > 0) sending.push(send(urls, QueueUrl, 'busy', busy, until, phase));
  await Promise.all(sending);
  await pause(2_000);
  phase.over = true;
  await Promise.all(working);
  return phase;
}

async function send(
  urls: readonly string[],
  QueueUrl: string,
  MessageGroupId: string,
  perSecond: number,
  until: number,
  phase: Phase,
): Promise<void> {
  const calls: Promise<unknown>[] = [];
  for (let n = 0; performance.now() < until; n++) {
    // Not in step with the others.
    await pause((1000 / perSecond) * 2 * Math.random());
    if (MessageGroupId !== 'busy') phase.quietSent++;
    const MessageBody = `${performance.now()}`;
    calls.push(mustCall(urls[n % urls.length]!, 'SendMessage', { QueueUrl, MessageBody, MessageGroupId }));
  }
  await Promise.all(calls);
}

async function work(url: string, QueueUrl: string, phase: Phase): Promise<void> {
  while (!phase.over) {
    const { Messages = [] } = await mustCall(url, 'ReceiveMessage', {
      QueueUrl,
      WaitTimeSeconds: 1,
      AttributeNames: ['MessageGroupId'],
    });
    for (const { Body, ReceiptHandle, Attributes } of Messages) {
      if (Attributes?.MessageGroupId !== 'busy') phase.quietMillis.push(performance.now() - Number(Body));
      await pause(-jobMillis * Math.log(1 - Math.random()));
      await mustCall(url, 'DeleteMessage', { QueueUrl, ReceiptHandle });
    }
  }
}

function quantile({ quietMillis }: Phase, part: number): number {
  const sorted = [...quietMillis].sort((a, b) => a - b);
  return Math.round(sorted[Math.floor(part * sorted.length)] ?? Number.NaN);
}

await runChecks(fairGroups);
