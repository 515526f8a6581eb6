/**
 * What many deliveries cost, commit by commit: bytes of manifests and pages, and CPU of apply, encode and decode. Not a
 * test: it asserts nothing. Run by hand with `node --import tsx test/model/lease-cost.ts [seconds]`.
 *
 * - heartbeats: 120,000 in flight, each extended every 10 s, in 100 ms commits of 1,200 changes; in the order of their
 *   leases, or in any order;
 * - lost: 1,000,000 received once and never acknowledged, 1,000 a commit, then received again.
 */
import type { Command, Leased } from '../../src/core/command.ts';
import { brokenStep } from '../../src/core/invariants.ts';
import { queueLimits } from '../../src/core/limits.ts';
import type { StoredMessage } from '../../src/core/message.ts';
import type { PageContents, PageKind } from '../../src/core/pages.ts';
import {
  newQueueState,
  type PageId,
  pageIdOf,
  type QueueState,
  type SegmentId,
  segmentIdOf,
} from '../../src/core/queue-state.ts';
import { rangesOf } from '../../src/core/range-set.ts';
import type { ReceiptHandle } from '../../src/core/receipt-handle.ts';
import type { PreparedPage } from '../../src/core/resources.ts';
import { apply } from '../../src/core/transition.ts';
import { decodeManifestObject, encodeManifest } from '../../src/format/manifest-codec.ts';
import { encodePage } from '../../src/format/page-codec.ts';
import { incarnation, newMessage, writer } from './one-queue.ts';

const nonce = new Uint8Array(16).fill(7);
const perSegment = 4_000;
const { content, messageId, senderId } = newMessage('x'.repeat(256));

class Load {
  nowMillis = 1_700_000_000_000;
  state: QueueState;
  readonly pages = new Map<PageId, PageContents[PageKind]>();
  readonly manifestBytes: number[] = [];
  readonly applyMillis: number[] = [];
  readonly encodeMillis: number[] = [];
  readonly decodeMillis: number[] = [];
  readonly commitBytes: number[] = [];
  timeoutSeconds = 30;
  pagesWritten = 0;
  pagesRead = 0;
  readonly #message: StoredMessage;
  readonly #loaded = new Set<PageId>();
  #serial = 0;

  constructor(messages: number) {
    this.#message = {
      ...content,
      messageId,
      senderId,
      sentAtMillis: this.nowMillis,
      deadLetterSourceArn: undefined,
    };
    const segments = new Map<
      SegmentId,
      QueueState['segments'] extends ReadonlyMap<SegmentId, infer R> ? R : never
    >();
    for (let n = 0; n * perSegment < messages; n++) {
      const reference = {
        baseVersion: 1,
        nonce: n.toString(16).padStart(16, '0'),
        liveCount: perSegment,
        sentAtMaxMillis: this.nowMillis,
        bytes: 1_000_000,
        runs: [
          { firstSequence: 1 + n * perSegment, firstOrdinal: 0, count: perSegment, sentAtShiftMillis: 0 },
        ],
      };
      segments.set(segmentIdOf(reference), reference);
    }
    const end = 1 + segments.size * perSegment;
    this.state = {
      ...newQueueState({
        incarnation,
        attributes: new Map(),
        timeMillis: this.nowMillis,
        stampMillis: this.nowMillis,
      }),
      segments,
      ready: rangesOf(1, end),
      nextSequence: end,
    };
  }

  commit(commands: readonly Command[], inFlightMax = queueLimits.inFlightMax): readonly Leased[] {
    const preparedPages: PreparedPage[] = [];
    let written = 0;
    let millis = 0;
    for (;;) {
      const tokenSeed = new Uint8Array(8);
      new DataView(tokenSeed.buffer).setUint32(0, ++this.#serial);
      const from = performance.now();
      const result = apply({
        state: this.state,
        commands,
        time: { nowMillis: this.nowMillis, stampMillis: this.nowMillis, manifestMillis: this.nowMillis },
        tokenSeed,
        writer: { id: writer, attempt: this.#serial },
        resources: {
          body: () => this.#message,
          page: <K extends PageKind>(_kind: K, id: PageId) =>
            this.#loaded.has(id) ? (this.pages.get(id) as PageContents[K]) : 'needed',
          groups: () => 'needed',
          target: () => undefined,
          source: () => undefined,
          prepared: [],
          preparedPages,
        },
        collectBelow: 0,
        limits: { ...queueLimits, inFlightMax },
      });
      millis += performance.now() - from;
      if (result.kind === 'needs') {
        for (const id of result.needs.pages.keys()) {
          this.#loaded.add(id);
          this.pagesRead++;
        }
        for (const page of result.needs.newPages) {
          const named = {
            baseVersion: this.state.version,
            nonce: (++this.#serial).toString(16).padStart(16, '0'),
          };
          const id = pageIdOf(named);
          this.pages.set(id, page.content);
          this.#loaded.add(id);
          const encoding = performance.now();
          written += encodePage(incarnation, page).length;
          millis += performance.now() - encoding;
          this.pagesWritten++;
          preparedPages.push({ ...page, id, ...named });
        }
        continue;
      }
      if (result.next.kind !== 'queue') throw new Error('gone');
      const next = result.next.state;
      const broken = brokenStep(this.state, next);
      if (broken !== undefined) throw new Error(broken);
      this.applyMillis.push(millis);
      const encoding = performance.now();
      const bytes = encodeManifest(next, nonce);
      this.encodeMillis.push(performance.now() - encoding);
      if (this.encodeMillis.length % 10 === 0) {
        const decoding = performance.now();
        decodeManifestObject(bytes);
        this.decodeMillis.push(performance.now() - decoding);
      }
      this.manifestBytes.push(bytes.length);
      this.commitBytes.push(bytes.length + written);
      this.state = next;
      return result.results.flatMap(({ outcome }) => (outcome.kind === 'received' ? outcome.messages : []));
    }
  }

  receive(count: number, inFlightMax?: number): ReceiptHandle[] {
    const commands: Command[] = Array.from({ length: count / 10 }, () => ({
      kind: 'receive',
      maxMessages: 10,
      visibilityTimeoutSeconds: this.timeoutSeconds,
      waits: false,
    }));
    return this.commit(commands, inFlightMax).map(({ handle }) => handle);
  }

  show(name: string): void {
    const kib = (values: number[]) => shown(values.map((value) => value / 1024));
    console.log(name);
    console.log(
      `  ${this.state.leasePages.size} pages, ${this.state.deliveries.size} in the manifest, ${this.pagesWritten} pages written, ${this.pagesRead} read`,
    );
    console.log(`  manifest KiB ${kib(this.manifestBytes)}; written a commit KiB ${kib(this.commitBytes)}`);
    console.log(
      `  apply ms ${shown(this.applyMillis)}; encode ms ${shown(this.encodeMillis)}; decode ms ${shown(this.decodeMillis)}`,
    );
    for (const list of [
      this.manifestBytes,
      this.commitBytes,
      this.applyMillis,
      this.encodeMillis,
      this.decodeMillis,
    ])
      list.length = 0;
    this.pagesWritten = 0;
    this.pagesRead = 0;
  }
}

function shown(values: number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number) => (sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(1);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return `p50 ${at(0.5)} p99 ${at(0.99)} max ${at(1)} mean ${mean.toFixed(1)}`;
}

function heartbeats(seconds: number, shuffled: boolean): void {
  const load = new Load(140_000);
  const handles: ReceiptHandle[] = [];
  while (handles.length < 120_000) {
    handles.push(...load.receive(1_200));
    load.nowMillis += 100;
  }
  load.show('filled with 120,000');
  if (shuffled) {
    let seed = 1;
    for (let at = handles.length - 1; at > 0; at--) {
      seed = (seed * 48_271) % 2_147_483_647;
      const other = seed % (at + 1);
      [handles[at], handles[other]] = [handles[other]!, handles[at]!];
    }
  }
  let next = 0;
  for (let commit = 0; commit < seconds * 10; commit++) {
    const commands: Command[] = [];
    for (let n = 0; n < 120; n++) {
      const entries = handles.slice(next, next + 10).map((handle) => ({ handle, timeoutSeconds: 30 }));
      commands.push({ kind: 'change-visibility', entries });
      next = (next + 10) % handles.length;
    }
    load.nowMillis += 100;
    load.commit(commands);
  }
  load.show(
    `heartbeats of 120,000 every 10 s, ${shuffled ? 'in any order' : 'in the order of their leases'}, ${seconds} s`,
  );
}

function lost(count: number): void {
  const load = new Load(count);
  load.timeoutSeconds = 43_200;
  for (let received = 0; received < count; ) {
    received += load.receive(1_000, 2_000_000).length;
    load.nowMillis += 100;
    if (received % 250_000 === 0) load.show(`${received} received and never acknowledged, 1,000 a commit`);
  }
  load.nowMillis += 43_200_000;
  for (let commit = 0; commit < 200; commit++) {
    load.receive(1_000, 2_000_000);
    load.nowMillis += 100;
  }
  load.show('received again, 1,000 a commit');
}

const seconds = Number(process.argv[2] ?? 30);
heartbeats(seconds, false);
heartbeats(seconds, true);
lost(1_000_000);
