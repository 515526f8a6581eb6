/**
 * What a message costs: one node on versitygw, linger 100 ms, 100 messages of 256 B a second produced and consumed,
 * store requests counted by the node's own meter. At most 0.2 writes a message for produce and consume together.
 *
 *     node --import tsx test/faults/writes-per-message.ts [--seconds 60] [--rate 100]
 */
import { join } from 'node:path';
import { check, figure, option, runChecks } from './checks.ts';
import { freePorts } from './free-ports.ts';
import { counter, type OkuriProcess, pause, startOkuri } from './okuri-process.ts';
import { mustCall, queueCounts } from './signed-client.ts';
import { temporaryFolder, versitygwStore } from './stores-for-okuri.ts';

const WRITES_PER_MESSAGE = 0.2;
/** AWS, us-east-1, S3 Standard: $0.005 per thousand PUT and LIST, $0.0004 per thousand GET. */
const WRITE_DOLLARS = 0.005 / 1000;
const READ_DOLLARS = 0.0004 / 1000;
const CONSUMERS = 2;

const seconds = option('seconds', 60);
const rate = option('rate', 100);
const port = await freePorts(8);

interface StoreRequests {
  readonly writes: number;
  readonly reads: number;
  readonly lists: number;
}

async function storeRequests(node: OkuriProcess): Promise<StoreRequests> {
  const count = (pattern: RegExp) =>
    counter(node, 'okuri_store_requests_total', (labels) => pattern.test(labels));
  return {
    writes: await count(/class="(put|conditional_put)"/),
    reads: await count(/class="get"/),
    lists: await count(/class="list"/),
  };
}

async function writesPerMessage(): Promise<void> {
  const folder = temporaryFolder();
  const store = await versitygwStore(folder, port);
  const node = await startOkuri({
    port: port + 1,
    healthPort: port + 2,
    environment: { ...store.environment, OKURI_LINGER_MS: '100' },
    logFile: join(folder, 'node.log'),
  });
  const { QueueUrl = '' } = await mustCall(node.url, 'CreateQueue', { QueueName: 'cost' });
  const before = await storeRequests(node);
  const total = seconds * rate;
  const latencies: number[] = [];
  const got = new Set<string>();
  await Promise.all([
    produceAtRate(node, QueueUrl, total, latencies),
    ...Array.from({ length: CONSUMERS }, () => consumeAll(node, QueueUrl, total, got)),
  ]);
  const after = await storeRequests(node);
  const counts = await queueCounts(node.url, QueueUrl);
  check('every message was produced, consumed and deleted', counts.join() === '0,0,0', counts);

  const writes = after.writes - before.writes;
  const reads = after.reads - before.reads;
  const lists = after.lists - before.lists;
  const dollars = ((writes + lists) * WRITE_DOLLARS + reads * READ_DOLLARS) * (1_000_000 / total);
  latencies.sort((a, b) => a - b);
  figure('messages', total);
  figure('writes, reads, lists', [writes, reads, lists]);
  figure('writes a message', (writes / total).toFixed(4));
  figure('dollars per million messages', dollars.toFixed(3));
  figure('send latency p50, p99, ms', [
    latencies[Math.floor(total / 2)],
    latencies[Math.floor(total * 0.99)],
  ]);
  check('the meter counts', writes > 0, after);
  check(
    `at most ${WRITES_PER_MESSAGE} writes a message`,
    writes / total <= WRITES_PER_MESSAGE,
    writes / total,
  );
  check('the node stops in order', (await node.stop()) === 0);
  await store.stop();
}

async function produceAtRate(
  node: OkuriProcess,
  QueueUrl: string,
  total: number,
  latencies: number[],
): Promise<void> {
  const began = performance.now();
  const sends: Promise<void>[] = [];
  for (let n = 0; n < total; n += 1) {
    const due = began + (n * 1000) / rate;
    if (due > performance.now()) await pause(due - performance.now());
    const at = performance.now();
    const MessageBody = `${n}`.padEnd(256, '.');
    sends.push(
      mustCall(node.url, 'SendMessage', { QueueUrl, MessageBody }).then(() => {
        latencies.push(Math.round(performance.now() - at));
      }),
    );
  }
  await Promise.all(sends);
}

async function consumeAll(
  node: OkuriProcess,
  QueueUrl: string,
  total: number,
  got: Set<string>,
): Promise<void> {
  const deletes: Promise<unknown>[] = [];
  const deadline = Date.now() + (seconds + 60) * 1000;
  while (got.size < total && Date.now() < deadline) {
    const { Messages = [] } = await mustCall(node.url, 'ReceiveMessage', {
      QueueUrl,
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: got.size < total * 0.99 ? 20 : 1,
    });
    if (Messages.length === 0) continue;
    for (const message of Messages) got.add(message.MessageId);
    const Entries = Messages.map((message, n) => ({ Id: `${n}`, ReceiptHandle: message.ReceiptHandle }));
    deletes.push(mustCall(node.url, 'DeleteMessageBatch', { QueueUrl, Entries }));
  }
  await Promise.all(deletes);
}

await runChecks(writesPerMessage);
