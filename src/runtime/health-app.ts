/**
 * The health port: `/healthz` (the process lives), `/readyz` (send it work), `/metrics`. It is on an address of its own
 * because none of it is signed.
 */
import { Hono } from 'hono';
import type { HttpAnswer, HttpHandler, HttpProblem } from './http-handler.ts';
import type { Metrics } from './metrics.ts';

export type Readiness = { readonly kind: 'ready' } | { readonly kind: 'not-ready'; readonly reason: string };

export function createHealthApp(readiness: () => Readiness, metrics: Metrics): Hono {
  const app = new Hono();
  app.get('/healthz', (context) => context.text('ok\n'));
  app.get('/readyz', (context) => {
    const now = readiness();
    return now.kind === 'ready' ? context.text('ready\n') : context.text(`not ready: ${now.reason}\n`, 503);
  });
  app.get('/metrics', async (context) => {
    const { text, contentType } = await metrics.render();
    return context.body(text, 200, { 'content-type': contentType });
  });
  return app;
}

/** Any fetch handler behind our own listener, so that one set of limits guards both ports. */
export function handlerOfFetch(fetch: (request: Request) => Response | Promise<Response>): HttpHandler {
  return async (request) => {
    const host = request.headers.find(([name]) => name === 'host')?.[1] ?? 'localhost';
    const url = `http://${host}${request.target}`;
    if (!URL.canParse(url)) return plainProblem({ kind: 'broken' });
    const bodiless = request.method === 'GET' || request.method === 'HEAD';
    const response = await fetch(
      new Request(url, {
        method: request.method,
        headers: request.headers.map(([name, value]): [string, string] => [name, value]),
        signal: request.signal,
        ...(bodiless ? {} : { body: new Uint8Array(request.body) }),
      }),
    );
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: new Uint8Array(await response.arrayBuffer()),
    };
  };
}

const STATUS: Readonly<Record<HttpProblem['kind'], number>> = {
  broken: 400,
  'headers-too-large': 431,
  'body-too-large': 413,
  'too-slow': 408,
  overloaded: 503,
  stopping: 503,
  failed: 500,
};

/** The listener's own answers where no surface words them. */
export function plainProblem(problem: HttpProblem): HttpAnswer {
  return {
    status: STATUS[problem.kind],
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: `${problem.kind}\n`,
  };
}
