/**
 * The FIFO queues of a golden bucket: groups in flight, given back and waiting, deduplication ids in the manifest and in
 * pages, of messages that are alive and gone, in both scopes, a dead letter that has arrived and one on its way; what waits for a
 * held group in pages of ready messages and of segments; tags.
 */
import assert from 'node:assert/strict';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hexFromBytes } from '../../src/core/ids.ts';
import { queueLimits } from '../../src/core/limits.ts';
import { manifestKey } from '../../src/format/object-keys.ts';
import { Gate } from '../support/scripted-store.ts';
import { entryOf, redrivePolicy, second, type TestNode } from '../support/world.ts';
import type { ExpectedFifo, TakenId } from './golden-bucket.ts';
import type { Books } from './paged-queues.ts';

const limits = {
  ...queueLimits,
  tailBytesMax: 400,
  segmentBytesMax: 1_200,
  delayedInlineMax: 2,
  delayedPageEntries: 2,
  leaseInlineMax: 1,
  leasePageEntries: 2,
  deduplicationInlineMax: 3,
  deduplicationPageEntries: 4,
};

const bodyOf = (what: string) => `${what} `.padEnd(100, '.');

/** Sends `what`, each with itself as its id, or by its content alone. */
async function sendTo(
  { world, sent }: Books,
  [from, queue, groupId]: readonly [TestNode, string, string],
  whats: readonly string[],
  by: 'id' | 'content' = 'id',
): Promise<readonly TakenId[]> {
  const given = whats.map((what) => {
    const entry = entryOf(bodyOf(what));
    const bodyHash = hexFromBytes(sha256(utf8ToBytes(entry.content.body)));
    const id = by === 'id' ? what : bodyHash;
    const explicitId = by === 'id' ? what : undefined;
    const content = { ...entry.content, groupId };
    return { id, entry: { ...entry, content, deduplication: { explicitId, bodyHash } } };
  });
  const entries = given.map(({ entry }) => entry);
  const outcome = await world.run(from.service.send(queue, 'AIDATEST', entries));
  assert.ok(outcome.kind === 'done');
  sent.set(queue, [...(sent.get(queue) ?? []), ...whats.map(bodyOf)]);
  return outcome.entries.map((result, index) => {
    assert.ok(result.kind === 'sent');
    const { messageId, sequenceNumber } = result;
    return { queue, groupId, id: given[index]!.id, messageId, sequenceNumber: sequenceNumber! };
  });
}

export async function makeFifoQueues(books: Books): Promise<ExpectedFifo> {
  const node = books.world.startNode({ limits });
  await makeLate(books, node);
  await makeLetters(books, node);
  const grouped = await makeGrouped(books, node);
  const { taken, ...orders } = await makeOrders(books, node);
  node.kill();
  await makeBlocked(books);
  return { ...orders, taken: [...taken, ...grouped] };
}

/** Delayed by the queue, in pages. */
async function makeLate(books: Books, node: TestNode): Promise<void> {
  const queue = 'late.fifo';
  await node.create(queue, { FifoQueue: 'true', DelaySeconds: '900' });
  for (const first of [0, 4])
    await sendTo(
      books,
      [node, queue, `${first}`],
      [0, 1, 2, 3].map((n) => `late ${first + n}`),
    );
  await sendTo(books, [node, queue, '0'], ['late 8']);
  assert.ok((await books.world.state(queue)).delayedPages.size > 1);
}

/** One letter has arrived, one was on its way when its node died; its group waits behind it. */
async function makeLetters(books: Books, node: TestNode): Promise<void> {
  const [source, target] = ['source.fifo', 'letters.fifo'];
  const { world, sent } = books;
  await node.create(target, { FifoQueue: 'true' });
  const RedrivePolicy = redrivePolicy(target, 1);
  await node.create(source, { FifoQueue: 'true', RedrivePolicy, VisibilityTimeout: '1' });
  const moving = world.startNode({ limits });
  await sendTo(books, [moving, source, 'g'], ['first letter', 'second letter', 'behind it']);
  await moving.receiveOne(source);
  await world.clock.advance(2 * second);
  assert.equal((await moving.receive(source, { maxMessages: 1 })).length, 0, 'it is on its way');
  await world.clock.advance(second);
  assert.equal((await world.state(target)).incomingLinks.size, 1);
  await moving.receiveOne(source);
  await world.clock.advance(2 * second);
  const gate = new Gate();
  moving.store.script({ method: 'putIfMatch', key: manifestKey(target), times: 99 }, gate.before);
  assert.equal((await moving.receive(source, { maxMessages: 1 })).length, 0);
  await world.run(gate.reached);
  moving.kill();
  assert.equal((await world.state(source)).intents.size, 1);
  await sendTo(books, [node, source, 'h'], ['of another group']);
  sent.set(target, sent.get(source)!.splice(0, 2));
}

/** The same content in two groups: each has its own ids. */
async function makeGrouped(books: Books, node: TestNode): Promise<readonly TakenId[]> {
  const queue = 'grouped.fifo';
  await node.create(queue, {
    FifoQueue: 'true',
    ContentBasedDeduplication: 'true',
    DeduplicationScope: 'messageGroup',
    FifoThroughputLimit: 'perMessageGroupId',
  });
  const taken = [];
  for (const group of ['a', 'b', 'ä'])
    taken.push(...(await sendTo(books, [node, queue, group], ['same'], 'content')));
  return taken;
}

/** Whatever waits behind a held message is in pages: ready messages, each a range, and segments that live in part. */
async function makeBlocked(books: Books): Promise<void> {
  const queue = 'blocked.fifo';
  const { world, forget } = books;
  const pages = { readyRangesMax: 4, readyPageRanges: 3, segmentsInlineMax: 6, segmentPageEntries: 3 };
  const node = world.startNode({ limits: { ...limits, ...pages } });
  await node.create(queue, { FifoQueue: 'true', VisibilityTimeout: '7200' });
  const count = 24;
  for (let n = 0; n < count; n++) {
    await sendTo(books, [node, queue, 'blocked'], [`blocked ${n}`]);
    await sendTo(books, [node, queue, 'free'], [`free ${n}`]);
  }
  await node.receive(queue, { maxMessages: 1 });
  for (let n = 0; n < count; n++) {
    const [free] = await node.receive(queue, { maxMessages: 1 });
    assert.equal(free!.message.body, bodyOf(`free ${n}`));
    await forget(node, queue, [free!]);
  }
  const state = await world.state(queue);
  assert.ok(state.readyPages.size > 1 && state.segmentsPages.size > 0);
  node.kill();
}

async function makeOrders(books: Books, node: TestNode): Promise<ExpectedFifo> {
  const queue = 'orders.fifo';
  const { world, forget } = books;
  await node.create(queue, { FifoQueue: 'true', VisibilityTimeout: '7200' });
  const tags = { team: 'blue', 'Kostenstelle ü': '' };
  assert.equal((await world.run(node.service.tagQueue(queue, new Map(Object.entries(tags))))).kind, 'done');
  const permission = { label: 'one', accountIds: ['111111111111'], actions: ['SendMessage'] };
  assert.equal((await world.run(node.service.addPermission(queue, permission))).kind, 'done');
  const taken: TakenId[] = [];
  for (const number of [1, 2, 3])
    for (const group of ['a', 'b', 'c', 'd'])
      taken.push(...(await sendTo(books, [node, queue, group], [`${group} ${number}`])));
  const holder = await node.receiveOne(queue);
  await node.receiveOne(queue);
  await forget(node, queue, [await node.receiveOne(queue)]);
  await node.receiveOne(queue);
  const givenBack = await node.receiveOne(queue);
  assert.equal(givenBack.message.body, bodyOf('c 2'));
  await node.changeVisibility(queue, givenBack, 0);
  taken.push(...(await sendTo(books, [node, queue, 'e'], ['e 1'])));
  const state = await world.state(queue);
  assert.ok(state.leasePages.size > 0 && state.segments.size > 0);
  assert.ok(state.deduplication.size > 0 && state.deduplicationPages.size > 1);
  return {
    queue,
    tags,
    taken,
    receivable: ['c 2', 'c 3', 'e 1'].map(bodyOf),
    holder: { receiptHandle: holder.receiptHandle, unlocks: ['a 2', 'a 3'].map(bodyOf) },
  };
}
