/**
 * The small part of a manifest, by the generated code: plain fields, writers, intents, links, and every field of the
 * manifest that this version doesn't know. At most a few hundred entries, so convenience beats speed here.
 */
import { create, type Message, toBinary, type UnknownField } from '@bufbuild/protobuf';
import {
  bytesFromHex,
  type Incarnation,
  incarnationBytes,
  type WriterId,
  writerIdBytes,
} from '../core/ids.ts';
import type { Intent, Link, QueueState, WriterEntry } from '../core/queue-state.ts';
import { ascending } from './ascending.ts';
import {
  IntentSchema,
  LinkSchema,
  ManifestSchema,
  type Intent as StoredIntent,
  type Link as StoredLink,
  type Writer as StoredWriter,
  WriterSchema,
} from './gen/okuri/storage/v1/storage_pb.ts';
import { hexOfBytes, parsed, safeInteger } from './generated-values.ts';
import { unknownFieldsOf, withUnknownFields } from './unknown-fields.ts';
import { Malformed } from './wire.ts';

export type ManifestHead = Omit<
  QueueState,
  'attributes' | 'tags' | 'ready' | 'delayed' | 'deliveries' | 'tail' | 'segments'
>;

export const manifestNonceBytes = 16;

export function encodeHead(head: ManifestHead, nonce: Uint8Array): Uint8Array {
  if (nonce.length !== manifestNonceBytes) throw new RangeError(`a nonce has ${manifestNonceBytes} bytes`);
  const message = create(ManifestSchema, {
    incarnation: bytesFromHex(head.incarnation, incarnationBytes),
    version: BigInt(head.version),
    nonce,
    timeMillis: BigInt(head.timeMillis),
    createdAtMillis: BigInt(head.createdAtMillis),
    modifiedAtMillis: BigInt(head.modifiedAtMillis),
    writers: head.writers.map(storedWriter),
    writersFloor: BigInt(head.writersFloor),
    nextSequence: BigInt(head.nextSequence),
    purgeWatermark: BigInt(head.purgeWatermark),
    purgedAtMillis: BigInt(head.purgedAtMillis),
    collectedBelow: BigInt(head.collectedBelow),
    intents: ascending(head.intents).map((sequence) => storedIntent(sequence, head.intents.get(sequence)!)),
    outgoingLinks: storedLinks(head.outgoingLinks),
    incomingLinks: storedLinks(head.incomingLinks),
  });
  if (head.unknownFields.length > 0) message.$unknown = [...head.unknownFields] as UnknownField[];
  return toBinary(ManifestSchema, message);
}

/** @throws Malformed */
export function decodeHead(bytes: Uint8Array): ManifestHead {
  const message = parsed(ManifestSchema, bytes);
  // A field with a codec of its own, in a form which that codec does not read, would be lost in here.
  const elsewhere = [message.ready, message.delayed, message.deliveries, message.tail, message.segments];
  if ([...elsewhere, message.attributes, message.tags].some((entries) => entries.length > 0))
    throw new Malformed('a repeated field is written in another form');
  if (message.nonce.length !== manifestNonceBytes) throw new Malformed('the nonce has the wrong length');
  return {
    incarnation: hexOfBytes(message.incarnation, incarnationBytes) as Incarnation,
    version: safeInteger(message.version),
    timeMillis: safeInteger(message.timeMillis),
    createdAtMillis: safeInteger(message.createdAtMillis),
    modifiedAtMillis: safeInteger(message.modifiedAtMillis),
    writers: message.writers.map(writerOf),
    writersFloor: safeInteger(message.writersFloor),
    nextSequence: safeInteger(message.nextSequence),
    purgeWatermark: safeInteger(message.purgeWatermark),
    purgedAtMillis: safeInteger(message.purgedAtMillis),
    collectedBelow: safeInteger(message.collectedBelow),
    intents: intentsOf(message.intents),
    outgoingLinks: linksOf(message.outgoingLinks),
    incomingLinks: linksOf(message.incomingLinks),
    unknownFields: message.$unknown ?? [],
  };
}

function storedWriter(writer: WriterEntry): StoredWriter {
  const { id, attempt, version, roundMillis } = writer;
  const stored = create(WriterSchema, {
    id: bytesFromHex(id, writerIdBytes),
    attempt: BigInt(attempt),
    version: BigInt(version),
    roundMillis,
  });
  return withUnknown(stored, writer);
}

function writerOf(stored: StoredWriter): WriterEntry {
  const writer = {
    id: hexOfBytes(stored.id, writerIdBytes) as WriterId,
    attempt: safeInteger(stored.attempt),
    version: safeInteger(stored.version),
    roundMillis: stored.roundMillis,
  };
  return withUnknownFields(writer, stored.$unknown);
}

function storedIntent(sequence: number, intent: Intent): StoredIntent {
  const stored = create(IntentSchema, {
    sequence: BigInt(sequence),
    targetIncarnation: bytesFromHex(intent.targetIncarnation, incarnationBytes),
    number: BigInt(intent.number),
    receiveCount: intent.receiveCount,
    firstReceivedAtMillis: BigInt(intent.firstReceivedAtMillis),
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

function withUnknown<T extends Message>(stored: T, entry: object): T {
  const fields = unknownFieldsOf(entry);
  if (fields !== undefined) stored.$unknown = [...fields];
  return stored;
}
