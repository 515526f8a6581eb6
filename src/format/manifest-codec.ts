/**
 * The object under `m/<name>` to bytes and back: a queue's manifest or a tombstone.
 *
 * - What a commit writes by the thousand (messages, deliveries, references) has codecs of its own on the wire format;
 *   the rest goes through the generated code. Protobuf lets fields come in any order, so the two halves are appended.
 * - Decoding checks what the state machine takes for granted: lengths of identities, order, no sequence number twice
 *   among ready, delayed and deliveries. What fails is `damaged`, never repaired. Whether each message has its body
 *   is left to core/invariants.ts: that walks every message.
 * - Every object carries a nonce, so no two have equal bytes and an equal ETag says that nothing was written between.
 *
 * Over 300 lines: a manifest has many fields, and each is named in three lists that have to agree.
 */

import { resolveFifo } from '../core/fifo-attributes.ts';
import type { DeduplicationKey } from '../core/ids.ts';
import { taskUnderWay } from '../core/move-task.ts';
import { pagesOf } from '../core/pages.ts';
import {
  type DeduplicationEntry,
  type DeduplicationPageReference,
  type DelayedPageReference,
  type Delivery,
  type Fairness,
  type LeasePageReference,
  type ManifestContent,
  noFairness,
  type PageId,
  type QueueState,
  type ReadyPageReference,
  type SegmentId,
  type SegmentReference,
  type SegmentsPageReference,
  type TailMessage,
} from '../core/queue-state.ts';
import { emptyRanges, type RangeSet } from '../core/range-set.ts';
import { decodeAttribute, encodeAttributes } from './attribute-codec.ts';
import { decodeDeduplication, encodeDeduplication } from './deduplication-codec.ts';
import {
  decodeDelayed,
  decodeDelivery,
  decodeReady,
  encodeDelayed,
  encodeDeliveries,
  encodeReady,
} from './delivery-codec.ts';
import {
  type Damaged,
  envelopeBytes,
  FIFO_FORMAT_VERSION,
  LEFT_RANGES_FORMAT_VERSION,
  MOVE_TASKS_FORMAT_VERSION,
  type Newer,
  openEnvelope,
  PAGES_FORMAT_VERSION,
  sealEnvelope,
} from './envelope.ts';
import { decodeFairness, encodeFairness } from './fairness-codec.ts';
import { decodeHead, encodeHead, type ManifestHead } from './manifest-head.ts';
import {
  deduplicationPages,
  delayedPages,
  haveLeftRanges,
  leasePages,
  readyPages,
  segmentsPages,
} from './page-references.ts';
import { decodeSegmentReference, encodeSegmentReferences } from './segment-reference-codec.ts';
import { decodeTailMessage, encodeTail } from './tail-codec.ts';
import { decodeTombstone, TOMBSTONE_BYTES } from './tombstone-codec.ts';
import { lengthTag, Malformed } from './wire.ts';
import { WireReader } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

export { encodeTombstone, isTombstoneSize, TOMBSTONE_BYTES } from './tombstone-codec.ts';

/** Fields of `Manifest` with codecs of their own. */
const field = {
  attributes: 7,
  tags: 8,
  ready: 15,
  delayed: 16,
  deliveries: 17,
  tail: 18,
  segments: 19,
  delayedPages: 23,
  leasePages: 24,
  readyPages: 25,
  segmentsPages: 26,
  deduplication: 27,
  deduplicationPages: 28,
  padding: 30,
  fairness: 31,
} as const;

/** Encoding is synchronous, so one buffer serves every manifest. */
const scratch = new WireWriter(64 * 1024);

export type DecodeManifestOutcome =
  | { readonly kind: 'ok'; readonly content: ManifestContent }
  | Damaged
  | Newer;

/** @throws RangeError when the state has a value of the wrong form: our own mistake. */
export function encodeManifest(state: QueueState, nonce: Uint8Array): Uint8Array {
  const writer = scratch;
  writer.clear();
  encodeHead(writer, state, nonce);
  encodeAttributes(writer, field.attributes, state.attributes);
  encodeAttributes(writer, field.tags, state.tags);
  encodeReady(writer, field.ready, state.ready);
  encodeDelayed(writer, field.delayed, state.delayed);
  encodeDeliveries(writer, field.deliveries, state.deliveries);
  encodeTail(writer, field.tail, state.tail);
  encodeSegmentReferences(writer, field.segments, state.segments);
  delayedPages.encode(writer, field.delayedPages, state.delayedPages);
  readyPages.encode(writer, field.readyPages, state.readyPages);
  segmentsPages.encode(writer, field.segmentsPages, state.segmentsPages);
  leasePages.encode(writer, field.leasePages, state.leasePages);
  encodeDeduplication(writer, field.deduplication, state.deduplication);
  deduplicationPages.encode(writer, field.deduplicationPages, state.deduplicationPages);
  encodeFairness(writer, field.fairness, state.fairness);
  const missingBytes = TOMBSTONE_BYTES + 1 - writer.length - envelopeBytes(writer.length);
  if (missingBytes > 0) writer.bytes(field.padding, new Uint8Array(missingBytes));
  return sealEnvelope('manifest', writer.written(), formatVersionOf(state));
}

/** The oldest that can say it. */
function formatVersionOf(state: QueueState): number | undefined {
  if (taskUnderWay(state.moveTasks)) return MOVE_TASKS_FORMAT_VERSION;
  if (resolveFifo(state.attributes)) return FIFO_FORMAT_VERSION;
  if (haveLeftRanges(state.leasePages.values())) return LEFT_RANGES_FORMAT_VERSION;
  return pagesOf(state).next().done ? undefined : PAGES_FORMAT_VERSION;
}

/** `known` is the tail of a manifest read before: what is in both is decoded once. */
export function decodeManifestObject(
  bytes: Uint8Array,
  known?: ReadonlyMap<number, TailMessage>,
): DecodeManifestOutcome {
  const opened = openEnvelope(bytes);
  if (opened.kind !== 'ok') return opened;
  try {
    switch (opened.objectKind) {
      case 'manifest':
        return { kind: 'ok', content: { kind: 'queue', state: decodeState(opened.payload, known) } };
      case 'tombstone':
        return { kind: 'ok', content: { kind: 'tombstone', tombstone: decodeTombstone(opened.payload) } };
      default:
        return { kind: 'damaged', reason: `a ${opened.objectKind}, not a manifest` };
    }
  } catch (error) {
    if (error instanceof Malformed) return { kind: 'damaged', reason: error.message };
    throw error;
  }
}

interface Body {
  readonly attributes: Map<string, string>;
  readonly tags: Map<string, string>;
  ready: RangeSet;
  readonly delayed: Map<number, number>;
  readonly deliveries: Map<number, Delivery>;
  readonly tail: Map<number, TailMessage>;
  readonly segments: Map<SegmentId, SegmentReference>;
  readonly delayedPages: Map<PageId, DelayedPageReference>;
  readonly readyPages: Map<PageId, ReadyPageReference>;
  readonly segmentsPages: Map<PageId, SegmentsPageReference>;
  readonly leasePages: Map<PageId, LeasePageReference>;
  readonly deduplication: Map<DeduplicationKey, DeduplicationEntry>;
  readonly deduplicationPages: Map<PageId, DeduplicationPageReference>;
  fairness: Fairness;
}

function decodeState(payload: Uint8Array, known: ReadonlyMap<number, TailMessage> | undefined): QueueState {
  const body: Body = {
    attributes: new Map(),
    tags: new Map(),
    ready: emptyRanges,
    delayed: new Map(),
    deliveries: new Map(),
    tail: new Map(),
    segments: new Map(),
    delayedPages: new Map(),
    readyPages: new Map(),
    segmentsPages: new Map(),
    leasePages: new Map(),
    deduplication: new Map(),
    deduplicationPages: new Map(),
    fairness: noFairness,
  };
  const head = decodeHead(decodeBody(payload, body, known));
  const state = { ...head, ...body };
  checkNumbers(head, body);
  return state;
}

/** Reads the fields with codecs of their own; returns the bytes of all the others. */
function decodeBody(
  payload: Uint8Array,
  body: Body,
  known: ReadonlyMap<number, TailMessage> | undefined,
): Uint8Array {
  const reader = new WireReader(payload);
  const others = new WireWriter(1024);
  const last = { delayed: 0, delivery: 0, tail: 0, deduplication: 0 };
  while (reader.more()) {
    const start = reader.position;
    const tag = reader.varint();
    switch (tag) {
      case lengthTag(field.attributes):
        decodeAttribute(reader, body.attributes);
        break;
      case lengthTag(field.tags):
        decodeAttribute(reader, body.tags);
        break;
      case lengthTag(field.ready):
        if (body.ready.length > 0) throw new Malformed('the ready ranges come twice');
        body.ready = decodeReady(reader);
        break;
      case lengthTag(field.delayed):
        last.delayed = after(last.delayed, decodeDelayed(reader, body.delayed));
        break;
      case lengthTag(field.deliveries):
        last.delivery = after(last.delivery, decodeDelivery(reader, body.deliveries));
        break;
      case lengthTag(field.tail):
        last.tail = after(last.tail, decodeTailMessage(reader, body.tail, payload, known));
        break;
      case lengthTag(field.segments):
        decodeSegmentReference(reader, body.segments);
        break;
      case lengthTag(field.delayedPages):
        delayedPages.decode(reader, body.delayedPages);
        break;
      case lengthTag(field.readyPages):
        readyPages.decode(reader, body.readyPages);
        break;
      case lengthTag(field.segmentsPages):
        segmentsPages.decode(reader, body.segmentsPages);
        break;
      case lengthTag(field.leasePages):
        leasePages.decode(reader, body.leasePages);
        break;
      case lengthTag(field.deduplication): {
        const key = decodeDeduplication(reader, body.deduplication);
        last.deduplication = after(last.deduplication, body.deduplication.get(key)!.sequence);
        break;
      }
      case lengthTag(field.deduplicationPages):
        deduplicationPages.decode(reader, body.deduplicationPages);
        break;
      case lengthTag(field.fairness):
        body.fairness = decodeFairness(reader);
        break;
      case lengthTag(field.padding):
        reader.skip(tag);
        break;
      default:
        reader.skip(tag);
        others.raw(payload.subarray(start, reader.position));
    }
  }
  return others.finish();
}

function after(previous: number, sequence: number): number {
  if (sequence <= previous) throw new Malformed('sequence numbers are not in order');
  return sequence;
}

function checkNumbers(head: ManifestHead, body: Body): void {
  const { nextSequence } = head;
  if (head.version === 0 || nextSequence === 0)
    throw new Malformed('a manifest has no version or no next sequence');
  if (head.purgeWatermark > nextSequence)
    throw new Malformed('the purge watermark is above every sequence number');
  if (head.collectedBelow > head.version) throw new Malformed('collectedBelow is above the version');
  let highest = Math.max(
    (body.ready.at(-1) ?? 0) - 1,
    lastKey(body.delayed),
    lastKey(body.deliveries),
    lastKey(body.tail),
    lastKey(head.intents),
    [...body.deduplication.values()].at(-1)?.sequence ?? 0,
    (body.fairness.quiet.at(-1) ?? 0) - 1,
    body.fairness.busyBelow - 1,
  );
  for (const pages of [body.delayedPages, body.leasePages, body.readyPages, body.segmentsPages])
    for (const { lastSequence } of pages.values()) highest = Math.max(highest, lastSequence);
  if (highest >= nextSequence) throw new Malformed(`sequence ${highest} was never given`);
  if (body.ready[0] === 0) throw new Malformed('sequence 0 is never given');
  checkApart(body.ready, body.delayed.keys());
  checkApart(body.ready, body.deliveries.keys());
  for (const sequence of body.delayed.keys())
    if (body.deliveries.has(sequence)) throw new Malformed(`sequence ${sequence} is delayed and delivered`);
}

function lastKey(map: ReadonlyMap<number, unknown>): number {
  let last = 0;
  for (const key of map.keys()) last = key;
  return last;
}

/** Both ascend, so one walk does. */
function checkApart(ready: RangeSet, sequences: Iterable<number>): void {
  let i = 0;
  for (const sequence of sequences) {
    while (i < ready.length && ready[i + 1]! <= sequence) i += 2;
    if (i < ready.length && ready[i]! <= sequence)
      throw new Malformed(`sequence ${sequence} is in two places`);
  }
}
