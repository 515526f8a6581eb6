/**
 * Golden buckets: whole small buckets as some commit wrote them, object for object in buckets/<name>/, with what a
 * reader must find in expected.json. They never change; a format that gains something gets another one beside them
 * (make-bucket.ts). This file opens one with the engine, and takes out all that is in it.
 */
import { readdir, readFile } from 'node:fs/promises';
import { hexFromBytes } from '../../src/core/ids.ts';
import type { MoveTask } from '../../src/core/move-task.ts';
import type { ReceivedMessage } from '../../src/engine/queue-api.ts';
import { hour, kindOf, minute, type TestNode, World } from '../support/world.ts';

export const buckets = new URL('buckets/', import.meta.url);

export interface ExpectedMessage {
  readonly messageId: string;
  readonly body: string;
  /** Name → data type, then the text, or the bytes in hex after `hex:`. */
  readonly attributes: Readonly<Record<string, readonly [dataType: string, value: string]>>;
  readonly traceHeader?: string;
  readonly groupId?: string;
  /** Of FIFO queues, like `sequenceNumber`. */
  readonly deduplicationId?: string;
  readonly sequenceNumber?: string;
  readonly senderId: string;
  readonly sentAtMillis: number;
  readonly deadLetterSourceArn?: string;
  /** Of the receive that takes it out. */
  readonly receiveCount: number;
  /** Only of messages that were received before. */
  readonly firstReceivedAtMillis?: number;
}

export interface ExpectedQueue {
  readonly attributes: Readonly<Record<string, string>>;
  /** Visible, in flight, delayed; before any time passes. */
  readonly counts: readonly number[];
  /** Every message that comes, in the order of their ids. */
  readonly messages: readonly ExpectedMessage[];
}

/** A deduplication id, and the message that took it. */
export interface TakenId {
  readonly queue: string;
  readonly groupId: string;
  readonly id: string;
  readonly messageId: string;
  readonly sequenceNumber: string;
}

/** From format 4 on. */
export interface ExpectedFifo {
  readonly queue: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Of this queue and others. */
  readonly taken: readonly TakenId[];
  /** Bodies that a receive of ten brings, in this order; all that can be had. */
  readonly receivable: readonly string[];
  /** A delivery that holds its group, and what may be received once it is deleted. */
  readonly holder: { readonly receiptHandle: string; readonly unlocks: readonly string[] };
}

export interface Expected {
  /** Virtual milliseconds since the origin at which the bucket was left. */
  readonly leftAtMillis: number;
  readonly queues: Readonly<Record<string, ExpectedQueue>>;
  /** Tombstones. */
  readonly deleted: readonly string[];
  /** Receipt handles of the queue `deliveries`: two of leases that hold, one that a later delivery superseded. */
  readonly handles: { readonly held: readonly [string, string]; readonly superseded: string };
  readonly fifo?: ExpectedFifo;
  readonly tasks?: ExpectedTasks;
}

/** From format 5 on: message move tasks, the newest first. It is under way, and its destination is gone. */
export interface ExpectedTasks {
  readonly queue: string;
  readonly tasks: readonly MoveTask[];
}

/** By key. */
export type Objects = ReadonlyMap<string, Uint8Array>;

export async function readBucket(name: string): Promise<{ objects: Objects; expected: Expected }> {
  const folder = new URL(`${name}/`, buckets);
  const objects = new Map<string, Uint8Array>();
  const walk = async (under: string): Promise<void> => {
    for (const entry of await readdir(new URL(under, folder), { withFileTypes: true }))
      if (entry.isDirectory()) await walk(`${under}${entry.name}/`);
      else
        objects.set(
          `${under}${entry.name}`,
          new Uint8Array(await readFile(new URL(under + entry.name, folder))),
        );
  };
  for (const under of ['m/', 's/']) await walk(under);
  return { objects, expected: JSON.parse(await readFile(new URL('expected.json', folder), 'utf8')) };
}

/** A world of its own in which the bucket was just left. */
export async function openBucket(objects: Objects, leftAtMillis: number): Promise<World> {
  const world = new World();
  world.clock.jump(leftAtMillis);
  for (const [key, body] of objects) await world.bucket.put(key, body);
  return world;
}

export async function attributesAndCounts(
  world: World,
  node: TestNode,
  queue: string,
): Promise<Pick<ExpectedQueue, 'attributes' | 'counts'>> {
  const snapshot = await world.run(node.service.getQueue(queue));
  if (snapshot.kind !== 'queue') throw new Error(`${queue}: ${snapshot.kind}`);
  const { attributes, visibleCount, inFlightCount, delayedCount } = snapshot;
  return {
    attributes: Object.fromEntries([...attributes].sort(([a], [b]) => (a < b ? -1 : 1))),
    counts: [visibleCount, inFlightCount, delayedCount],
  };
}

/** Waits until nothing is delayed or in flight, moves end, then receives and deletes all there is. */
export async function takeEverything(
  world: World,
  node: TestNode,
  queues: readonly string[],
): Promise<ReadonlyMap<string, readonly ExpectedMessage[]>> {
  await world.clock.advance(13 * hour);
  const taken = new Map<string, ExpectedMessage[]>(queues.map((queue) => [queue, []]));
  // Twice: what a dead-letter queue gets comes when its source is opened.
  for (let round = 0; round < 2; round++) {
    for (const queue of queues)
      for (;;) {
        const messages = await node.receive(queue);
        if (messages.length === 0) break;
        taken.get(queue)!.push(...messages.map(expectedOf));
        checkOrder(taken.get(queue)!);
        await node.delete(queue, ...messages);
      }
    await world.clock.advance(minute);
  }
  for (const messages of taken.values()) messages.sort((a, b) => (a.messageId < b.messageId ? -1 : 1));
  return taken;
}

/** Of what has a sequence number, and was taken in this order. */
function checkOrder(taken: readonly ExpectedMessage[]): void {
  const last = new Map<string, string>();
  for (const { groupId, sequenceNumber } of taken) {
    if (groupId === undefined || sequenceNumber === undefined) continue;
    if (sequenceNumber <= (last.get(groupId) ?? ''))
      throw new Error(`${groupId}: ${sequenceNumber} comes late`);
    last.set(groupId, sequenceNumber);
  }
}

export async function deleteByHandle(
  world: World,
  node: TestNode,
  queue: string,
  handle: string,
): Promise<string> {
  const outcome = await world.run(node.service.deleteMessages(queue, [handle]));
  return outcome.kind === 'done' ? kindOf(outcome.entries[0]!) : outcome.kind;
}

function expectedOf(received: ReceivedMessage): ExpectedMessage {
  const { message, receiveCount, firstReceivedAtMillis, sequenceNumber } = received;
  const { messageId, body, attributes, traceHeader, groupId, senderId, sentAtMillis, deadLetterSourceArn } =
    message;
  const { deduplicationId } = message;
  return {
    messageId,
    body,
    attributes: Object.fromEntries(
      [...attributes].map(([name, value]) => [
        name,
        [value.dataType, value.kind === 'text' ? value.text : `hex:${hexFromBytes(value.bytes)}`] as const,
      ]),
    ),
    ...(traceHeader === undefined ? {} : { traceHeader }),
    ...(groupId === undefined ? {} : { groupId }),
    ...(deduplicationId === undefined ? {} : { deduplicationId }),
    ...(sequenceNumber === undefined ? {} : { sequenceNumber }),
    senderId,
    sentAtMillis,
    ...(deadLetterSourceArn === undefined ? {} : { deadLetterSourceArn }),
    receiveCount,
    ...(receiveCount === 1 ? {} : { firstReceivedAtMillis }),
  };
}
