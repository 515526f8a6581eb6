/**
 * One port that speaks HTTP/1.1: sockets in, `HttpRequest`s to a handler, answers out.
 *
 * - Every request is answered, by the handler or by `problem`, also when it is too large, too slow or not HTTP at all,
 *   as long as no answer was begun that ours would land inside of. A client that ends its side of the connection before
 *   its request is whole may as well have gone: its connection is closed, with an answer on some runtimes.
 * - A client that goes away aborts its request's signal; an answer that did not reach the socket whole is reported
 *   through `undelivered`, so that a poll whose client has gone swallows no message.
 * - `stop` takes no new work, ends what waits and lets what was begun be answered.
 */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { clearTimeout, setImmediate, setTimeout } from 'node:timers';
import type { Log } from '../engine/environment.ts';
import { BODY_BOUNDS, type BodyBounds, BodyBudget, type HeldBody } from './body-budget.ts';
import {
  type Connection,
  type Connections,
  createConnections,
  DEADLINES_MILLIS,
  type Deadlines,
} from './connections.ts';
import type { HttpAnswer, HttpHandler, HttpHead, HttpProblem, ProblemAnswer } from './http-handler.ts';
import {
  BODY_BYTES_MAX,
  BODY_BYTES_PER_SECOND_MIN,
  HEADER_BYTES_MAX,
  PIPELINED_REQUESTS_MAX,
  SWEEP_EVERY_MILLIS,
} from './limits.ts';
import type { Platform } from './platform.ts';
import { type BodyOutcome, readBody } from './request-body.ts';

export interface HttpListenerOptions {
  readonly platform: Platform;
  readonly handler: HttpHandler;
  readonly problem: ProblemAnswer;
  readonly log: Log;
  readonly connectionsMax: number;
  /** After every answer, also the listener's own; `seconds` from the end of the headers to the answer. */
  readonly observe?: (action: string | undefined, status: number, seconds: number) => void;
  readonly bodyBytesMax?: number;
  readonly bodyBounds?: BodyBounds;
  readonly bodyBytesPerSecondMin?: number;
  readonly deadlinesMillis?: Deadlines;
  readonly sweepEveryMillis?: number;
}

export class HttpListener {
  readonly #options: HttpListenerOptions;
  readonly #connections: Connections;
  readonly #budget: BodyBudget;
  readonly #bodyBytesMax: number;
  readonly #underWay = new Set<AbortController>();
  #stopping = false;
  #drained: () => void = () => {};

  constructor(options: HttpListenerOptions) {
    this.#options = options;
    this.#budget = new BodyBudget(options.bodyBounds ?? BODY_BOUNDS);
    this.#bodyBytesMax = options.bodyBytesMax ?? BODY_BYTES_MAX;
    const http = options.platform.createHttpServer({
      maxHeaderSize: HEADER_BYTES_MAX,
      // Node's own answer would be an empty one, so the lack of a Host is refused here.
      requireHostHeader: false,
    });
    turnOffOwnTimeouts(http);
    this.#connections = createConnections({
      connectionsMax: options.connectionsMax,
      deadlinesMillis: options.deadlinesMillis ?? DEADLINES_MILLIS,
      bodyBytesPerSecondMin: options.bodyBytesPerSecondMin ?? BODY_BYTES_PER_SECOND_MIN,
      sweepEveryMillis: options.sweepEveryMillis ?? SWEEP_EVERY_MILLIS,
      admit: (connection) => http.emit('connection', connection.socket),
      refuse: (socket, reason) => this.#refuse(socket, { kind: reason }),
    });
    http.on('request', (request, response) => void this.#onRequest(request, response, false));
    http.on('checkContinue', (request, response) => void this.#onRequest(request, response, true));
    // Any other expectation may be ignored (RFC 9110, 10.1.1); without a listener Node answers an empty 417.
    http.on('checkExpectation', (request, response) => void this.#onRequest(request, response, false));
    http.on('connect', (_request, socket: Socket) => this.#refuse(socket, { kind: 'broken' }));
    http.on('clientError', (error: Error & { code?: string }, socket: Socket) => {
      if (error.code === 'ECONNRESET') socket.destroy();
      else this.#refuse(socket, problemOf(error.code));
    });
  }

  /** Rejects with the system's error, e.g. EADDRINUSE. Port 0 takes a free one. */
  listen(host: string, port: number): Promise<AddressInfo> {
    const front = this.#connections.front;
    return new Promise((resolve, reject) => {
      front.once('error', reject);
      front.listen({ host, port, backlog: 1_024 }, () => {
        front.off('error', reject);
        front.on('error', (error) => this.#options.log.error('The listener failed', { error }));
        resolve(front.address() as AddressInfo);
      });
    });
  }

  connections(): number {
    return this.#connections.count();
  }

  /** Resolves when every request under way is answered, or after `withinMillis`, with the sockets closed. */
  async stop(withinMillis: number): Promise<void> {
    this.#stopping = true;
    this.#connections.front.close();
    this.#connections.closeIdle();
    const drained = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMillis);
      this.#drained = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    for (const controller of this.#underWay) controller.abort();
    if (this.#underWay.size === 0) this.#drained();
    await drained;
    this.#connections.destroyAll();
  }

  async #onRequest(
    request: IncomingMessage,
    response: ServerResponse,
    expectsContinue: boolean,
  ): Promise<void> {
    const connection = this.#connections.of(request.socket);
    if (connection === undefined) return;
    const begun = performance.now();
    const controller = new AbortController();
    connection.requests += 1;
    this.#underWay.add(controller);
    response.on('close', () => controller.abort());
    const held = this.#budget.hold();
    try {
      const received = await this.#receive(connection, request, response, expectsContinue, held);
      if (received.kind === 'cut-off') return;
      if (this.#stopping) controller.abort();
      const answer = await this.#answerFor(request, received, controller.signal);
      held.giveBack();
      // An answer of our own means that the connection's framing or pace is not to be trusted further.
      const closing = this.#stopping || received.kind !== 'done';
      const delivered = await this.#write(connection, response, answer, closing);
      this.#options.observe?.(answer.action, answer.status, (performance.now() - begun) / 1_000);
      if (!delivered) await answer.undelivered?.();
    } catch (error) {
      this.#options.log.error('A request could not be answered', { error });
      request.socket.destroy();
    } finally {
      held.giveBack();
      connection.requests -= 1;
      this.#underWay.delete(controller);
      if (this.#underWay.size === 0) this.#drained();
    }
  }

  async #receive(
    connection: Connection,
    request: IncomingMessage,
    response: ServerResponse,
    expectsContinue: boolean,
    held: HeldBody,
  ): Promise<Received> {
    const refusal = this.#refusalOf(connection, request);
    if (expectsContinue && refusal !== undefined) return { kind: refusal };
    if (expectsContinue) response.writeContinue();
    this.#connections.enter(connection, 'body');
    const body = await readBody(request, this.#bodyBytesMax, held);
    this.#connections.enter(connection, 'working');
    return refusal === undefined || body.kind !== 'done' ? body : { kind: refusal };
  }

  #refusalOf(
    connection: Connection,
    request: IncomingMessage,
  ): 'stopping' | 'broken' | 'overloaded' | 'too-large' | undefined {
    if (this.#stopping) return 'stopping';
    if (request.httpVersion === '1.1' && request.headers.host === undefined) return 'broken';
    if (connection.requests > PIPELINED_REQUESTS_MAX) return 'overloaded';
    return Number(request.headers['content-length'] ?? 0) > this.#bodyBytesMax ? 'too-large' : undefined;
  }

  async #answerFor(request: IncomingMessage, received: Received, signal: AbortSignal): Promise<HttpAnswer> {
    const { problem, handler, log } = this.#options;
    const head: HttpHead = {
      method: request.method ?? '',
      target: request.url ?? '/',
      headers: headerPairs(request.rawHeaders),
    };
    if (received.kind === 'too-large')
      return problem({ kind: 'body-too-large', maximumBytes: this.#bodyBytesMax }, head);
    if (received.kind === 'cut-off') return problem({ kind: 'broken' }, head);
    if (received.kind !== 'done') return problem(received, head);
    try {
      return await handler({ ...head, body: received.body, signal });
    } catch (error) {
      log.error('A request failed by our own mistake', { error });
      return problem({ kind: 'failed' }, head);
    }
  }

  /** Whether the whole answer was handed to the operating system. */
  async #write(
    connection: Connection,
    response: ServerResponse,
    answer: HttpAnswer,
    closing: boolean,
  ): Promise<boolean> {
    // Whoever waited may have gone while messages were being leased: a turn of the event loop lets that be seen.
    if (answer.undelivered !== undefined) await new Promise((resolve) => setImmediate(resolve));
    if (response.destroyed || connection.socket.destroyed) return false;
    const body = bytesOf(answer);
    this.#connections.enter(connection, 'answering');
    const ended = new Promise<void>((resolve) => response.once('close', resolve));
    response.writeHead(answer.status, {
      ...answer.headers,
      'content-length': String(body.length),
      ...(closing ? { connection: 'close' } : {}),
    });
    response.end(body);
    await ended;
    if (connection.requests === 1) this.#connections.enter(connection, 'idle');
    return response.writableFinished;
  }

  /**
   * Where there is no whole request to answer, only a socket: the same answer by hand, then the end of the connection.
   * Once a request of this connection is being worked on, bytes of ours could land inside its answer.
   */
  #refuse(socket: Socket, problem: HttpProblem): void {
    const connection = this.#connections.of(socket);
    const underWay = connection === undefined ? 0 : connection.requests - Number(connection.phase === 'body');
    if (!socket.writable || underWay > 0) {
      socket.destroy();
      return;
    }
    const answer = this.#options.problem(problem);
    const body = bytesOf(answer);
    const headers = { ...answer.headers, 'content-length': String(body.length), connection: 'close' };
    const head = [
      `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    socket.end(body, () => socket.destroy());
    this.#options.observe?.(answer.action, answer.status, 0);
  }
}

type Received = BodyOutcome | { readonly kind: 'stopping' | 'broken' };

/** See connections.ts: they would not work on every runtime, so none of them decides anything. */
function turnOffOwnTimeouts(http: Server): void {
  http.headersTimeout = 0;
  http.requestTimeout = 0;
  http.keepAliveTimeout = 0;
  http.timeout = 0;
}

function headerPairs(raw: readonly string[]): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at]!.toLowerCase(), raw[at + 1]!]);
  return pairs;
}

function problemOf(code: string | undefined): HttpProblem {
  return code === 'HPE_HEADER_OVERFLOW'
    ? { kind: 'headers-too-large', maximumBytes: HEADER_BYTES_MAX }
    : { kind: 'broken' };
}

function bytesOf(answer: HttpAnswer): Uint8Array {
  return typeof answer.body === 'string' ? new TextEncoder().encode(answer.body) : answer.body;
}
