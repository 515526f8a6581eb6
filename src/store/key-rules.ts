/**
 * What a key may look like, checked by every adapter before it touches anything, so that a key which one store would
 * take and another would mangle (an empty part, `..`, a blank) fails in the first unit test and not in a bucket.
 */

/** S3 allows 1,024 bytes with the configured prefix; the rest is left to the prefix. */
export const KEY_BYTES_MAX = 896;
/** File systems allow 255 bytes in one name, of which the file store needs a few for its own mark. */
export const KEY_PART_BYTES_MAX = 240;

const PART = /^[A-Za-z0-9._-]+$/;
const PREFIX = /^[A-Za-z0-9._/-]*$/;

/** @throws TypeError for a key outside `A–Z a–z 0–9 - _ . /`, too long, or with a part that is empty, `.` or `..`. */
export function assertKey(key: string): void {
  if (key.length > KEY_BYTES_MAX) throw new TypeError(`key of ${key.length} bytes: at most ${KEY_BYTES_MAX}`);
  for (const part of key.split('/')) {
    if (!PART.test(part) || part === '.' || part === '..' || part.length > KEY_PART_BYTES_MAX) {
      throw new TypeError(`not an object key: ${JSON.stringify(key)}`);
    }
  }
}

/** @throws TypeError for a prefix with characters that no key has, RangeError for a limit outside 1–1000. */
export function assertListRequest(request: {
  readonly prefix: string;
  readonly startAfter?: string;
  readonly limit?: number;
}): void {
  if (!PREFIX.test(request.prefix) || !PREFIX.test(request.startAfter ?? '')) {
    throw new TypeError(`not a key prefix: ${JSON.stringify([request.prefix, request.startAfter])}`);
  }
  const limit = request.limit ?? LIST_LIMIT_MAX;
  if (!Number.isInteger(limit) || limit < 1 || limit > LIST_LIMIT_MAX) {
    throw new RangeError(`list limit ${limit} is not within 1–${LIST_LIMIT_MAX}`);
  }
}

/** What S3 returns at most for one LIST request. */
export const LIST_LIMIT_MAX = 1000;
