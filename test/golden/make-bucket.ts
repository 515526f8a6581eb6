/**
 * Makes a new golden bucket: `node --import tsx test/golden/make-bucket.ts NAME`, once for a format that gained
 * something, never in CI and never for a name that exists. Virtual time and seeded randomness, the real engine; what a
 * reader must find is what this commit finds, and is compared with what was sent.
 *
 * Limits are small, so that every place where a message can be, pages among them (paged-queues.ts, fifo-queues.ts, task-queues.ts), is reached with a
 * few kilobytes.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { queueLimits } from '../../src/core/limits.ts';
import type { MessageAttributes } from '../../src/core/message.ts';
import type { ReceivedMessage } from '../../src/engine/queue-api.ts';
import { manifestKey } from '../../src/format/object-keys.ts';
import { Gate } from '../support/scripted-store.ts';
import { entryOf, minute, redrivePolicy, second, type TestNode, World } from '../support/world.ts';
import { makeFifoQueues } from './fifo-queues.ts';
import {
  attributesAndCounts,
  buckets,
  type Expected,
  type ExpectedQueue,
  openBucket,
  takeEverything,
} from './golden-bucket.ts';
import { makePagedQueues, pairsOfLeases } from './paged-queues.ts';
import { makeTaskQueues } from './task-queues.ts';

const limits = { ...queueLimits, tailBytesMax: 2_000, inlineMessageBytesMax: 1_000, segmentBytesMax: 1_200 };

const [name] = process.argv.slice(2);
if (name === undefined || !/^[a-z0-9-]+$/.test(name)) throw new TypeError('make-bucket.ts NAME');
const folder = new URL(`${name}/`, buckets);
if (existsSync(folder)) throw new TypeError(`${name} exists: golden buckets never change`);

const world = new World();
const node = world.startNode({ limits });
/** Bodies still there, by queue. */
const sent = new Map<string, string[]>();

async function send(from: TestNode, queue: string, ...bodies: readonly string[]): Promise<void> {
  await from.send(queue, ...bodies);
  sent.set(queue, [...(sent.get(queue) ?? []), ...bodies]);
}

async function sendDelayed(
  from: TestNode,
  queue: string,
  delays: ReadonlyMap<string, number>,
): Promise<void> {
  const entries = [...delays].map(([body, delaySeconds]) => ({ ...entryOf(body), delaySeconds }));
  const outcome = await world.run(from.service.send(queue, 'AIDATEST', entries));
  assert.equal(outcome.kind, 'done');
  sent.set(queue, [...(sent.get(queue) ?? []), ...delays.keys()]);
}

async function forget(by: TestNode, queue: string, messages: readonly ReceivedMessage[]): Promise<void> {
  await by.delete(queue, ...messages);
  for (const { message } of messages) sent.get(queue)!.splice(sent.get(queue)!.indexOf(message.body), 1);
}

/** Two nodes have written; attributes, characters and forms of every kind. */
async function makeTail(): Promise<void> {
  await node.create('tail', { VisibilityTimeout: '45', MessageRetentionPeriod: '1209600' });
  const attributes: MessageAttributes = new Map([
    ['count', { kind: 'text', dataType: 'Number.int', text: '-7' }],
    ['empty', { kind: 'text', dataType: 'String', text: '' }],
    ['raw', { kind: 'binary', dataType: 'Binary.png', bytes: Uint8Array.of(0, 127, 128, 255) }],
  ]);
  const content = {
    body: '\ufeffgrüße\r\n😀',
    attributes,
    traceHeader: 'Root=1-5759e988',
    groupId: 'tenant-7',
  };
  const entry = { content, contentBytes: 64, delaySeconds: undefined };
  const outcome = await world.run(node.service.send('tail', 'AIDAGOLDEN', [entry]));
  assert.equal(outcome.kind, 'done');
  sent.set('tail', [content.body]);
  const other = world.startNode({ limits });
  await send(other, 'tail', 'from another node', 'x');
  other.kill();
  await send(node, 'tail', 'after it');
}

/** Several segments, one with a deleted message, one whose messages were stamped again after a lost swap. */
async function makeSegments(): Promise<void> {
  const queue = 'segments';
  await node.create(queue);
  const body = (n: number) => `${n} `.padEnd(150 + n, 'segment ');
  for (const first of [0, 10, 20])
    await send(node, queue, ...Array.from({ length: 10 }, (_, n) => body(first + n)));
  await send(node, queue, 'large '.repeat(300));
  await forget(
    node,
    queue,
    (await node.receive(queue, { maxMessages: 3, visibilityTimeoutSeconds: 3_600 })).slice(0, 2),
  );
  // Uploaded, then the swap loses to another node's, two seconds later.
  const other = world.startNode({ limits });
  await other.counts(queue);
  const gate = new Gate();
  node.store.script({ method: 'putIfMatch', key: manifestKey(queue) }, gate.before);
  const bodies = Array.from({ length: 10 }, (_, n) => body(30 + n));
  const late = node.sending(queue, ...bodies);
  await world.run(gate.reached);
  await world.clock.advance(2 * second);
  await send(other, queue, 'it came between');
  gate.open();
  const outcome = await world.run(late);
  assert.equal(outcome.kind, 'done');
  sent.get(queue)!.push(...bodies);
  other.kill();
  await send(node, queue, 'in the tail');
  const { segments } = await world.state(queue);
  const runs = [...segments.values()].flatMap((reference) => reference.runs);
  assert.ok(
    runs.some(({ sentAtShiftMillis }) => sentAtShiftMillis > 0),
    'a run has shifted stamps',
  );
  assert.ok(segments.size >= 5, 'there are several segments');
}

async function makeDelayed(): Promise<void> {
  await node.create('delayed', { DelaySeconds: '900' });
  await send(node, 'delayed', 'by the queue');
  for (const [body, delaySeconds] of [
    ['in a second', 1],
    ['at once', 0],
    ['in a minute', 60],
  ] as const)
    await sendDelayed(node, 'delayed', new Map([[body, delaySeconds]]));
}

/** Held, given back, timed out and received again; in pages, as far as their bodies are in segments. */
async function makeDeliveries(): Promise<Expected['handles']> {
  const queue = 'deliveries';
  const node = world.startNode({ limits: { ...limits, ...pairsOfLeases } });
  await node.create(queue, { VisibilityTimeout: '3600' });
  await send(node, queue, ...Array.from({ length: 9 }, (_, n) => `delivery ${n} `.padEnd(250, '.')));
  await send(node, queue, 'never received');
  const again = await node.receiveOne(queue, { visibilityTimeoutSeconds: 1 });
  await world.clock.advance(2 * second);
  const held = await node.receive(queue, { maxMessages: 5 });
  assert.ok(
    held.some(({ receiveCount }) => receiveCount === 2),
    'one came again',
  );
  const [givenBack, ...others] = held.filter(({ receiveCount }) => receiveCount === 1);
  await node.changeVisibility(queue, givenBack!, 0);
  await node.changeVisibility(queue, others[0]!, 7_200);
  await send(node, queue, 'after them');
  const { deliveries, leasePages } = await world.state(queue);
  assert.ok(leasePages.size > 1 && deliveries.size < 3, 'most are in pages');
  return {
    held: [others[0]!.receiptHandle, others[1]!.receiptHandle],
    superseded: again.receiptHandle,
  };
}

/** One letter has arrived, one was on its way when its node died. */
async function makeMoves(): Promise<void> {
  await node.create('letters');
  await node.create('source', { RedrivePolicy: redrivePolicy('letters', 1), VisibilityTimeout: '1' });
  const moving = world.startNode({ limits });
  await send(moving, 'source', 'first letter');
  await moving.receiveOne('source');
  await world.clock.advance(2 * second);
  assert.equal((await moving.receive('source')).length, 0);
  await world.clock.advance(second);
  assert.equal((await world.state('letters')).incomingLinks.size, 1);
  await send(moving, 'source', 'second letter');
  await moving.receiveOne('source');
  await world.clock.advance(2 * second);
  const gate = new Gate();
  moving.store.script({ method: 'putIfMatch', key: manifestKey('letters'), times: 99 }, gate.before);
  await moving.receive('source');
  await world.run(gate.reached);
  moving.kill();
  const { intents } = await world.state('source');
  assert.equal(intents.size, 1);
  await send(node, 'source', 'no letter yet');
  sent.set('letters', sent.get('source')!.splice(0, 2));
}

async function makeDeleted(): Promise<void> {
  await node.create('deleted');
  await node.send('deleted', ...Array.from({ length: 10 }, () => 'gone '.repeat(60)));
  await world.run(node.service.deleteQueue('deleted'));
}

async function objectsOf(): Promise<Map<string, Uint8Array>> {
  const objects = new Map<string, Uint8Array>();
  for (const key of [...(await world.keys('m/')), ...(await world.keys('s/'))]) {
    const found = await world.bucket.get(key);
    if (found.kind === 'done') objects.set(key, found.body);
  }
  return objects;
}

async function expectedOf(
  objects: Map<string, Uint8Array>,
  leftAtMillis: number,
  parts: Pick<Expected, 'handles' | 'fifo' | 'tasks'>,
): Promise<Expected> {
  const opened = await openBucket(objects, leftAtMillis);
  const reader = opened.startNode();
  const names = [...sent.keys()];
  const shown = new Map<string, Pick<ExpectedQueue, 'attributes' | 'counts'>>();
  for (const queue of names) shown.set(queue, await attributesAndCounts(opened, reader, queue));
  const taken = await takeEverything(opened, reader, names);
  for (const [queue, bodies] of sent)
    assert.deepEqual(
      taken
        .get(queue)!
        .map(({ body }) => body)
        .sort(),
      [...bodies].sort(),
      queue,
    );
  opened.end();
  return {
    leftAtMillis,
    queues: Object.fromEntries(
      names.map((queue) => [queue, { ...shown.get(queue)!, messages: taken.get(queue)! }]),
    ),
    deleted: ['deleted', 'retry-target'],
    ...parts,
  };
}

const books = { world, sent, send, sendDelayed, forget };
await makeTail();
await makeSegments();
await makeMoves();
await makeDeleted();
await makePagedQueues(books);
await world.clock.advance(3 * minute);
await makeDelayed();
const handles = await makeDeliveries();
const fifo = await makeFifoQueues(books);
const tasks = await makeTaskQueues(books);
const leftAtMillis = Math.ceil(world.clock.monotonicMillis());
const objects = await objectsOf();
world.end();
const expected = await expectedOf(objects, leftAtMillis, { handles, fifo, tasks });

for (const [key, body] of objects) {
  const file = new URL(key, folder);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, body);
}
writeFileSync(new URL('expected.json', folder), `${JSON.stringify(expected, undefined, 1)}\n`);
const bytes = [...objects.values()].reduce((sum, { length }) => sum + length, 0);
console.log(`${name}: ${objects.size} objects, ${bytes} bytes`);
process.exit(0);
