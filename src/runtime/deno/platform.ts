import { createServer } from 'node:http';
import { versions } from 'node:process';
import type { Platform } from '../platform.ts';
import { digests } from './digests.ts';

export const platform: Platform = {
  name: 'deno',
  version: versions.deno ?? 'unknown',
  digests,
  createHttpServer: (options) => {
    const server = createServer(options);
    // Deno ends each connection after one response unless the server says that it listens, which a server behind a
    // front never does.
    Object.defineProperty(server, 'listening', { value: true });
    return server;
  },
};
