/** The plain part of a proxy of single HTTP requests before a real S3 server: requests go on byte by byte as signed. */
import {
  Agent,
  type ClientRequest,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { received, type StoreAnswer } from './proxy-answers.ts';
import type { StoreRequest } from './store-faults.ts';

type Serve = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** Listens on the loopback address for as long as this process lives. A failure to serve breaks the connection. */
export async function listenOn(port: number, serve: Serve): Promise<void> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.socket?.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  server.unref();
}

export class StoreForwarder {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 });

  constructor(port: number) {
    this.#port = port;
  }

  /** The request without its body. */
  open({ method, path, rawHeaders }: StoreRequest): ClientRequest {
    return httpRequest({
      host: '127.0.0.1',
      port: this.#port,
      method,
      path,
      headers: rawHeaders,
      agent: this.#agent,
    });
  }

  /** Undefined: the store itself broke off. */
  forward(request: StoreRequest): Promise<StoreAnswer | undefined> {
    return new Promise((resolve) => {
      const outgoing = this.open(request);
      outgoing.once('response', (incoming) => {
        received(incoming).then(
          ({ body }) => resolve({ status: incoming.statusCode ?? 0, rawHeaders: incoming.rawHeaders, body }),
          () => resolve(undefined),
        );
      });
      outgoing.once('error', () => resolve(undefined));
      outgoing.end(request.body);
    });
  }
}
