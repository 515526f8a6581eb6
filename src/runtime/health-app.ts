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

/**
 * The app behind our own listener, so that one set of limits guards both ports. Of what the client sent, only method
 * and path reach the app: `Request` throws for methods, hosts and headers that are HTTP all the same, and this port's
 * clients are not to fill the log with that.
 */
export function createHealthHandler(app: Hono): HttpHandler {
  return async ({ method, target }) => {
    if (method !== 'GET' && method !== 'HEAD') {
      const headers = { 'content-type': 'text/plain; charset=utf-8', allow: 'GET, HEAD' };
      return { status: 405, headers, body: 'only GET and HEAD\n' };
    }
    const url = `http://localhost${target}`;
    if (!target.startsWith('/') || !URL.canParse(url)) return plainProblem({ kind: 'broken' });
    const response = await app.fetch(new Request(url, { method }));
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
