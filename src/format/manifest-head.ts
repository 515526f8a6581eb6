/**
 * The small part of a manifest: plain fields and writers in place, intents and links by the generated code (there are
 * few, and seldom), and every field of the manifest that this version doesn't know.
 */
import { create, toBinary, type UnknownField } from '@bufbuild/protobuf';
import {
  bytesFromHex,
  type GroupHash,
  groupHashBytes,
  type Incarnation,
  incarnationBytes,
} from '../core/ids.ts';
import type { MoveTask } from '../core/move-task.ts';
import { brokenTaskList } from '../core/move-task-invariants.ts';
import { carried, type Intent, type Link, type QueueState, type WriterEntry } from '../core/queue-state.ts';
import { ascending } from './ascending.ts';
import {
  IntentSchema,
  LinkSchema,
  type Intent as StoredIntent,
  type Link as StoredLink,
} from './gen/okuri/storage/v1/storage_pb.ts';
import { hexOfBytes, parsed, safeInteger } from './generated-values.ts';
import { decodeMoveTask, encodeMoveTasks } from './move-task-codec.ts';
import { withUnknown, withUnknownFields } from './unknown-fields.ts';
import { lengthTag, Malformed, varintTag } from './wire.ts';
import { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';
import { decodeWriter, encodeWriter } from './writer-codec.ts';

export type ManifestHead = Omit<
  QueueState,
  | 'attributes'
  | 'tags'
  | 'ready'
  | 'readyPages'
  | 'delayed'
  | 'delayedPages'
  | 'deliveries'
  | 'leasePages'
  | 'tail'
  | 'segments'
  | 'segmentsPages'
  | 'deduplication'
  | 'deduplicationPages'
  | 'fairness'
>;

export const manifestNonceBytes = 16;

/** Field numbers of `Manifest` that are read here; those with codecs of their own are in manifest-codec.ts. */
const field = {
  incarnation: 1,
  version: 2,
  nonce: 3,
  timeMillis: 4,
  createdAtMillis: 5,
  modifiedAtMillis: 6,
  writers: 9,
  writersFloor: 10,
  nextSequence: 11,
  purgeWatermark: 12,
  purgedAtMillis: 13,
  collectedBelow: 14,
  intents: 20,
  outgoingLinks: 21,
  incomingLinks: 22,
  moveTasks: 29,
} as const;
/** The highest field number that this version gives a meaning. */
const lastKnownField = 29;
/** Beyond it are the padding, this one, and those of later versions. */
const fairnessField = 31;

export function encodeHead(writer: WireWriter, head: ManifestHead, nonce: Uint8Array): void {
  if (nonce.length !== manifestNonceBytes) throw new RangeError(`a nonce has ${manifestNonceBytes} bytes`);
  writer.hex(field.incarnation, head.incarnation, incarnationBytes);
  writer.uint(field.version, head.version);
  writer.bytes(field.nonce, nonce);
  writer.uint(field.timeMillis, head.timeMillis);
  writer.uint(field.createdAtMillis, head.createdAtMillis);
  writer.uint(field.modifiedAtMillis, head.modifiedAtMillis);
  for (const entry of head.writers) {
    const mark = writer.begin(field.writers);
    encodeWriter(writer, entry);
    writer.end(mark);
  }
  writer.uint(field.writersFloor, head.writersFloor);
  writer.uint(field.nextSequence, head.nextSequence);
  writer.uint(field.purgeWatermark, head.purgeWatermark);
  writer.uint(field.purgedAtMillis, head.purgedAtMillis);
  writer.uint(field.collectedBelow, head.collectedBelow);
  for (const sequence of ascending(head.intents)) {
    const stored = storedIntent(sequence, head.intents.get(sequence)!);
    writer.bytesEvenIfEmpty(field.intents, toBinary(IntentSchema, stored));
  }
  for (const link of storedLinks(head.outgoingLinks))
    writer.bytesEvenIfEmpty(field.outgoingLinks, toBinary(LinkSchema, link));
  for (const link of storedLinks(head.incomingLinks))
    writer.bytesEvenIfEmpty(field.incomingLinks, toBinary(LinkSchema, link));
  encodeMoveTasks(writer, field.moveTasks, head.moveTasks);
  writer.unknown(head.unknownFields as readonly UnknownField[]);
}

type HeadDraft = { -readonly [K in keyof ManifestHead]: ManifestHead[K] };

/** @throws Malformed */
export function decodeHead(bytes: Uint8Array): ManifestHead {
  const reader = new WireReader(bytes);
  const writers: WriterEntry[] = [];
  const intents: StoredIntent[] = [];
  const outgoing: StoredLink[] = [];
  const incoming: StoredLink[] = [];
  const moveTasks: MoveTask[] = [];
  const unknownFields: UnknownField[] = [];
  const head: HeadDraft = {
    incarnation: '' as Incarnation,
    version: 0,
    timeMillis: 0,
    createdAtMillis: 0,
    modifiedAtMillis: 0,
    writers,
    writersFloor: 0,
    nextSequence: 0,
    purgeWatermark: 0,
    purgedAtMillis: 0,
    collectedBelow: 0,
    intents: new Map(),
    outgoingLinks: new Map(),
    incomingLinks: new Map(),
    moveTasks,
    unknownFields,
  };
  let nonceBytes = 0;
  while (reader.more()) {
    const tag = reader.varint();
    if (decodeNumber(reader, tag, head)) continue;
    if (tag === lengthTag(field.incarnation)) head.incarnation = reader.hex(incarnationBytes) as Incarnation;
    else if (tag === lengthTag(field.nonce)) nonceBytes = reader.bytes().length;
    else if (tag === lengthTag(field.writers)) {
      const outer = reader.enter();
      writers.push(decodeWriter(reader));
      reader.leave(outer);
    } else if (tag === lengthTag(field.intents)) intents.push(parsed(IntentSchema, reader.bytes()));
    else if (tag === lengthTag(field.outgoingLinks)) outgoing.push(parsed(LinkSchema, reader.bytes()));
    else if (tag === lengthTag(field.incomingLinks)) incoming.push(parsed(LinkSchema, reader.bytes()));
    else if (tag === lengthTag(field.moveTasks)) moveTasks.push(decodeMoveTask(reader.bytes()));
    else unknownFields.push(unknownField(reader, tag));
  }
  if (head.incarnation === '') throw new Malformed('a manifest has no incarnation');
  const broken = brokenTaskList(head);
  if (broken !== undefined) throw new Malformed(broken);
  if (nonceBytes !== manifestNonceBytes) throw new Malformed('the nonce has the wrong length');
  head.intents = intentsOf(intents);
  head.outgoingLinks = linksOf(outgoing);
  head.incomingLinks = linksOf(incoming);
  return head;
}

/** Whether the field was a plain number. */
function decodeNumber(reader: WireReader, tag: number, head: HeadDraft): boolean {
  switch (tag) {
    case varintTag(field.version):
      head.version = reader.varint();
      return true;
    case varintTag(field.timeMillis):
      head.timeMillis = reader.varint();
      return true;
    case varintTag(field.createdAtMillis):
      head.createdAtMillis = reader.varint();
      return true;
    case varintTag(field.modifiedAtMillis):
      head.modifiedAtMillis = reader.varint();
      return true;
    case varintTag(field.writersFloor):
      head.writersFloor = reader.varint();
      return true;
    case varintTag(field.nextSequence):
      head.nextSequence = reader.varint();
      return true;
    case varintTag(field.purgeWatermark):
      head.purgeWatermark = reader.varint();
      return true;
    case varintTag(field.purgedAtMillis):
      head.purgedAtMillis = reader.varint();
      return true;
    case varintTag(field.collectedBelow):
      head.collectedBelow = reader.varint();
      return true;
    default:
      return false;
  }
}

/** A known field in a form that no codec reads would be lost. @throws Malformed */
function unknownField(reader: WireReader, tag: number): UnknownField {
  const unknown = reader.unknown(tag);
  if (unknown.no <= lastKnownField || unknown.no === fairnessField)
    throw new Malformed(`field ${unknown.no} is written in another form`);
  return unknown;
}

function storedIntent(sequence: number, intent: Intent): StoredIntent {
  const stored = create(IntentSchema, {
    sequence: BigInt(sequence),
    targetIncarnation: bytesFromHex(intent.targetIncarnation, incarnationBytes),
    number: BigInt(intent.number),
    receiveCount: intent.receiveCount,
    firstReceivedAtMillis: BigInt(intent.firstReceivedAtMillis),
    ...(intent.group !== undefined && { group: bytesFromHex(intent.group, groupHashBytes) }),
    ...carried(intent),
    ...(intent.redriven && { redriven: true }),
  });
  return withUnknown(stored, intent);
}

function intentsOf(stored: readonly StoredIntent[]): ReadonlyMap<number, Intent> {
  const intents = new Map<number, Intent>();
  let previous = 0;
  for (const entry of stored) {
    const sequence = safeInteger(entry.sequence);
    if (sequence <= previous) throw new Malformed('the intents are not in order');
    previous = sequence;
    const intent = {
      targetIncarnation: hexOfBytes(entry.targetIncarnation, incarnationBytes) as Incarnation,
      number: safeInteger(entry.number),
      receiveCount: entry.receiveCount,
      firstReceivedAtMillis: safeInteger(entry.firstReceivedAtMillis),
      ...(entry.group.length > 0 && { group: hexOfBytes(entry.group, groupHashBytes) as GroupHash }),
      ...carried(entry),
      ...(entry.redriven && { redriven: true as const }),
    };
    intents.set(sequence, withUnknownFields(intent, entry.$unknown));
  }
  return intents;
}

function storedLinks(links: ReadonlyMap<Incarnation, Link>): StoredLink[] {
  return [...links].map(([incarnation, link]) => {
    const { queueName, lastNumber } = link;
    const stored = create(LinkSchema, {
      incarnation: bytesFromHex(incarnation, incarnationBytes),
      queueName,
      lastNumber: BigInt(lastNumber),
    });
    return withUnknown(stored, link);
  });
}

function linksOf(stored: readonly StoredLink[]): ReadonlyMap<Incarnation, Link> {
  const links = new Map<Incarnation, Link>();
  for (const { incarnation, queueName, lastNumber, $unknown } of stored) {
    const key = hexOfBytes(incarnation, incarnationBytes) as Incarnation;
    if (links.has(key)) throw new Malformed('a link comes twice');
    links.set(key, withUnknownFields({ queueName, lastNumber: safeInteger(lastNumber) }, $unknown));
  }
  return links;
}
