/**
 * A message move task on several okuri processes: `kill -9` of the node that runs it, more than once, and another goes on. Every message has to
 * be at the destination once, none in the source, and never more of them moved than the rate allows.
 *
 *     node --import tsx test/faults/move-task.ts [--messages 100000] [--rate 500] [--nodes 3] [--kills 3] [--port N] [--reach 0.9]
 *
 * The first to be killed stays dead until another node has gone on by itself: one that nobody has told of the task. Those killed later are started again
 * at once, as a supervisor would. Between a kill and the next step nothing moves; elsewhere nine tenths of the rate (`--reach`; 0 on a
 * machine with other work) have to be reached.
 */
import { join } from 'node:path';
import { check, figure, option, runChecks } from './checks.ts';
import { freePorts } from './free-ports.ts';
import { counter, type OkuriProcess, pause, startOkuri } from './okuri-process.ts';
import { sendNumbered } from './send-numbered.ts';
import { call, mustCall, queueCounts, type SqsMessage } from './signed-client.ts';
import { temporaryFolder, versitygwStore } from './stores-for-okuri.ts';

const messages = option('messages', 100_000);
const rate = option('rate', 500);
const nodeCount = option('nodes', 3);
const kills = option('kills', 3);
const reach = option('reach', 0.9);
const port = option('port', 0) || (await freePorts(1 + 2 * 5));

const BODY_BYTES = 64;
const SAMPLE_MILLIS = 500;
/** What may arrive late and together: what is on its way at one time. */
const UNDER_WAY = 100;
/** LISTs of markers a minute apart, patience of ten seconds, and a busy machine. */
const TAKEN_OVER_WITHIN_MILLIS = 100_000;

interface Sample {
  readonly from: number;
  readonly to: number;
  readonly arrived: number;
}

const nodes: OkuriProcess[] = [];
const samples: Sample[] = [];
/** From each kill until something moved again. */
const gaps: { from: number; to: number }[] = [];
let restart: (index: number) => Promise<void> = async () => {};

async function moveTask(): Promise<void> {
  console.log(`move-task: ${messages} messages at ${rate} a second, ${nodeCount} nodes, ${kills} kills`);
  const folder = temporaryFolder();
  const store = await versitygwStore(folder, port);
  restart = async (index) => {
    nodes[index] = await startOkuri({
      port: port + 1 + 2 * index,
      healthPort: port + 2 + 2 * index,
      environment: store.environment,
      logFile: join(folder, `node-${index}.log`),
    });
  };
  for (let index = 0; index < nodeCount; index += 1) await restart(index);
  const urls = nodes.map(({ url }) => url);
  const first = urls[0] as string;
  const source = await create(first, 'dead-letters');
  const target = await create(first, 'destination');
  await create(first, 'origin', {
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arn('dead-letters'), maxReceiveCount: 1 }),
  });
  const filled = Date.now();
  await sendNumbered(nodes[0]!, source, { messages, bodyBytes: BODY_BYTES, senders: 24 });
  figure('sent, seconds', Math.round((Date.now() - filled) / 1000));

  const began = Date.now();
  await mustCall(first, 'StartMessageMoveTask', {
    SourceArn: arn('dead-letters'),
    DestinationArn: arn('destination'),
    MaxNumberOfMessagesPerSecond: rate,
  });
  const times = await watch(target, began);
  figure('moved, seconds', Math.round((Date.now() - began) / 1000));
  const task = await taskOf();
  check('the task is COMPLETED', task.Status === 'COMPLETED', task);
  check('it counts every message once', task.ApproximateNumberOfMessagesMoved === messages, task);
  check('the node that ran it was killed as often as was asked for', times === kills, times);
  const left = await queueCounts(alive().url, source);
  check('nothing is left in the source', left.join() === '0,0,0', left);
  judgeRate();
  await judgeMessages(target);
  for (const node of nodes) check('a node stops in order', (await node.stop()) === 0);
  await store.stop();
}

const arn = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;
const alive = () => nodes[0] as OkuriProcess;

async function create(url: string, QueueName: string, Attributes: object = {}): Promise<string> {
  return (await mustCall(url, 'CreateQueue', { QueueName, Attributes })).QueueUrl ?? '';
}

interface Task {
  readonly Status?: string;
  readonly ApproximateNumberOfMessagesMoved?: number;
}

async function taskOf(): Promise<Task> {
  for (const { url } of nodes) {
    const answer = await call(url, 'ListMessageMoveTasks', { SourceArn: arn('dead-letters') });
    if (answer.kind === 'ok')
      return (answer.body as { readonly Results?: readonly Task[] }).Results?.[0] ?? {};
  }
  return {};
}

/** Samples until the task is over; kills on the way. @returns how often the node that ran it was killed. */
async function watch(target: string, began: number): Promise<number> {
  const deadline = began + (messages / rate) * 2_000 + (kills + 1) * TAKEN_OVER_WITHIN_MILLIS;
  let killed = 0;
  while (Date.now() < deadline) {
    const sample = await take(target);
    const share = sample.arrived / messages;
    if (killed < kills && share > (killed + 1) / (kills + 2)) {
      await killRunner(killed === 0 && nodeCount > 1, target);
      killed += 1;
    }
    if (share >= 1 && (await taskOf()).Status !== 'RUNNING') return killed;
    await pause(SAMPLE_MILLIS);
  }
  check('the task ends in time', false, samples.at(-1));
  return killed;
}

/** How many have arrived, as a node that lives says. */
async function take(target: string): Promise<Sample> {
  for (;;) {
    for (const { url } of nodes) {
      const from = Date.now();
      const answer = await call(url, 'GetQueueAttributes', { QueueUrl: target, AttributeNames: ['All'] });
      if (answer.kind !== 'ok') continue;
      const arrived = Number(answer.body.Attributes?.ApproximateNumberOfMessages);
      const sample = { from, to: Date.now(), arrived };
      samples.push(sample);
      return sample;
    }
    await pause(50);
  }
}

async function killRunner(staysDead: boolean, target: string): Promise<void> {
  const index = await runner();
  const from = Date.now();
  await nodes[index]!.kill();
  figure(`killed node ${index} after messages`, samples.at(-1)?.arrived);
  if (!staysDead) await restart(index);
  // What it had sent off may still arrive.
  await pause(2_000);
  const { arrived } = await take(target);
  for (let now = arrived; now === arrived && Date.now() < from + TAKEN_OVER_WITHIN_MILLIS; ) {
    await pause(SAMPLE_MILLIS);
    now = (await take(target)).arrived;
  }
  const to = Date.now();
  gaps.push({ from, to });
  figure('gone on with after seconds', ((to - from) / 1000).toFixed(1));
  check('another node goes on', samples.at(-1)!.arrived > arrived, samples.at(-1));
  if (staysDead) await restart(index);
}

/** Whose counter of moved messages rises. */
async function runner(): Promise<number> {
  const moved = () =>
    Promise.all(nodes.map((node) => counter(node, 'okuri_moved_messages_total', () => true)));
  for (;;) {
    const before = await moved();
    await pause(1_000);
    const after = await moved();
    const index = after.findIndex((count, at) => count > before[at]!);
    if (index >= 0) return index;
  }
}

/** In no window of some seconds did more arrive than the rate, a second's worth that may be saved, and what was under way. */
function judgeRate(): void {
  let worst = 0;
  for (const [at, start] of samples.entries())
    for (const end of samples.slice(at + 1)) {
      if (end.from - start.to < 3_000) continue;
      if (end.to - start.from > 20_000) break;
      const allowed = (rate * (end.to - start.from)) / 1_000 + rate + UNDER_WAY;
      worst = Math.max(worst, (end.arrived - start.arrived) / allowed);
    }
  check('never more than the rate in any window of 3 to 20 seconds', worst <= 1, worst);
  figure('the fullest window, of what it may hold', worst.toFixed(3));
  let best = 0;
  for (const [from, to] of undisturbed()) {
    const inside = samples.filter((sample) => sample.from >= from && sample.to <= to);
    const [start, end] = [inside[0], inside.at(-1)];
    if (!start || !end || end.from - start.from < 5_000) continue;
    const reached = ((end.arrived - start.arrived) * 1_000) / (end.from - start.from);
    figure(
      `undisturbed for ${Math.round((end.from - start.from) / 1000)} s, messages a second`,
      reached.toFixed(1),
    );
    best = Math.max(best, reached);
  }
  check(`undisturbed it moves ${reach} of its rate`, best >= reach * rate, best);
}

function undisturbed(): readonly (readonly [number, number])[] {
  const end = samples.find(({ arrived }) => arrived >= messages)?.from ?? Date.now();
  const starts = [samples[0]!.from + 2_000, ...gaps.map(({ to }) => to + 2_000)];
  return starts.map((from, index) => [from, gaps[index]?.from ?? end] as const);
}

async function judgeMessages(target: string): Promise<void> {
  const bodies = new Map<string, number>();
  const ids = new Set<string>();
  let received = 0;
  const note = ({ Body, MessageId }: SqsMessage) => {
    received += 1;
    ids.add(MessageId);
    bodies.set(Body, (bodies.get(Body) ?? 0) + 1);
  };
  const consume = async (url: string) => {
    for (let empty = 0; empty < 3; ) {
      const { Messages = [] } = await mustCall(url, 'ReceiveMessage', {
        QueueUrl: target,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: 43_200,
      });
      for (const message of Messages) note(message);
      empty = Messages.length === 0 ? empty + 1 : 0;
      if (Messages.length === 0) continue;
      const Entries = Messages.map(({ ReceiptHandle }, n) => ({ Id: `${n}`, ReceiptHandle }));
      await mustCall(url, 'DeleteMessageBatch', { QueueUrl: target, Entries });
    }
  };
  await Promise.all(Array.from({ length: 24 }, () => consume(alive().url)));
  let lost = 0;
  for (let n = 0; n < messages; n += 1) if (!bodies.has(`${n}`.padEnd(BODY_BYTES, '.'))) lost += 1;
  const doubled = [...bodies.values()].filter((count) => count > 1).length;
  check('no message is lost', lost === 0, lost);
  check('no message is there twice', doubled === 0 && received === messages, [doubled, received]);
  check('each has an id of its own', ids.size === messages, ids.size);
}

await runChecks(moveTask);
