/**
 * CRC-32C (Castagnoli), the checksum of every stored object: it finds damage in what was written, it proves nothing
 * about who wrote it.
 */
import CRC32C from 'crc-32/crc32c.js';

/** Unsigned 32-bit CRC-32C of the concatenation of the given chunks. */
export function crc32c(...chunks: readonly Uint8Array[]): number {
  let crc = 0;
  for (const chunk of chunks) crc = CRC32C.buf(chunk, crc);
  return crc >>> 0;
}
