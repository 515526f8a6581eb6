/**
 * A stored message to bytes and back. A message never changes once its send was acknowledged, so its bytes are kept
 * beside it: a tail is written again with every commit, and then is only copied. Bytes that came from the store are
 * kept as they came, with whatever a newer node put in.
 */
import type { UnknownField } from '@bufbuild/protobuf';
import { messageIdBytes } from '../core/ids.ts';
import { MESSAGE_OVERHEAD_BYTES } from '../core/limits.ts';
import type { MessageAttributes, MessageAttributeValue, StoredMessage } from '../core/message.ts';
import { orderingBytesOf } from '../core/message-size.ts';
import { unknownFieldsOf, withUnknownFields } from './unknown-fields.ts';
import { lengthTag, Malformed, varintTag } from './wire.ts';
import type { WireReader } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

/** Field numbers of `StoredMessage` in storage.proto. */
const field = {
  messageId: 1,
  body: 2,
  sentAtMillis: 3,
  senderId: 4,
  attributes: 5,
  traceHeader: 6,
  groupId: 7,
  deadLetterSourceArn: 8,
  deduplicationId: 9,
  movedAtMillis: 10,
} as const;
const attributeField = { name: 1, dataType: 2, text: 3, binary: 4 } as const;

const encodings = new WeakMap<StoredMessage, Uint8Array>();
/** Encoding is synchronous, so one buffer serves every message. */
const scratch = new WireWriter(4096);
const noAttributes: MessageAttributes = new Map();

export interface DecodedMessage {
  readonly message: StoredMessage;
  /** What core/send.ts counts for it (core/message-size.ts). */
  readonly bytes: number;
}

export function encodedMessage(message: StoredMessage): Uint8Array {
  const known = encodings.get(message);
  if (known !== undefined) return known;
  const encoded = encodeMessage(message);
  encodings.set(message, encoded);
  return encoded;
}

/** Says that `encoded` is what `message` was decoded from. */
export function adoptEncoding(message: StoredMessage, encoded: Uint8Array): void {
  encodings.set(message, encoded);
}

/** Whether what the reader has entered are the bytes that are kept for the message. */
export function isNextIn(reader: WireReader, message: StoredMessage): boolean {
  const known = encodings.get(message);
  return known !== undefined && reader.restIs(known);
}

function encodeMessage(message: StoredMessage): Uint8Array {
  const writer = scratch;
  writer.clear();
  writer.hex(field.messageId, message.messageId, messageIdBytes);
  writer.text(field.body, message.body);
  writer.uint(field.sentAtMillis, message.sentAtMillis);
  writer.text(field.senderId, message.senderId);
  for (const [name, value] of message.attributes) {
    const mark = writer.begin(field.attributes);
    writer.text(attributeField.name, name);
    writer.text(attributeField.dataType, value.dataType);
    if (value.kind === 'text') writer.textEvenIfEmpty(attributeField.text, value.text);
    else writer.bytesEvenIfEmpty(attributeField.binary, value.bytes);
    writer.end(mark);
  }
  if (message.traceHeader !== undefined) writer.textEvenIfEmpty(field.traceHeader, message.traceHeader);
  if (message.groupId !== undefined) writer.textEvenIfEmpty(field.groupId, message.groupId);
  if (message.deadLetterSourceArn !== undefined)
    writer.textEvenIfEmpty(field.deadLetterSourceArn, message.deadLetterSourceArn);
  if (message.deduplicationId !== undefined)
    writer.textEvenIfEmpty(field.deduplicationId, message.deduplicationId);
  writer.uint(field.movedAtMillis, message.movedAtMillis ?? 0);
  writer.unknown(unknownFieldsOf(message));
  return writer.finish();
}

type MessageDraft = { -readonly [K in keyof StoredMessage]: StoredMessage[K] };

/** Reads to the end of what the reader has entered. @throws Malformed */
export function decodeMessage(reader: WireReader): DecodedMessage {
  const message: MessageDraft = {
    messageId: '',
    body: '',
    attributes: noAttributes,
    traceHeader: undefined,
    groupId: undefined,
    senderId: '',
    sentAtMillis: 0,
    deadLetterSourceArn: undefined,
  };
  let attributes: Map<string, MessageAttributeValue> | undefined;
  let unknown: UnknownField[] | undefined;
  let bytes = MESSAGE_OVERHEAD_BYTES;
  while (reader.more()) {
    const tag = reader.varint();
    switch (tag) {
      case lengthTag(field.messageId):
        message.messageId = reader.uuid();
        break;
      case lengthTag(field.body):
        message.body = reader.text();
        bytes += reader.lastFieldBytes;
        break;
      case varintTag(field.sentAtMillis):
        message.sentAtMillis = reader.varint();
        break;
      case lengthTag(field.senderId):
        message.senderId = reader.text();
        bytes += message.senderId.length;
        break;
      case lengthTag(field.attributes):
        attributes ??= new Map();
        bytes += decodeAttribute(reader, attributes);
        break;
      case lengthTag(field.traceHeader):
        message.traceHeader = reader.text();
        break;
      case lengthTag(field.groupId):
        message.groupId = reader.text();
        break;
      case lengthTag(field.deadLetterSourceArn):
        message.deadLetterSourceArn = reader.text();
        break;
      case lengthTag(field.deduplicationId):
        message.deduplicationId = reader.text();
        break;
      case varintTag(field.movedAtMillis):
        message.movedAtMillis = reader.varint();
        break;
      default:
        unknown ??= [];
        unknown.push(reader.unknown(tag));
    }
  }
  if (message.messageId === '') throw new Malformed('a message has no id');
  if (attributes !== undefined) message.attributes = attributes;
  return { message: withUnknownFields(message, unknown), bytes: bytes + orderingBytesOf(message) };
}

/** Returns what the attribute adds to the content, as SQS counts it. @throws Malformed */
function decodeAttribute(reader: WireReader, into: Map<string, MessageAttributeValue>): number {
  const outer = reader.enter();
  let name = '';
  let dataType = '';
  let text: string | undefined;
  let binary: Uint8Array | undefined;
  let bytes = 0;
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === lengthTag(attributeField.name)) name = reader.text();
    else if (tag === lengthTag(attributeField.dataType)) dataType = reader.text();
    else if (tag === lengthTag(attributeField.text)) text = reader.text();
    // A copy: the value outlives the object it came in.
    else if (tag === lengthTag(attributeField.binary)) binary = reader.bytes().slice();
    else {
      reader.skip(tag);
      continue;
    }
    bytes += reader.lastFieldBytes;
  }
  reader.leave(outer);
  if (into.has(name)) throw new Malformed('a message attribute comes twice');
  if (text !== undefined && binary === undefined) into.set(name, { kind: 'text', dataType, text });
  else if (binary !== undefined && text === undefined)
    into.set(name, { kind: 'binary', dataType, bytes: binary });
  else throw new Malformed('a message attribute has no value, or two');
  return bytes;
}

/** Of an encoded message that is looked at for nothing else: its body is passed over. @throws Malformed */
export function groupIdIn(reader: WireReader): string | undefined {
  let groupId: string | undefined;
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === lengthTag(field.groupId)) groupId = reader.text();
    else reader.skip(tag);
  }
  return groupId;
}
