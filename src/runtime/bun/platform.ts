import { createServer } from 'node:http';
import { versions } from 'node:process';
import type { Platform } from '../platform.ts';
import { digests } from './digests.ts';

export const platform: Platform = {
  name: 'bun',
  version: versions.bun ?? 'unknown',
  digests,
  createHttpServer: (options) => createServer(options),
};
