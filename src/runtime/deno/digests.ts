import { createHash, createHmac } from 'node:crypto';
import type { Digests } from '../digests.ts';

/** Deno's one-shot `hash` is no faster than `createHash`, which every version has. */
export const digests: Digests = {
  sha256: (data) => createHash('sha256').update(data).digest(),
  hmacSha256: (key, data) => createHmac('sha256', key).update(data).digest(),
  md5: (data) => createHash('md5').update(data).digest(),
};
