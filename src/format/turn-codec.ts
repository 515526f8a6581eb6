/** A writer's request for its turn (engine/turn.ts): what its entry in the manifest would say, had it landed one. */
import type { WriterEntry } from '../core/queue-state.ts';
import { openEnvelope, sealEnvelope } from './envelope.ts';
import { Malformed } from './wire.ts';
import { WireReader } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';
import { decodeWriter, encodeWriter } from './writer-codec.ts';

export function encodeTurn(entry: WriterEntry): Uint8Array {
  const writer = new WireWriter(64);
  encodeWriter(writer, entry);
  return sealEnvelope('turn', writer.finish());
}

/** `undefined` for anything else: a request that can't be read is none. */
export function decodeTurn(bytes: Uint8Array): WriterEntry | undefined {
  const opened = openEnvelope(bytes);
  if (opened.kind !== 'ok' || opened.objectKind !== 'turn') return undefined;
  try {
    return decodeWriter(new WireReader(opened.payload));
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}
