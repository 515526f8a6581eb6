/**
 * The standard queues of a golden bucket that name pages: every kind of page, each with what a reader has to get right (bits of
 * what has left, a page that is due in part, dead numbers that a compacted segment passes over).
 */
import assert from 'node:assert/strict';
import { queueLimits } from '../../src/core/limits.ts';
import { pageKinds } from '../../src/core/pages.ts';
import type { ReceivedMessage } from '../../src/engine/queue-api.ts';
import { leftRangesOf } from '../../src/format/left-codec.ts';
import { minute, second, type TestNode, type World } from '../support/world.ts';

/** What make-bucket.ts keeps the books with. */
export interface Books {
  readonly world: World;
  /** Bodies still there, by queue. */
  readonly sent: Map<string, string[]>;
  send(from: TestNode, queue: string, ...bodies: readonly string[]): Promise<void>;
  sendDelayed(from: TestNode, queue: string, delays: ReadonlyMap<string, number>): Promise<void>;
  forget(by: TestNode, queue: string, messages: readonly ReceivedMessage[]): Promise<void>;
}

/** Three messages to a segment, three segments to a compacted one. */
const roomy = { ...queueLimits, tailBytesMax: 400, segmentBytesMax: 1_200, compactedBytesMax: 1_500 };
const tiny = {
  ...roomy,
  delayedInlineMax: 4,
  delayedPageEntries: 4,
  leaseInlineMax: 4,
  leasePageEntries: 4,
  readyRangesMax: 4,
  readyPageRanges: 3,
  segmentsInlineMax: 6,
  segmentPageEntries: 3,
};
/** So few that even a handful of deliveries is in pages. */
export const pairsOfLeases = { leaseInlineMax: 1, leasePageEntries: 2 } as const;

const bodyOf = (word: string, n: number) => `${word} ${n} `.padEnd(100, '.');

export async function makePagedQueues(books: Books): Promise<void> {
  const node = books.world.startNode({ limits: tiny });
  await makeLater(books, node);
  await makeBacklog(books, node);
  await makeHeld(books, node);
  await makeStretch(books);
  const queues = await Promise.all(
    ['later', 'backlog', 'held', 'stretch'].map((queue) => books.world.state(queue)),
  );
  for (const kind of pageKinds.filter((each) => each !== 'deduplication'))
    assert.ok(
      queues.some((state) => state[`${kind}Pages`].size > 0),
      `there is a ${kind} page`,
    );
  node.kill();
}

/** Pages that are due altogether, in part and not at all when the bucket is left. */
async function makeLater({ sendDelayed, send }: Books, node: TestNode): Promise<void> {
  await node.create('later');
  const delays = Array.from({ length: 16 }, (_, n) => [bodyOf('later', n), 40 * (16 - n)] as const);
  await sendDelayed(node, 'later', new Map(delays.slice(0, 8)));
  await sendDelayed(node, 'later', new Map(delays.slice(8)));
  await send(node, 'later', 'now');
}

/** Every second message is gone; then small segments are put together, then it all goes to pages. */
async function makeBacklog({ world, send, sendDelayed, forget }: Books, node: TestNode): Promise<void> {
  const queue = 'backlog';
  const compacting = world.startNode({ limits: roomy });
  await compacting.create(queue, { VisibilityTimeout: '3600' });
  const bodies = Array.from({ length: 60 }, (_, n) => [bodyOf('backlog', n), n % 2] as const);
  for (let from = 0; from < bodies.length; from += 10)
    await sendDelayed(compacting, queue, new Map(bodies.slice(from, from + 10)));
  await world.clock.advance(2 * second);
  // What is due comes first.
  for (let n = 0; n < bodies.length / 2; n++)
    await forget(compacting, queue, [await compacting.receiveOne(queue)]);
  await world.clock.advance(minute);
  const compacted = [...(await world.state(queue)).segments.values()];
  assert.ok(
    compacted.some(({ bodyCount }) => bodyCount !== undefined),
    'a segment passes over dead numbers',
  );
  compacting.kill();
  for (let n = 60; n < 68; n++) await send(node, queue, bodyOf('backlog', n));
  const state = await world.state(queue);
  const whole = await world.whole(queue, state);
  const inPages = [...whole.segments].filter(([id]) => !state.segments.has(id));
  assert.ok(
    inPages.some(([, { bodyCount }]) => bodyCount !== undefined),
    'a compacted segment is in a page',
  );
  assert.ok(state.readyPages.size > 1 && state.segmentsPages.size > 1);
}

/** Lease pages that nothing, something, and what is visible again has left. */
async function makeHeld({ world, send, forget }: Books, node: TestNode): Promise<void> {
  const queue = 'held';
  await node.create(queue, { VisibilityTimeout: '7200' });
  for (let from = 0; from < 24; from += 8)
    await send(node, queue, ...Array.from({ length: 8 }, (_, n) => bodyOf('held', from + n)));
  await node.receive(queue, { maxMessages: 4, visibilityTimeoutSeconds: 600 });
  const soon = await node.receive(queue, { maxMessages: 2, visibilityTimeoutSeconds: 60 });
  const held = await node.receive(queue, { maxMessages: 10 });
  await send(node, queue, 'folds them');
  await forget(node, queue, [soon[0]!, held[1]!]);
  await node.changeVisibility(queue, held[3]!, 3_600);
  await node.receive(queue, { maxMessages: 4 });
  await send(node, queue, 'folds more of them');
  const { leasePages } = await world.state(queue);
  const references = [...leasePages.values()];
  assert.ok(
    references.some(({ left }) => left.length > 0) && references.some(({ left }) => left.length === 0),
  );
}

/** A lease page so large that what has left it, side by side, takes fewer bytes as a range than as bits. */
async function makeStretch({ world, send, forget }: Books): Promise<void> {
  const queue = 'stretch';
  const node = world.startNode({ limits: { ...tiny, leasePageEntries: 24 } });
  await node.create(queue, { VisibilityTimeout: '7200' });
  for (let from = 0; from < 30; from += 10)
    await send(node, queue, ...Array.from({ length: 10 }, (_, n) => bodyOf('stretch', from + n)));
  const held = [];
  for (let n = 0; n < 3; n++) held.push(...(await node.receive(queue, { maxMessages: 10 })));
  await send(node, queue, 'folds them');
  await forget(node, queue, held.slice(4, 14));
  const { leasePages } = await world.state(queue);
  assert.ok([...leasePages.values()].some(({ left }) => leftRangesOf(left)));
  node.kill();
}
