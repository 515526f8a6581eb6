/**
 * One object as one file: a header line of fixed length, then the body as it is.
 *
 * - The header holds the tag and the time of the write, so a LIST reads a few bytes of each file and no body, and
 *   the time is the store's own, which never goes backwards, and not the file system's.
 * - A tag is 128 random bits drawn for each write, so equal bytes written twice have two tags and no body is hashed.
 * - A header that doesn't parse is damage from outside okuri and is reported, never taken for a missing object.
 *
 * Frozen with the first release: folders written by one version are read by the next.
 */
import { type ETag, StoreError } from './object-store.ts';

/** `okuri1 ` + 34 characters of tag + blank + 15 digits of milliseconds + line feed. */
export const HEADER_BYTES = 58;

const HEADER = /^okuri1 ("[0-9a-f]{32}") ([0-9]{15})\n$/;

export function encodeHeader(etag: ETag, millis: number): Uint8Array {
  const line = `okuri1 ${etag} ${String(millis).padStart(15, '0')}\n`;
  return new TextEncoder().encode(line);
}

export function decodeHeader(
  bytes: Uint8Array,
  path: string,
): { readonly etag: ETag; readonly millis: number } {
  const match = HEADER.exec(new TextDecoder('latin1').decode(bytes.subarray(0, HEADER_BYTES)));
  if (match === null) {
    throw new StoreError(
      `${path} is damaged or was not written by okuri: its first line is not an object header`,
      {
        retryable: false,
      },
    );
  }
  return { etag: match[1] as ETag, millis: Number(match[2]) };
}
