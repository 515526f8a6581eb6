import { createHmac, hash } from 'node:crypto';
import type { SqsDigests } from '../../protocol/sqs/digests.ts';

/** The one-shot `hash` takes two thirds of what `createHash` takes for a request of 400 bytes. */
export const digests: SqsDigests = {
  sha256Hex: (data) => hash('sha256', data, 'hex'),
  hmacSha256: (key, data) => createHmac('sha256', key).update(data).digest(),
  md5Hex: (data) => hash('md5', data, 'hex'),
};
