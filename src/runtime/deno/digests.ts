import { createHash, createHmac } from 'node:crypto';
import type { SqsDigests } from '../../protocol/sqs/digests.ts';

/** Deno's one-shot `hash` is no faster than `createHash`, which every version has. */
export const digests: SqsDigests = {
  sha256Hex: (data) => createHash('sha256').update(data).digest('hex'),
  hmacSha256: (key, data) => createHmac('sha256', key).update(data).digest(),
  md5Hex: (data) => createHash('md5').update(data).digest('hex'),
};
