/** A writer's request for its turn (engine/turn.ts): what its entry in the manifest would say, had it landed one. */
import { create, toBinary } from '@bufbuild/protobuf';
import { bytesFromHex, type WriterId, writerIdBytes } from '../core/ids.ts';
import type { WriterEntry } from '../core/queue-state.ts';
import { openEnvelope, sealEnvelope } from './envelope.ts';
import { WriterSchema } from './gen/okuri/storage/v1/storage_pb.ts';
import { hexOfBytes, parsed, safeInteger } from './generated-values.ts';
import { Malformed } from './wire.ts';

export function encodeTurn({ id, attempt, version, roundMillis }: WriterEntry): Uint8Array {
  const message = create(WriterSchema, {
    id: bytesFromHex(id, writerIdBytes),
    attempt: BigInt(attempt),
    version: BigInt(version),
    roundMillis,
  });
  return sealEnvelope('turn', toBinary(WriterSchema, message));
}

/** `undefined` for anything else: a request that can't be read is none. */
export function decodeTurn(bytes: Uint8Array): WriterEntry | undefined {
  const opened = openEnvelope(bytes);
  if (opened.kind !== 'ok' || opened.objectKind !== 'turn') return undefined;
  try {
    const { id, attempt, version, roundMillis } = parsed(WriterSchema, opened.payload);
    return {
      id: hexOfBytes(id, writerIdBytes) as WriterId,
      attempt: safeInteger(attempt),
      version: safeInteger(version),
      roundMillis,
    };
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}
