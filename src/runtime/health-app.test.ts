import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createHealthApp, createHealthHandler, type Readiness } from './health-app.ts';
import { createMetrics, type MetricsSources } from './metrics.ts';

const none = { requests: 0, bytesUp: 0, bytesDown: 0, conflicts: 0, unknowns: 0, errors: 0 };
const used = { requests: 4, bytesUp: 90, bytesDown: 10, conflicts: 1, unknowns: 2, errors: 1 };
const sources: MetricsSources = {
  engineCounters: () => ({ commits: 3, lateHits: 1 }),
  storeUse: () => ({
    classes: { put: none, conditionalPut: used, get: none, list: none, delete: none },
    dollars: 0.00002,
  }),
  connections: () => 7,
  version: '0.0.0',
  runtime: 'test',
};

const ask = async (
  path: string,
  readiness: Readiness = { kind: 'ready' },
  metrics = createMetrics(sources),
  method = 'GET',
  headers: readonly (readonly [string, string])[] = [['host', '127.0.0.1:9090']],
) => {
  const app = createHealthApp(() => readiness, metrics);
  const answer = await createHealthHandler(app)({
    method,
    target: path,
    headers,
    body: new Uint8Array(),
    signal: new AbortController().signal,
  });
  return {
    status: answer.status,
    text: typeof answer.body === 'string' ? answer.body : new TextDecoder().decode(answer.body),
    headers: answer.headers,
  };
};

describe('health port', () => {
  it('lives whether or not it is ready', async () => {
    assert.equal((await ask('/healthz', { kind: 'not-ready', reason: 'stopping' })).status, 200);
  });

  it('says why it is not ready', async () => {
    assert.equal((await ask('/readyz')).status, 200);
    const off = await ask('/readyz', { kind: 'not-ready', reason: 'stopping' });
    assert.equal(off.status, 503);
    assert.match(off.text, /stopping/);
  });

  it('knows nothing else', async () => {
    assert.equal((await ask('/')).status, 404);
  });

  it('answers every method, target and header that a client may think of, and never throws', async () => {
    for (const method of ['TRACE', 'CONNECT', 'TRACK', 'POST', 'DELETE', 'OPTIONS']) {
      const answer = await ask('/healthz', { kind: 'ready' }, undefined, method);
      assert.equal(answer.status, 405);
      assert.equal(answer.headers.allow, 'GET, HEAD');
    }
    for (const target of ['*', 'http://user:secret@host/healthz', '@host/healthz'])
      assert.equal((await ask(target)).status, 400);
    assert.equal((await ask('//user:secret@host/healthz')).status, 404);
    for (const host of ['user:secret@host', 'no host', ''])
      assert.equal(
        (await ask('/healthz', { kind: 'ready' }, undefined, 'GET', [['host', host]])).status,
        200,
      );
    const head = await ask('/healthz', { kind: 'ready' }, undefined, 'HEAD', [['x', '\u0100']]);
    assert.deepEqual([head.status, head.text], [200, '']);
  });

  it('shows requests, engine, store, connections and memory as Prometheus reads them', async () => {
    const metrics = createMetrics(sources);
    metrics.observeRequest('SendMessage', 200, 0.004);
    metrics.observeRequest('SendMessage', 200, 0.004);
    metrics.observeRequest(undefined, 400, 0);
    await ask('/metrics', { kind: 'ready' }, metrics);
    const { text, headers } = await ask('/metrics', { kind: 'ready' }, metrics);
    assert.match(headers['content-type'] ?? '', /^text\/plain; version=/);
    for (const line of [
      'okuri_requests_total{action="SendMessage",status="200"} 2',
      'okuri_requests_total{action="unknown",status="400"} 1',
      'okuri_request_seconds_bucket{le="0.005",action="SendMessage"} 2',
      'okuri_commits_total 3',
      'okuri_late_hits_total 1',
      'okuri_store_requests_total{class="conditional_put"} 4',
      'okuri_store_conflicts_total{class="conditional_put"} 1',
      'okuri_store_unknowns_total{class="conditional_put"} 2',
      'okuri_store_errors_total{class="conditional_put"} 1',
      'okuri_store_bytes_total{class="conditional_put"} 100',
      'okuri_store_requests_total{class="put"} 0',
      'okuri_store_dollars_total{class="conditional_put"} 0.00002',
      'okuri_connections 7',
      'okuri_build_info{version="0.0.0",runtime="test"} 1',
    ]) {
      assert.ok(text.includes(`${line}\n`), `${line}\nin\n${text}`);
    }
    assert.match(text, /process_resident_memory_bytes [1-9]/);
  });
});
