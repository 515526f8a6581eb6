/**
 * A backlog: sends many messages, checks that the node stays small, drains a part and
 * checks what came, restarts the node on the backlog and checks that nothing is missing.
 *
 *     node --import tsx test/faults/backlog.ts [--store file|versitygw] [--messages 200000]
 *         [--bytes 256] [--drain 20000]
 */
import { join } from 'node:path';
import { check, figure, option, runChecks } from './checks.ts';
import { freePorts } from './free-ports.ts';
import { type OkuriProcess, peakMemoryBytes, startOkuri } from './okuri-process.ts';
import { sendNumbered } from './send-numbered.ts';
import { mustCall, queueCounts } from './signed-client.ts';
import { fileStore, temporaryFolder, versitygwStore } from './stores-for-okuri.ts';

const MEMORY_BYTES = 512 * 1024 * 1024;

const messages = option('messages', 200_000);
const toDrain = Math.min(option('drain', 20_000), messages);
const port = await freePorts(8);
const bodyBytes = option('bytes', 256);
const onVersitygw = process.argv.includes('versitygw');
/** On a bucket a commit takes a tenth of a second and carries many small calls. */
const CLIENTS = onVersitygw && bodyBytes < 4_096 ? 64 : 16;

async function backlog(): Promise<void> {
  const folder = temporaryFolder();
  const store = onVersitygw ? await versitygwStore(folder, port + 2) : fileStore(folder);
  const start = () =>
    startOkuri({
      port,
      healthPort: port + 1,
      environment: store.environment,
      logFile: join(folder, 'node.log'),
    });
  let node = await start();
  const { QueueUrl = '' } = await mustCall(node.url, 'CreateQueue', {
    QueueName: 'backlog',
    Attributes: { VisibilityTimeout: '3600' },
  });

  let began = Date.now();
  const busy = await sendNumbered(node, QueueUrl, { messages, bodyBytes, senders: CLIENTS });
  figure('calls answered 503 and repeated', busy);
  figure('sends a second', Math.round((messages / (Date.now() - began)) * 1000));
  checkMemory('after the sends', node);
  check('the backlog is counted', (await queueCounts(node.url, QueueUrl)).join() === `${messages},0,0`);

  began = Date.now();
  const seen = new Set<number>();
  await drainUntil(node, QueueUrl, seen, toDrain);
  figure('received and deleted a second', Math.round((seen.size / (Date.now() - began)) * 1000));
  checkMemory('after draining a part', node);
  const left = `${messages - seen.size},0,0`;
  const counts = await queueCounts(node.url, QueueUrl);
  check('the rest is counted', counts.join() === left, counts);

  check('the node stops in order', (await node.stop()) === 0);
  node = await start();
  const again = await queueCounts(node.url, QueueUrl);
  check('after a restart the same is there', again.join() === left, again);
  await drainUntil(node, QueueUrl, seen, Math.min(messages, seen.size + toDrain));
  checkMemory('after a restart and another part', node);
  check('the node stops in order', (await node.stop()) === 0);
  await store.stop();
}

async function drainUntil(
  node: OkuriProcess,
  QueueUrl: string,
  seen: Set<number>,
  wanted: number,
): Promise<void> {
  const wrong: string[] = [];
  const client = async () => {
    while (seen.size < wanted) {
      const { Messages = [] } = await mustCall(node.url, 'ReceiveMessage', {
        QueueUrl,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 5,
      });
      if (Messages.length === 0) throw new Error(`nothing more comes after ${seen.size} messages`);
      for (const message of Messages) {
        const number = Number.parseInt(message.Body, 10);
        const whole = message.Body === `${number}`.padEnd(bodyBytes, '.');
        if (!whole || number >= messages || seen.has(number)) wrong.push(message.Body.slice(0, 20));
        seen.add(number);
      }
      const Entries = Messages.map((message, n) => ({ Id: `${n}`, ReceiptHandle: message.ReceiptHandle }));
      await mustCall(node.url, 'DeleteMessageBatch', { QueueUrl, Entries });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  check(`${wanted} messages came, each whole and once`, wrong.length === 0, wrong.slice(0, 5));
}

function checkMemory(when: string, node: OkuriProcess): void {
  const peak = peakMemoryBytes(node.pid);
  figure(`peak resident memory ${when}, MiB`, Math.round(peak / 1024 / 1024));
  check(`${when}: the node stayed under 512 MiB`, peak < MEMORY_BYTES, peak);
}

await runChecks(backlog);
