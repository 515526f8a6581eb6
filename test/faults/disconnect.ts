/**
 * A client that opens a long poll and disappears: by FIN, by RST, and by closing its half.
 * A message sent afterwards must reach the next receiver at once with a receive count of 1, not be swallowed until its
 * visibility timeout, which is an hour here.
 *
 *     node --import tsx test/faults/disconnect.ts [--store file|versitygw|both] [--rounds 1]
 */
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { check, option, runChecks } from './checks.ts';
import { freePorts } from './free-ports.ts';
import { type OkuriProcess, pause, startOkuri } from './okuri-process.ts';
import { mustCall, queueCounts, signedHeaders } from './signed-client.ts';
import { storeProxy } from './store-proxy.ts';
import { fileStore, temporaryFolder, versitygwStore } from './stores-for-okuri.ts';

const rounds = option('rounds', 1);
const port = await freePorts(8);
const storeNames = process.argv.includes('--store')
  ? process.argv[process.argv.indexOf('--store') + 1]
  : 'both';

/** What the vanishing client does with its socket. */
const departures: Readonly<Record<string, (socket: Socket) => void>> = {
  'it closes (FIN)': (socket) => socket.destroy(),
  'it resets (RST)': (socket) => socket.resetAndDestroy(),
  'it half-closes': (socket) => socket.end(),
};

/** Commits wait this long for company on a bucket, and its answers are held back much longer. */
const LINGER_MILLIS = 100;
const STORE_MILLIS = 400;

/**
 * When it goes, in milliseconds after the send began. Negative: the server has long seen it. Positive: while the
 * commit waits for company, and while the swap that leases the message to the waiting poll is on its way; 200 ms
 * are left for timers that a busy machine fires late.
 */
const moments = { file: [-200, 0], versitygw: [-200, 0, 50, 200, 300] } as const;
type StoreName = keyof typeof moments;

async function disconnect(name: StoreName): Promise<void> {
  console.log(`on ${name}`);
  const onVersitygw = name === 'versitygw';
  const folder = temporaryFolder();
  const store = onVersitygw ? await versitygwStore(folder, port) : fileStore(folder);
  const node = await startOkuri({
    port: port + 1,
    healthPort: port + 2,
    environment: onVersitygw ? await farAway(store.environment) : store.environment,
    logFile: join(folder, 'node.log'),
  });
  const { QueueUrl = '' } = await mustCall(node.url, 'CreateQueue', {
    QueueName: 'disconnect',
    Attributes: { VisibilityTimeout: '3600' },
  });
  for (const [what, depart] of Object.entries(departures)) {
    for (const when of moments[name])
      for (let round = 0; round < rounds; round += 1) await vanish(node, QueueUrl, what, depart, when);
  }
  const counts = await queueCounts(node.url, QueueUrl);
  check('nothing is held: visible, in flight, delayed', counts.join() === '0,0,0', counts);
  check('the node stops in order', (await node.stop()) === 0);
  await store.stop();
}

async function farAway(environment: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const OKURI_S3_ENDPOINT = await storeProxy({
    listenPort: port + 3,
    targetPort: port,
    answerDelayMillis: STORE_MILLIS,
  });
  return { ...environment, OKURI_S3_ENDPOINT, OKURI_LINGER_MS: `${LINGER_MILLIS}` };
}

/** Writes a signed ReceiveMessage of 20 s to a socket of its own. */
async function openPoll(node: OkuriProcess, QueueUrl: string): Promise<Socket> {
  const payload = JSON.stringify({ QueueUrl, WaitTimeSeconds: 20, MaxNumberOfMessages: 10 });
  const { host, hostname, port: nodePort } = new URL(node.url);
  const headers = {
    ...signedHeaders(host, 'ReceiveMessage', payload),
    'content-length': `${payload.length}`,
  };
  const socket = connect(Number(nodePort), hostname);
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST / HTTP/1.1\r\n${head.join('')}\r\n${payload}`);
  return socket;
}

async function vanish(
  node: OkuriProcess,
  QueueUrl: string,
  how: string,
  depart: (socket: Socket) => void,
  sendMillis: number,
): Promise<void> {
  const what = `${how} ${sendMillis} ms after the send began`;
  const socket = await openPoll(node, QueueUrl);
  await pause(150);
  if (sendMillis <= 0) {
    depart(socket);
    await pause(-sendMillis);
  }
  const sending = mustCall(node.url, 'SendMessage', { QueueUrl, MessageBody: what });
  if (sendMillis > 0) {
    await pause(sendMillis);
    depart(socket);
  }
  await sending;
  await receivedAtOnce(node, QueueUrl, what);
  socket.destroy();
}

async function receivedAtOnce(node: OkuriProcess, QueueUrl: string, what: string): Promise<void> {
  const { Messages = [] } = await mustCall(node.url, 'ReceiveMessage', {
    QueueUrl,
    WaitTimeSeconds: 10,
    MessageSystemAttributeNames: ['ApproximateReceiveCount'],
  });
  const [message] = Messages;
  check(`${what}: the message comes to the next receiver`, message?.Body === what, Messages);
  const count = message?.Attributes?.ApproximateReceiveCount;
  check(`${what}: with a receive count of 1`, count === '1', count);
  if (message !== undefined)
    await mustCall(node.url, 'DeleteMessage', { QueueUrl, ReceiptHandle: message.ReceiptHandle });
}

await runChecks(async () => {
  const names = (['file', 'versitygw'] as const).filter(
    (name) => storeNames === 'both' || storeNames === name,
  );
  if (names.length === 0) throw new TypeError(`there is no store ${storeNames}`);
  for (const name of names) await disconnect(name);
});
