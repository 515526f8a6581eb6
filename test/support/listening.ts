/** A listener on a free port and clients on bare sockets, for the bytes that no HTTP client would send. */
import net from 'node:net';
import type { Log } from '../../src/engine/environment.ts';
import { currentPlatform } from '../../src/runtime/current-platform.ts';
import type { HttpAnswer, HttpHandler, HttpProblem } from '../../src/runtime/http-handler.ts';
import { HttpListener, type HttpListenerOptions } from '../../src/runtime/http-listener.ts';

const platform = await currentPlatform();
const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const listeners: HttpListener[] = [];
const clients: net.Socket[] = [];

const statusOf: Record<HttpProblem['kind'], number> = {
  broken: 400,
  'headers-too-large': 431,
  'body-too-large': 413,
  'too-slow': 408,
  overloaded: 503,
  stopping: 503,
  failed: 500,
};

export async function serve(
  handler: HttpHandler,
  setting: Partial<HttpListenerOptions> = {},
): Promise<{ listener: HttpListener; port: number }> {
  const listener = new HttpListener({
    platform,
    handler,
    log: silent,
    connectionsMax: 100,
    problem: (problem) => ({
      status: statusOf[problem.kind],
      headers: { 'x-problem': problem.kind },
      body: problem.kind,
    }),
    ...setting,
  });
  listeners.push(listener);
  return { listener, port: (await listener.listen('127.0.0.1', 0)).port };
}

/** For `afterEach`: every client and listener of the test before. */
export async function closeAll(): Promise<void> {
  for (const client of clients.splice(0)) client.destroy();
  for (const listener of listeners.splice(0)) await listener.stop(0);
}

export const ok = (body: string): HttpAnswer => ({
  status: 200,
  headers: { 'content-type': 'text/plain' },
  body,
});

export const post = (target: string, body: string, extra = '') =>
  `POST ${target} HTTP/1.1\r\nHost: example\r\n${extra}Content-Length: ${body.length}\r\n\r\n${body}`;

/** What it has received so far, and waiting for more. */
export class RawClient {
  readonly socket: net.Socket;
  received = '';
  closed = false;
  #changed: () => void = () => {};

  constructor(port: number) {
    this.socket = net.connect({ port, host: '127.0.0.1' });
    clients.push(this.socket);
    this.socket.on('data', (chunk: Uint8Array) => {
      this.received += new TextDecoder().decode(chunk);
      this.#changed();
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.closed = true;
      this.#changed();
    });
  }

  send(text: string): void {
    this.socket.write(text);
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }
}
