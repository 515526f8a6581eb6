/**
 * The inline tail of a manifest: sequence and message, ascending. See message-codec.ts for why writing it again with
 * every commit is cheap.
 */
import type { TailMessage } from '../core/queue-state.ts';
import { ascending } from './ascending.ts';
import { adoptEncoding, decodeMessage, encodedMessage, isNextIn } from './message-codec.ts';
import { lengthTag, Malformed, varintBytes, varintTag } from './wire.ts';
import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

const field = { sequence: 1, message: 2 } as const;

export function encodeTail(
  writer: WireWriter,
  tailField: number,
  tail: ReadonlyMap<number, TailMessage>,
): void {
  for (const sequence of ascending(tail)) {
    const encoded = encodedMessage(tail.get(sequence)!.message);
    writer.varint(lengthTag(tailField));
    writer.varint(1 + varintBytes(sequence) + 1 + varintBytes(encoded.length) + encoded.length);
    writer.uint(field.sequence, sequence);
    writer.bytes(field.message, encoded);
  }
}

/** Above it the platform decodes text faster than a loop compares bytes. */
const comparedBytesMax = 1024;

/**
 * Reads one entry of the tail into the map; an entry of `known` that has the same bytes is taken as it is.
 * @throws Malformed
 */
export function decodeTailMessage(
  reader: WireReader,
  into: Map<number, TailMessage>,
  payload: Uint8Array,
  known: ReadonlyMap<number, TailMessage> | undefined,
): number {
  const outer = reader.enter();
  let sequence = 0;
  let entry: TailMessage | undefined;
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === varintTag(field.sequence)) sequence = reader.varint();
    else if (tag === lengthTag(field.message)) {
      const entryEnd = reader.enter();
      const before = reader.lastFieldBytes > comparedBytesMax ? undefined : known?.get(sequence);
      if (before !== undefined && isNextIn(reader, before.message)) entry = before;
      else {
        const start = reader.position;
        entry = decodeMessage(reader);
        const encoded = payload.subarray(start, reader.position);
        // A copy, where many outlive the object they came in: each would keep a whole manifest in memory.
        adoptEncoding(entry.message, known === undefined ? encoded : encoded.slice());
      }
      reader.leave(entryEnd);
    } else reader.skip(tag);
  }
  reader.leave(outer);
  if (sequence === 0 || entry === undefined)
    throw new Malformed('a tail message lacks its sequence or its message');
  into.set(sequence, entry);
  return sequence;
}
