/** From what the generated code gives to what the core wants; anything that doesn't fit is `Malformed`. */
import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { hexFromBytes } from '../core/ids.ts';
import { Malformed } from './wire.ts';

export function parsed<Schema extends DescMessage>(schema: Schema, bytes: Uint8Array): MessageShape<Schema> {
  try {
    return fromBinary(schema, bytes);
  } catch (error) {
    throw new Malformed(`not a ${schema.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function safeInteger(value: bigint): number {
  if (value > Number.MAX_SAFE_INTEGER) throw new Malformed('a number is too large');
  return Number(value);
}

export function hexOfBytes(bytes: Uint8Array, byteCount: number): string {
  if (bytes.length !== byteCount) throw new Malformed('an identity has the wrong length');
  return hexFromBytes(bytes);
}
