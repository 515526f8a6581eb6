/**
 * What clients of FIFO queues draw for a message besides its body: a group, one of which may be hot, and an id to be
 * deduplicated by, which another message may have had. Contents repeat without their marker: what the surface hashes is
 * its own affair, and messages have to be told apart.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { QueueState } from '../../src/core/queue-state.ts';
import type { SendEntry } from '../../src/engine/queue-api.ts';
import type { Prng } from './prng.ts';

export interface FifoConfig {
  readonly groups: number;
  /** The share of messages that are of the first of them. */
  readonly hot: number;
  /** The share of messages with one of few ids, and how many those are. */
  readonly repeats: number;
  readonly ids: number;
  /** The share of messages with an id of their own; the others go by their content. */
  readonly explicit: number;
}

type FifoPart = { readonly groupId: string; readonly deduplication: SendEntry['deduplication'] & object };

export function drawFifoPart(draw: Prng, fifo: FifoConfig, marker: string): FifoPart {
  const group = draw.chance(fifo.hot) ? 1 : draw.between(1, fifo.groups);
  const id = draw.chance(fifo.repeats) ? `again${draw.between(1, fifo.ids)}` : marker.slice(0, -1);
  const deduplication = draw.chance(fifo.explicit)
    ? { explicitId: id, bodyHash: '' }
    : { explicitId: undefined, bodyHash: bytesToHex(sha256(utf8ToBytes(id))) };
  return { groupId: `group${group}`, deduplication };
}

/** One message for a queue of either type; `body` begins with its marker, which no other message has. */
export function entryFor(queue: string, body: string, delaySeconds: number): SendEntry {
  const groupId = isFifoQueue(queue) ? 'healed' : undefined;
  const content = { body, attributes: new Map(), traceHeader: undefined, groupId };
  const entry = { content, contentBytes: body.length };
  if (groupId === undefined) return { ...entry, delaySeconds };
  const explicitId = body.slice(0, body.indexOf('|'));
  return { ...entry, delaySeconds: undefined, deduplication: { explicitId, bodyHash: '' } };
}

export function isFifoQueue(name: string): boolean {
  return name.endsWith('.fifo');
}

export function isFifoState({ attributes }: QueueState): boolean {
  return attributes.get('FifoQueue') === 'true';
}
