/**
 * Prints what a backlog and the holes of a scattered one cost in the manifest, and what folding takes:
 * `node --import tsx test/model/backlog-bytes.ts`. States are built segment by segment and committed by the core.
 */
import { MESSAGE_OVERHEAD_BYTES } from '../../src/core/limits.ts';
import { pagesOf } from '../../src/core/pages.ts';
import {
  newQueueState,
  type QueueState,
  type SegmentReference,
  segmentIdOf,
} from '../../src/core/queue-state.ts';
import { difference, fromPairs, rangesOf, union } from '../../src/core/range-set.ts';
import type { NewPage } from '../../src/core/resources.ts';
import { encodeManifest } from '../../src/format/manifest-codec.ts';
import { encodePage } from '../../src/format/page-codec.ts';
import { incarnation, newMessage, OneQueue, sendOf } from './one-queue.ts';

const bodyBytes = 256;
const nonce = new Uint8Array(16);
const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`;

class Backlog {
  readonly queue = new OneQueue();
  pageBytes = 0;
  pages = 0;
  slowest = 0;

  constructor(state: Partial<QueueState> = {}) {
    const fresh = newQueueState({ incarnation, attributes: new Map(), timeMillis: 1e12, stampMillis: 1e12 });
    this.queue.nowMillis = 1_000_000_000_000;
    this.queue.state = { ...fresh, version: 1_000_000, ...state };
  }

  /** A commit as another node might make it between two spills. */
  commit(): void {
    const began = performance.now();
    const result = this.queue.attempt([sendOf(newMessage('x'.repeat(bodyBytes)))]);
    this.slowest = Math.max(this.slowest, performance.now() - began);
    for (const page of this.queue.asked.flatMap(({ newPages }) => newPages)) this.#count(page);
    // The message itself is not of interest.
    if (result.next.kind === 'queue')
      this.queue.state = {
        ...result.next.state,
        tail: new Map(),
        nextSequence: this.queue.state.nextSequence,
      };
  }

  #count(page: NewPage): void {
    this.pages++;
    this.pageBytes += encodePage(incarnation, page).length;
  }

  report(name: string): void {
    const { state } = this.queue;
    const bytes = encodeManifest(state, nonce).length;
    const named = [...pagesOf(state)].length;
    const page = this.pages === 0 ? 0 : this.pageBytes / this.pages;
    console.log(
      `${name}: manifest ${kib(bytes)}, ${state.segments.size} segments and ${state.ready.length / 2} ranges in it, ` +
        `${named} pages of ${kib(page)}, slowest commit ${this.slowest.toFixed(1)} ms`,
    );
  }
}

function segmentAt(firstSequence: number, count: number): SegmentReference {
  return {
    baseVersion: 1_000_000 + firstSequence,
    nonce: firstSequence.toString(16).padStart(16, '0'),
    liveCount: count,
    sentAtMaxMillis: 1_000_000_000_000 + firstSequence,
    bytes: count * (bodyBytes + MESSAGE_OVERHEAD_BYTES),
    runs: [{ firstSequence, firstOrdinal: 0, count, sentAtShiftMillis: 0 }],
  };
}

function backlog(messages: number, segmentBytes: number): Backlog {
  const grown = new Backlog();
  const { queue } = grown;
  const each = Math.floor(segmentBytes / (bodyBytes + MESSAGE_OVERHEAD_BYTES));
  for (let sequence = 1, n = 0; sequence <= messages; sequence += each, n++) {
    const segment = segmentAt(sequence, Math.min(each, messages + 1 - sequence));
    const { state } = queue;
    queue.state = {
      ...state,
      segments: new Map([...state.segments, [segmentIdOf(segment), segment]]),
      nextSequence: sequence + segment.liveCount,
      ready: rangesOf(1, sequence + segment.liveCount),
    };
    if (n % 16 === 0) grown.commit();
  }
  return grown;
}

for (const [name, bytes] of [
  ['256 KiB', 256 * 1024],
  ['1 MiB', 1024 * 1024],
  ['4 MiB', 4 * 1024 * 1024],
] as const)
  backlog(100_000_000, bytes).report(`100 million messages in segments of ${name}`);

const plain = backlog(10_000_000, 1024 * 1024);
plain.report('10 million messages in segments of 1 MiB');
plain.slowest = 0;
plain.pages = 0;
plain.pageBytes = 0;
const { queue } = plain;
const step = 8_000;
let unpagedBytes = 0;
for (let from = 1; from <= 10_000_000; from += 2 * step) {
  const holes = Array.from({ length: step }, (_, i) => [from + 2 * i, from + 2 * i + 1] as const);
  const added = fromPairs(holes);
  const before = difference(queue.state.ready, rangesOf(from, from + 2 * step));
  queue.state = { ...queue.state, nextSequence: from + 2 * step, ready: union(before, added) };
  unpagedBytes += (2 * added.length) / 2;
  plain.commit();
}
plain.report('every second of them deleted');
console.log(`without pages its ranges take ${kib(unpagedBytes)}`);
