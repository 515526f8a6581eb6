/** The package carries types for its CRC-32 only. */
declare module 'crc-32/crc32c.js' {
  const CRC32C: {
    /** Signed CRC-32C of the bytes, continuing from `seed`. */
    buf(bytes: Uint8Array, seed?: number): number;
  };
  export default CRC32C;
}
