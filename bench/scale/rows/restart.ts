/**
 * The one row in real time: okuri as a process of its own on versitygw, a backlog, `kill -9`, another process. The time
 * to the first message counts from the start of the process, so the runtime's own start is in it.
 */
import { join } from 'node:path';
import { freePorts } from '../../../test/faults/free-ports.ts';
import { type OkuriProcess, peakMemoryBytes, startOkuri } from '../../../test/faults/okuri-process.ts';
import { sendNumbered } from '../../../test/faults/send-numbered.ts';
import { mustCall, queueCounts } from '../../../test/faults/signed-client.ts';
import { temporaryFolder, versitygwStore } from '../../../test/faults/stores-for-okuri.ts';
import { bounds, type Figure, type RowFigures, smallPart } from '../figures.ts';

const senders = 64;
const bodyBytes = 256;

export async function runRestart(part: number): Promise<RowFigures> {
  const wanted = Math.round(1_000_000 * part);
  const port = await freePorts(8);
  const folder = temporaryFolder();
  const store = await versitygwStore(folder, port + 2);
  const start = () =>
    startOkuri({
      port,
      healthPort: port + 1,
      environment: store.environment,
      logFile: join(folder, 'node.log'),
    });
  const figures: Figure[] = [];
  const most = part <= smallPart ? bounds.smallNodeBytes : bounds.nodeBytes;
  const memory = (when: string, node: OkuriProcess) =>
    figures.push({
      name: `peak resident memory, ${when}`,
      unit: 'bytes',
      value: peakMemoryBytes(node.pid),
      most,
    });

  let began = performance.now();
  let node = await start();
  const emptyMillis = performance.now() - began;
  figures.push({ name: 'start on an empty bucket', unit: 'millis', value: emptyMillis });
  const { QueueUrl = '' } = await mustCall(node.url, 'CreateQueue', {
    QueueName: 'backlog',
    Attributes: { VisibilityTimeout: '3600' },
  });
  began = performance.now();
  await sendNumbered(node, QueueUrl, { messages: wanted, bodyBytes, senders });
  const sentMillis = performance.now() - began;
  figures.push({ name: 'sends a second', unit: 'count', value: Math.round((wanted / sentMillis) * 1000) });
  memory('sending', node);
  await node.kill();

  began = performance.now();
  node = await start();
  const readyMillis = performance.now() - began;
  const { Messages = [] } = await mustCall(node.url, 'ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 10 });
  const firstMillis = performance.now() - began;
  figures.push({ name: 'ready after kill -9', unit: 'millis', value: readyMillis });
  figures.push({
    name: 'first receive after kill -9',
    unit: 'millis',
    value: firstMillis,
    // Beside the rest of CI the runtime alone may take as long to start.
    ...(part <= smallPart ? {} : { most: bounds.firstReceiveMillis }),
  });
  figures.push({
    name: 'beyond a start on an empty bucket',
    unit: 'millis',
    value: firstMillis - emptyMillis,
    most: bounds.firstReceiveMillis,
  });
  figures.push({ name: 'messages in it', unit: 'count', value: Messages.length, least: 1 });
  const counts = (await queueCounts(node.url, QueueUrl)).map(Number);
  figures.push({
    name: 'messages there',
    unit: 'count',
    value: counts.reduce((sum, count) => sum + count, 0),
    least: wanted,
    most: wanted,
  });
  memory('after the restart', node);
  await node.stop();
  await store.stop();
  return { row: 'restart', figures };
}
