/**
 * CRC-32C (Castagnoli), the checksum of every stored object: it finds damage in what was written, it proves nothing
 * about who wrote it.
 */
import { Crc32c } from '@aws-crypto/crc32c';

/** Unsigned 32-bit CRC-32C of the concatenation of the given chunks. */
export function crc32c(...chunks: readonly Uint8Array[]): number {
  const state = new Crc32c();
  for (const chunk of chunks) state.update(chunk);
  return state.digest();
}
