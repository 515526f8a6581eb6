/**
 * okuri on the embedded file store, killed with SIGKILL in the middle of traffic and started again on the same folder,
 * several times. Everything acknowledged must be there, and the lock of the dead process must be taken over.
 *
 *     node --import tsx test/faults/kill-file-store.ts [--messages 3000] [--kills 5] [--seed N]
 */
import { join } from 'node:path';
import { check, figure, option, runChecks } from './checks.ts';
import { freePorts } from './free-ports.ts';
import { violationsOf } from './history.ts';
import { pause, startOkuri } from './okuri-process.ts';
import { seededRandom } from './random.ts';
import { consume, type Progress, produce } from './random-clients.ts';
import { emptyHistory, recordingClient } from './recording-client.ts';
import { mustCall, queueCounts } from './signed-client.ts';
import { fileStore, temporaryFolder } from './stores-for-okuri.ts';

const wanted = option('messages', 3_000);
const kills = option('kills', 5);
const seed = option('seed', Date.now() % 2 ** 31);
const port = await freePorts(8);

async function killFileStore(): Promise<void> {
  console.log(`kill-file-store: ${wanted} messages between ${kills} kills, seed ${seed}`);
  const random = seededRandom(seed);
  const folder = temporaryFolder();
  const start = () =>
    startOkuri({
      port,
      healthPort: port + 1,
      environment: fileStore(folder).environment,
      logFile: join(folder, 'node.log'),
    });
  let node = await start();
  const { QueueUrl = '' } = await mustCall(node.url, 'CreateQueue', { QueueName: `kill-${seed}` });
  const history = emptyHistory();
  const client = () => recordingClient([node.url], QueueUrl, history, random.fork());
  const progress: Progress = { acknowledged: 0, wanted: 0, stop: false, draining: false };
  const consumers = [1, 2].map(() => consume(client(), random.fork(), progress));

  for (let kill = 0; kill < kills; kill += 1) {
    const part: Progress = { ...progress, acknowledged: 0, wanted: Math.ceil(wanted / kills) };
    const producers = [0, 1, 2].map((n) => produce(`k${kill}p${n}`, client(), random.fork(), part));
    while (part.acknowledged < part.wanted * (0.3 + 0.5 * random.unit())) await pause(5);
    await node.kill();
    node = await start();
    await Promise.all(producers);
    check(`kill ${kill + 1}: the next start takes the folder over, and traffic goes on`, true);
  }

  progress.draining = true;
  const deadline = Date.now() + 120_000;
  let counts = await queueCounts(node.url, QueueUrl);
  while (counts.some((count) => count > 0) && Date.now() < deadline) {
    await pause(250);
    counts = await queueCounts(node.url, QueueUrl);
  }
  progress.stop = true;
  await Promise.all(consumers);
  check('the queue is drained: visible, in flight, delayed', counts.join() === '0,0,0', counts);
  const violations = violationsOf(history);
  check('everything acknowledged came, nothing came back', violations.length === 0, violations.slice(0, 5));
  check('no client was refused but by 503', history.mistakes.length === 0, history.mistakes.slice(0, 5));
  figure('sends acknowledged', history.sends.filter((send) => send.messageId !== undefined).length);
  figure('deliveries', history.deliveries.length);
  figure('calls without an answer', history.withoutAnswer);
  check('the node stops in order', (await node.stop()) === 0);
}

await runChecks(killFileStore);
