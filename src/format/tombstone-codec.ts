/**
 * Tombstones have one fixed size and every manifest is larger, so that a LIST tells deleted queues from living ones.
 */
import { create, toBinary } from '@bufbuild/protobuf';
import { bytesFromHex, incarnationBytes, writerIdBytes } from '../core/ids.ts';
import type { Tombstone } from '../core/queue-state.ts';
import { envelopeBytes, sealEnvelope } from './envelope.ts';
import { TombstoneSchema } from './gen/okuri/storage/v1/storage_pb.ts';
import { hexOfBytes, parsed, safeInteger } from './generated-values.ts';

/** What a tombstone says takes at most 96 bytes with its envelope; the rest leaves room for later fields. */
export const TOMBSTONE_BYTES = 192;

export function isTombstoneSize(bytes: number): boolean {
  return bytes === TOMBSTONE_BYTES;
}

export function encodeTombstone(tombstone: Tombstone, nonce: Uint8Array): Uint8Array {
  const message = create(TombstoneSchema, {
    nonce,
    buriedIncarnation: bytesFromHex(tombstone.buriedIncarnation, incarnationBytes),
    buriedVersion: BigInt(tombstone.buriedVersion),
    closingWriter: bytesFromHex(tombstone.closingWriter, writerIdBytes),
    closingAttempt: BigInt(tombstone.closingAttempt),
    deletedAtMillis: BigInt(tombstone.deletedAtMillis),
  });
  const payloadBytes = TOMBSTONE_BYTES - envelopeBytes(TOMBSTONE_BYTES);
  // The padding's tag and length take a byte each: it is always shorter than 128 bytes.
  message.padding = new Uint8Array(payloadBytes - toBinary(TombstoneSchema, message).length - 2);
  const bytes = sealEnvelope('tombstone', toBinary(TombstoneSchema, message));
  if (bytes.length !== TOMBSTONE_BYTES) throw new Error(`a tombstone came out at ${bytes.length} bytes`);
  return bytes;
}

/** @throws Malformed */
export function decodeTombstone(payload: Uint8Array): Tombstone {
  const message = parsed(TombstoneSchema, payload);
  return {
    buriedIncarnation: hexOfBytes(
      message.buriedIncarnation,
      incarnationBytes,
    ) as Tombstone['buriedIncarnation'],
    buriedVersion: safeInteger(message.buriedVersion),
    closingWriter: hexOfBytes(message.closingWriter, writerIdBytes) as Tombstone['closingWriter'],
    closingAttempt: safeInteger(message.closingAttempt),
    deletedAtMillis: safeInteger(message.deletedAtMillis),
  };
}
