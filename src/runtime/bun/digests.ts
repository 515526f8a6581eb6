import { createHmac, hash } from 'node:crypto';
import type { Digests } from '../digests.ts';

/** The one-shot `hash` takes two thirds of what `createHash` takes for a request of 400 bytes. */
export const digests: Digests = {
  sha256: (data) => hash('sha256', data, 'buffer'),
  hmacSha256: (key, data) => createHmac('sha256', key).update(data).digest(),
  md5: (data) => hash('md5', data, 'buffer'),
};
