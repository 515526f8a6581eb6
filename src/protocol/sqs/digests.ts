/**
 * The digests the surface needs. Web Crypto (web-crypto-digest.ts) is the portable default; each runtime hands in its
 * fastest, which may answer at once or by promise. MD5 has no Web Crypto: it is synchronous and defaults to core/md5.
 */

export type MaybePromise<T> = T | Promise<T>;

export interface SigningDigests {
  /** Lower-case hex. */
  sha256Hex(data: Uint8Array | string): MaybePromise<string>;
  hmacSha256(key: Uint8Array, data: string): MaybePromise<Uint8Array>;
}

export interface SqsDigests extends SigningDigests {
  /** Lower-case hex; of a string, its UTF-8 bytes. */
  md5Hex(data: Uint8Array | string): string;
}
