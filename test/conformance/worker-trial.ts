/**
 * Whether a client does a worker's job: 60 jobs for two workers, of which one fails once and one hangs until its worker
 * is killed by `kill -9` with its whole process group; then a job for the other, which waits in a long poll of 20 s
 * (`short-poll`: its polls wait less, so that nothing is known of what woke it).
 *
 *     node --import tsx test/conformance/worker-trial.ts long-poll|short-poll COMMAND [ARGUMENT]...
 *
 * The command with `send FROM COUNT` sends jobs that are numbered from FROM, and prints a line `did …` for each thing it
 * shows beyond that; with `work` it works until SIGTERM. Both find their queue in JOB_QUEUE. A worker writes empty files
 * `<event>-<number>.$JOB_WORKER` into JOB_RECORDS: `failed` when job JOB_FAILS fails, once in all; `started` when job
 * JOB_HANGS begins, which hangs for minutes in the worker that begins it first; `done` at the end of each job.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { check } from './aws-sdk-js/checks.ts';

const JOBS = 60;
const FAILS = 7;
const HANGS = 23;
const VISIBILITY_SECONDS = 10;
/** Long after the visibility timeout, for a virtual machine that starts on a busy core. */
const WAIT_MILLIS = 90_000;
/** Half of what a worker's long poll waits: one that is not woken misses it more often than not. */
const WOKEN_MILLIS = 10_000;
/** Holds our pipe, and kills the process group when we are gone, also by `kill -9`. */
const GUARD = 'cat >/dev/null; kill -9 -"$0"';
/** Told by SIGTERM to stop, Java's and shells' processes end with 143, or by the signal. */
const STOPPED = [0, 143, 'SIGTERM'];

const [poll, command = '', ...args] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'okuri-worker-'));
const queue = `jobs-${randomBytes(6).toString('hex')}`;
const sqs = new SQSClient({});
const workers = new Map<string, ChildProcess>();
const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis));

function start(name: string, ...more: readonly string[]): ChildProcess {
  const log = openSync(join(folder, `${name}.log`), 'a');
  const child = spawn(command, [...args, ...more], {
    stdio: ['ignore', log, log],
    detached: true,
    env: {
      ...process.env,
      JOB_QUEUE: queue,
      JOB_RECORDS: folder,
      JOB_WORKER: name,
      JOB_FAILS: `${FAILS}`,
      JOB_HANGS: `${HANGS}`,
    },
  });
  closeSync(log);
  child.once('error', (error) => fail(`${command} starts`, error));
  const guard = spawn('sh', ['-c', GUARD, `${child.pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  child.once('exit', () => {
    killGroup(child);
    guard.kill('SIGKILL');
  });
  return child;
}

const ended = (child: ChildProcess): Promise<number | string | null> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve(child.exitCode ?? child.signalCode)
    : new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));

function killGroup(child: ChildProcess): void {
  try {
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** Of one event: the files' suffixes, which name the workers, by number. */
function records(event: string): ReadonlyMap<number, readonly string[]> {
  const seen = new Map<number, string[]>();
  for (const name of readdirSync(folder)) {
    const [, number, worker] = new RegExp(`^${event}-(\\d+)\\.(.+)$`).exec(name) ?? [];
    if (number === undefined || worker === undefined) continue;
    seen.set(Number(number), [...(seen.get(Number(number)) ?? []), worker]);
  }
  return seen;
}

function fail(what: string, seen: unknown): never {
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.log'))) {
    const text = readFileSync(join(folder, name), 'utf8');
    // Java says at the beginning what went wrong, others at the end.
    console.log(
      `--- ${name}\n${text.length > 4_000 ? `${text.slice(0, 1_000)}\n…\n${text.slice(-3_000)}` : text}`,
    );
  }
  check(what, false, seen);
}

async function waitUntil(what: string, holds: () => boolean | Promise<boolean>, millis = WAIT_MILLIS) {
  const deadline = Date.now() + millis;
  while (!(await holds())) {
    if (Date.now() > deadline) fail(what, readdirSync(folder).sort().join(' '));
    await pause(100);
  }
  check(what, true);
}

async function send(from: number, count: number): Promise<void> {
  const sender = start('sender', 'send', `${from}`, `${count}`);
  workers.set('sender', sender);
  const status = await ended(sender);
  workers.delete('sender');
  if (status !== 0) fail(`sends ${count} jobs`, status);
  check(`sends ${count} jobs`, true);
}

async function isEmpty(QueueUrl: string): Promise<boolean> {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
  const Attributes: Readonly<Record<string, string>> = (await sqs.send(command)).Attributes ?? {};
  const counts = ['', 'NotVisible', 'Delayed'].map(
    (suffix) => Attributes[`ApproximateNumberOfMessages${suffix}`],
  );
  return counts.every((count) => count === '0');
}

const { QueueUrl = '' } = await sqs.send(
  new CreateQueueCommand({ QueueName: queue, Attributes: { VisibilityTimeout: `${VISIBILITY_SECONDS}` } }),
);
for (const name of ['first', 'second']) workers.set(name, start(name, 'work'));
await send(0, JOBS);

await waitUntil('the job that hangs starts', () => records('started').has(HANGS));
await pause(500);
const victim = records('started').get(HANGS)?.[0] ?? '';
const killed = workers.get(victim);
if (killed === undefined) fail('a worker has it', victim);
killGroup(killed);
workers.delete(victim);
check('its worker is killed', (await ended(killed)) === 'SIGKILL');

await waitUntil('every job is done', () => records('done').size === JOBS);
check('one job failed once', records('failed').size === 1 && records('failed').get(FAILS)?.length === 1);
const [survivor = ''] = workers.keys();
check(
  'the killed worker’s job ran on the other',
  `${records('done').get(HANGS)}` === survivor,
  records('done').get(HANGS),
);
await waitUntil('every message is deleted', () => isEmpty(QueueUrl));

await pause(1_000);
await send(JOBS, 1);
await waitUntil(
  poll === 'long-poll' ? 'a long poll is woken by a job' : 'a job comes late',
  () => records('done').has(JOBS),
  WOKEN_MILLIS,
);
await waitUntil('its message is deleted', () => isEmpty(QueueUrl));
const last = workers.get(survivor);
last?.kill('SIGTERM');
const status = last && (await ended(last));
check('the worker stops', STOPPED.includes(status ?? ''), status);
workers.clear();

const said = readFileSync(join(folder, 'sender.log'), 'utf8').match(/^did .+$/gm) ?? [];
for (const line of new Set(said)) console.log(line);
for (const deed of [`${JOBS + 1} jobs`, '1 retry', '1 job of a worker killed by kill -9'])
  console.log(`did ${deed}`);
if (poll === 'long-poll') console.log('did long poll');
await sqs.send(new DeleteQueueCommand({ QueueUrl }));
rmSync(folder, { recursive: true, force: true });
