/** The hashes the surfaces need, as each runtime does them fastest (STACK.md, "Hashing"). All synchronous. */
export interface Digests {
  sha256(data: Uint8Array): Uint8Array;
  hmacSha256(key: Uint8Array, data: Uint8Array): Uint8Array;
  md5(data: Uint8Array): Uint8Array;
}
