/**
 * What differs between Node, Bun and Deno. `node/`, `bun/` and `deno/` hold the same files; `current-platform.ts` is the
 * one place that asks which of them this is.
 */
import type { Server, ServerOptions } from 'node:http';
import type { SqsDigests } from '../protocol/sqs/digests.ts';

export interface Platform {
  readonly name: 'node' | 'bun' | 'deno';
  readonly version: string;
  /** The runtime's fastest hashing; synchronous. */
  readonly digests: SqsDigests;
  /** An HTTP/1.1 server that is fed sockets by `emit('connection')` and never listens itself. */
  createHttpServer(options: ServerOptions): Server;
}
