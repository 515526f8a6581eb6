/**
 * Segments: messages in an object of their own. A decoded segment keeps the raw bytes and the offsets in them, since
 * caches hold many segments and a receive wants a few messages; each message is decoded when it is asked for.
 */
import type { Incarnation } from '../core/ids.ts';
import { incarnationBytes } from '../core/ids.ts';
import type { StoredMessage } from '../core/message.ts';
import { type Damaged, type Newer, openEnvelope, sealEnvelope } from './envelope.ts';
import { decodeMessage, encodedMessage, groupIdIn } from './message-codec.ts';
import { lengthTag, Malformed } from './wire.ts';
import { WireReader } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

const field = { incarnation: 1, messages: 2 } as const;
const noBody = new Uint8Array();

export interface DecodedSegment {
  readonly count: number;
  /** Of the whole object, which is what holding it costs. */
  readonly bytes: number;
  /** `undefined`: there is no such ordinal, it is empty, or it is unreadable. */
  message(ordinal: number): StoredMessage | undefined;
  /** As it was written, with whatever a newer node put in. Valid as long as the segment. */
  encoded(ordinal: number): Uint8Array | undefined;
  /** By ordinal; undefined also where `message` is. */
  groupIds(): Generator<string | undefined, void, undefined>;
  /** The ordinal was kept free: its number was dead when the object was written. */
  isEmpty(ordinal: number): boolean;
}

export type DecodeSegmentOutcome =
  | { readonly kind: 'ok'; readonly segment: DecodedSegment }
  | Damaged
  | Newer;

export function encodeSegment(incarnation: Incarnation, messages: readonly StoredMessage[]): Uint8Array {
  return encodeBodies(incarnation, messages.map(encodedMessage));
}

/** `undefined` keeps an ordinal free: that of a number which is dead already. */
export function encodeBodies(incarnation: Incarnation, bodies: Iterable<Uint8Array | undefined>): Uint8Array {
  const writer = new WireWriter(64 * 1024);
  writer.hex(field.incarnation, incarnation, incarnationBytes);
  for (const body of bodies) writer.bytesEvenIfEmpty(field.messages, body ?? noBody);
  return sealEnvelope('segment', writer.finish());
}

/** `incarnation`: the queue's that names it; a segment of another one was misplaced and is damaged. */
export function decodeSegment(bytes: Uint8Array, incarnation: Incarnation): DecodeSegmentOutcome {
  const opened = openEnvelope(bytes);
  if (opened.kind !== 'ok') return opened;
  if (opened.objectKind !== 'segment')
    return { kind: 'damaged', reason: `a ${opened.objectKind}, not a segment` };
  try {
    const { owner, offsets } = walk(opened.payload);
    if (owner !== incarnation) return { kind: 'damaged', reason: 'a segment of another incarnation' };
    return { kind: 'ok', segment: new RawSegment(opened.payload, Uint32Array.from(offsets), bytes.length) };
  } catch (error) {
    if (error instanceof Malformed) return { kind: 'damaged', reason: error.message };
    throw error;
  }
}

/** `offsets`: start of message 0, its end, start of message 1, … */
function walk(payload: Uint8Array): {
  readonly owner: string | undefined;
  readonly offsets: readonly number[];
} {
  const reader = new WireReader(payload);
  const offsets: number[] = [];
  let owner: string | undefined;
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === lengthTag(field.incarnation)) owner = reader.hex(incarnationBytes);
    else if (tag === lengthTag(field.messages)) {
      const outer = reader.enter();
      offsets.push(reader.position, reader.position + reader.lastFieldBytes);
      reader.leave(outer);
    } else reader.skip(tag);
  }
  return { owner, offsets };
}

class RawSegment implements DecodedSegment {
  readonly #payload: Uint8Array;
  readonly #offsets: Uint32Array;
  readonly bytes: number;

  constructor(payload: Uint8Array, offsets: Uint32Array, bytes: number) {
    this.#payload = payload;
    this.#offsets = offsets;
    this.bytes = bytes;
  }

  get count(): number {
    return this.#offsets.length / 2;
  }

  isEmpty(ordinal: number): boolean {
    return ordinal < this.count && this.#offsets[ordinal * 2] === this.#offsets[ordinal * 2 + 1];
  }

  message(ordinal: number): StoredMessage | undefined {
    const start = this.#offsets[ordinal * 2];
    const end = this.#offsets[ordinal * 2 + 1];
    if (start === undefined || end === undefined || start === end) return undefined;
    try {
      return decodeMessage(new WireReader(this.#payload, start, end)).message;
    } catch (error) {
      if (error instanceof Malformed) return undefined;
      throw error;
    }
  }

  *groupIds(): Generator<string | undefined, void, undefined> {
    for (let i = 0; i < this.#offsets.length; i += 2)
      yield this.#groupId(this.#offsets[i]!, this.#offsets[i + 1]!);
  }

  #groupId(start: number, end: number): string | undefined {
    try {
      return groupIdIn(new WireReader(this.#payload, start, end));
    } catch (error) {
      if (error instanceof Malformed) return undefined;
      throw error;
    }
  }

  encoded(ordinal: number): Uint8Array | undefined {
    const start = this.#offsets[ordinal * 2];
    const end = this.#offsets[ordinal * 2 + 1];
    return start === undefined || end === undefined || start === end
      ? undefined
      : this.#payload.subarray(start, end);
  }
}
