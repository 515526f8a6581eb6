/**
 * What a commit costs in CPU: apply and encodeManifest on states of known size, in microseconds. Not a test: it asserts
 * nothing. Run by hand with `node --import tsx test/model/commit-cost.ts`.
 */
import type { Command } from '../../src/core/command.ts';
import type { DeliveryToken } from '../../src/core/ids.ts';
import { brokenStep } from '../../src/core/invariants.ts';
import { type LeasePage, leasePageOf, summaryOf } from '../../src/core/lease-page.ts';
import { queueLimits } from '../../src/core/limits.ts';
import type { StoredMessage } from '../../src/core/message.ts';
import type { PageContents, PageKind } from '../../src/core/pages.ts';
import {
  type Delivery,
  type LeasePageReference,
  newQueueState,
  type PageId,
  pageIdOf,
  type QueueState,
  type SegmentId,
  type SegmentReference,
  segmentIdOf,
  type TailMessage,
} from '../../src/core/queue-state.ts';
import { rangesOf } from '../../src/core/range-set.ts';
import { apply, type TransitionInput } from '../../src/core/transition.ts';
import { decodeManifestObject, encodeManifest } from '../../src/format/manifest-codec.ts';
import { deleteOf, incarnation, newMessage, receiveOf, redrive, sendOf, writer } from './one-queue.ts';

const nowMillis = 1_700_000_000_000;
const nonce = new Uint8Array(16).fill(7);
const time = { nowMillis, stampMillis: nowMillis, manifestMillis: nowMillis };

const base = newQueueState({
  incarnation,
  attributes: new Map(Object.entries(redrive(5))),
  timeMillis: nowMillis,
  stampMillis: nowMillis,
});

function stored(body: string): StoredMessage {
  const { content, messageId, senderId } = newMessage(body);
  return { ...content, messageId, senderId, sentAtMillis: nowMillis, deadLetterSourceArn: undefined };
}

function withTail(count: number): QueueState {
  const tail = new Map<number, TailMessage>();
  // Over the tail's bound with 256 B each, were the overhead counted: the spill is measured apart.
  for (let n = 1; n <= count; n++) tail.set(n, { message: stored('x'.repeat(256)), bytes: 200 });
  return { ...base, tail, ready: rangesOf(1, count + 1), nextSequence: count + 1 };
}

function withSegments(segmentCount: number, perSegment: number): QueueState {
  const segments = new Map<SegmentId, SegmentReference>();
  for (let n = 0; n < segmentCount; n++) {
    const reference = {
      baseVersion: 1,
      nonce: n.toString(16).padStart(16, '0'),
      liveCount: perSegment,
      sentAtMaxMillis: nowMillis,
      bytes: 250_000,
      runs: [{ firstSequence: 1 + n * perSegment, firstOrdinal: 0, count: perSegment, sentAtShiftMillis: 0 }],
    };
    segments.set(segmentIdOf(reference), reference);
  }
  const end = 1 + segmentCount * perSegment;
  return { ...base, segments, ready: rangesOf(1, end), nextSequence: end };
}

const pages = new Map<PageId, LeasePage>();

/** The first `count` messages in flight, as many as can be in pages. */
function withDeliveries(count: number): QueueState {
  const perSegment = 700;
  const state = withSegments(Math.ceil((count + 10_000) / perSegment), perSegment);
  const deliveries = new Map<number, Delivery>();
  for (let n = 1; n <= count; n++)
    deliveries.set(n, {
      visibleAtMillis: nowMillis + 30_000,
      receiveCount: 1,
      firstReceivedAtMillis: nowMillis - n,
      leasedAtMillis: nowMillis - n,
      token: n.toString(16).padStart(16, '0') as DeliveryToken,
      leaseVersion: 1,
    });
  const leasePages = new Map<PageId, LeasePageReference>();
  while (deliveries.size > queueLimits.leaseInlineMax) {
    const content = leasePageOf([...deliveries].slice(0, queueLimits.leasePageEntries));
    for (const sequence of content.sequences) deliveries.delete(sequence);
    const named = { baseVersion: 1, nonce: (pages.size + 1).toString(16).padStart(16, '0') };
    pages.set(pageIdOf(named), content);
    leasePages.set(pageIdOf(named), { ...named, ...summaryOf(content) });
  }
  return { ...state, deliveries, leasePages, ready: rangesOf(count + 1, state.nextSequence) };
}

const body = stored('x'.repeat(256));
const sends = (count: number): Command[] =>
  Array.from({ length: count / 10 }, () =>
    sendOf(...Array.from({ length: 10 }, () => newMessage('x'.repeat(256)))),
  );
const receives = (count: number): Command[] => Array.from({ length: count }, () => receiveOf(10));

function deletes(state: QueueState, count: number): Command[] {
  const [first] = state.leasePages.keys();
  const { sequences, deliveries } = pages.get(first!)!;
  const handles = sequences.slice(0, count).map((sequence, ordinal) => {
    const { token, leaseVersion } = deliveries[ordinal]!;
    return { incarnation, sequence, token, leaseVersion };
  });
  return Array.from({ length: handles.length / 10 }, (_, n) =>
    deleteOf(...handles.slice(n * 10, n * 10 + 10)),
  );
}

let attempt = 0;
function input(state: QueueState, commands: readonly Command[]): TransitionInput {
  return {
    state,
    commands,
    time,
    tokenSeed: new Uint8Array(8).fill(++attempt & 255),
    writer: { id: writer, attempt },
    resources: {
      body: () => body,
      target: () => ({ kind: 'missing' }),
      source: () => undefined,
      prepared: [],
      page: <K extends PageKind>(_kind: K, id: PageId) => pages.get(id) as unknown as PageContents[K],
      groups: () => 'needed',
      preparedPages: [],
    },
    collectBelow: 0,
  };
}

function micros(run: () => void): number {
  const times: number[] = [];
  const until = performance.now() + 1_500;
  while (performance.now() < until || times.length < 10) {
    const from = performance.now();
    run();
    times.push((performance.now() - from) * 1_000);
  }
  times.sort((a, b) => a - b);
  // Not the median: on a busy machine most runs are interrupted.
  return Math.round(times[Math.floor(times.length / 10)]!);
}

function measure(name: string, state: QueueState, commands: readonly Command[]): void {
  const result = apply(input(state, commands));
  if (result.kind !== 'applied' || result.next.kind !== 'queue') throw new Error(`${name}: ${result.kind}`);
  const { state: next } = result.next;
  const bytes = encodeManifest(next, nonce);
  console.log(
    [
      name.padEnd(64),
      `apply ${micros(() => apply(input(state, commands)))}`,
      `check ${micros(() => brokenStep(state, next))}`,
      `encode ${micros(() => encodeManifest(next, nonce))}`,
      `decode ${micros(() => decodeManifestObject(bytes))} µs`,
      `${Math.round(bytes.length / 1024)} KiB`,
    ].join('  '),
  );
}

measure('empty queue, 1 send', base, [sendOf(newMessage('x'.repeat(256)))]);
measure('tail of 1,000, 100 sends and 10 receives of 10', withTail(1_000), [...sends(100), ...receives(10)]);
for (const count of [10_000, 100_000]) {
  const state = withDeliveries(count);
  const name = `${count.toLocaleString('en')} in flight`;
  measure(`${name}, 1 receive of 10`, state, receives(1));
  measure(`${name}, 100 deletes`, state, deletes(state, 100));
  measure(`${name}, 100 sends, 10 receives of 10, 100 deletes`, state, [
    ...sends(100),
    ...receives(10),
    ...deletes(state, 100),
  ]);
}
measure('300 segments, 200,000 ready, 10 receives of 10', withSegments(300, 667), receives(10));
