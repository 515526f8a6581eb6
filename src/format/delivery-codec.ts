/**
 * The per-message state of a manifest besides bodies: ready ranges, delayed messages, deliveries. They are
 * written with every commit, thousands of them, so this makes no object that the state itself doesn't keep.
 */
import type { UnknownField } from '@bufbuild/protobuf';
import {
  type AttemptHash,
  attemptHashBytes,
  type DeliveryToken,
  deliveryTokenBytes,
  type GroupHash,
  groupHashBytes,
} from '../core/ids.ts';
import { carried, type Delivery } from '../core/queue-state.ts';
import { isWellFormed, type RangeSet } from '../core/range-set.ts';
import { ascending } from './ascending.ts';
import { unknownFieldsOf, withUnknownFields } from './unknown-fields.ts';
import { lengthTag, Malformed, varintTag } from './wire.ts';
import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

const delayedField = { sequence: 1, dueAtMillis: 2 } as const;
const field = {
  sequence: 1,
  visibleAtMillis: 2,
  receiveCount: 3,
  firstReceivedAtMillis: 4,
  leasedAtMillis: 5,
  token: 6,
  leaseVersion: 7,
  group: 8,
  receivedElsewhere: 9,
  attempt: 10,
  attemptMessages: 11,
  attemptRepeated: 12,
  turn: 13,
} as const;

/** Boundaries as differences: a hole far up in a queue's life costs two or three bytes. */
export function encodeReady(writer: WireWriter, readyField: number, ready: RangeSet): void {
  if (ready.length === 0) return;
  const mark = writer.begin(readyField);
  let previous = 0;
  for (const boundary of ready) {
    writer.varint(boundary - previous);
    previous = boundary;
  }
  writer.end(mark);
}

/** @throws Malformed */
export function decodeReady(reader: WireReader): RangeSet {
  const outer = reader.enter();
  const flat: number[] = [];
  let boundary = 0;
  while (reader.more()) {
    boundary += reader.varint();
    flat.push(boundary);
  }
  reader.leave(outer);
  if (!isWellFormed(flat)) throw new Malformed('the ready ranges are not well formed');
  return flat;
}

export function encodeDelayed(
  writer: WireWriter,
  delayedTo: number,
  delayed: ReadonlyMap<number, number>,
): void {
  for (const sequence of ascending(delayed)) {
    const mark = writer.begin(delayedTo);
    writer.uint(delayedField.sequence, sequence);
    writer.uint(delayedField.dueAtMillis, delayed.get(sequence)!);
    writer.end(mark);
  }
}

/** Reads one delayed message into the map and returns its sequence. @throws Malformed */
export function decodeDelayed(reader: WireReader, into: Map<number, number>): number {
  const outer = reader.enter();
  let sequence = 0;
  let dueAtMillis = 0;
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === varintTag(delayedField.sequence)) sequence = reader.varint();
    else if (tag === varintTag(delayedField.dueAtMillis)) dueAtMillis = reader.varint();
    else reader.skip(tag);
  }
  reader.leave(outer);
  into.set(sequence, dueAtMillis);
  return sequence;
}

export function encodeDeliveries(
  writer: WireWriter,
  deliveriesField: number,
  deliveries: ReadonlyMap<number, Delivery>,
): void {
  for (const sequence of ascending(deliveries))
    encodeDelivery(writer, deliveriesField, sequence, deliveries.get(sequence)!);
}

export function encodeDelivery(
  writer: WireWriter,
  deliveryField: number,
  sequence: number,
  delivery: Delivery,
): void {
  const mark = writer.begin(deliveryField);
  writer.uint(field.sequence, sequence);
  writer.uint(field.visibleAtMillis, delivery.visibleAtMillis);
  writer.uint(field.receiveCount, delivery.receiveCount);
  writer.uint(field.firstReceivedAtMillis, delivery.firstReceivedAtMillis);
  writer.uint(field.leasedAtMillis, delivery.leasedAtMillis);
  writer.hex(field.token, delivery.token, deliveryTokenBytes);
  writer.uint(field.leaseVersion, delivery.leaseVersion);
  if (delivery.group !== undefined) writer.hex(field.group, delivery.group, groupHashBytes);
  if (delivery.receivedElsewhere !== undefined)
    writer.uint(field.receivedElsewhere, delivery.receivedElsewhere);
  if (delivery.turn !== undefined) writer.uint(field.turn, delivery.turn);
  if (delivery.attempt !== undefined) {
    writer.hex(field.attempt, delivery.attempt.id, attemptHashBytes);
    writer.uint(field.attemptMessages, delivery.attempt.messages);
    writer.uint(field.attemptRepeated, delivery.attempt.repeated ? 1 : 0);
  }
  writer.unknown(unknownFieldsOf(delivery));
  writer.end(mark);
}

/** Reads one delivery into the map and returns its sequence. @throws Malformed */
export function decodeDelivery(reader: WireReader, into: Map<number, Delivery>): number {
  const outer = reader.enter();
  let sequence = 0;
  const delivery = {
    visibleAtMillis: 0,
    receiveCount: 0,
    firstReceivedAtMillis: 0,
    leasedAtMillis: 0,
    token: '' as DeliveryToken,
    leaseVersion: 0,
  };
  let group: GroupHash | undefined;
  let receivedElsewhere = 0;
  let turn = 0;
  const attempt = { id: '' as AttemptHash, messages: 0, repeated: false };
  let unknown: UnknownField[] | undefined;
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === varintTag(field.sequence)) sequence = reader.varint();
    else if (tag === varintTag(field.visibleAtMillis)) delivery.visibleAtMillis = reader.varint();
    else if (tag === varintTag(field.receiveCount)) delivery.receiveCount = reader.uint32();
    else if (tag === varintTag(field.firstReceivedAtMillis)) delivery.firstReceivedAtMillis = reader.varint();
    else if (tag === varintTag(field.leasedAtMillis)) delivery.leasedAtMillis = reader.varint();
    else if (tag === lengthTag(field.token)) delivery.token = reader.hex(deliveryTokenBytes) as DeliveryToken;
    else if (tag === varintTag(field.leaseVersion)) delivery.leaseVersion = reader.varint();
    else if (tag === lengthTag(field.group)) group = reader.hex(groupHashBytes) as GroupHash;
    else if (tag === varintTag(field.receivedElsewhere)) receivedElsewhere = reader.uint32();
    else if (tag === varintTag(field.turn)) turn = reader.varint();
    else if (tag === lengthTag(field.attempt)) attempt.id = reader.hex(attemptHashBytes) as AttemptHash;
    else if (tag === varintTag(field.attemptMessages)) attempt.messages = reader.uint32();
    else if (tag === varintTag(field.attemptRepeated)) attempt.repeated = reader.varint() !== 0;
    else {
      unknown ??= [];
      unknown.push(reader.unknown(tag));
    }
  }
  reader.leave(outer);
  if (delivery.token === '') throw new Malformed('a delivery has no token');
  const rare = group !== undefined || receivedElsewhere > 0 || turn > 0 || attempt.id !== '';
  const whole = rare
    ? {
        ...delivery,
        ...(group !== undefined && { group }),
        ...carried({ receivedElsewhere }),
        ...(turn > 0 && { turn }),
        ...(attempt.id !== '' && { attempt }),
      }
    : delivery;
  into.set(sequence, withUnknownFields(whole, unknown));
  return sequence;
}
