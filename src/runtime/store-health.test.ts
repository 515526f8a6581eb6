import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Clock, Log } from '../engine/environment.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { type ETag, type ObjectStore, StoreError } from '../store/object-store.ts';
import { STORE_ASKED_EVERY_MILLIS, STORE_FAILED_AFTER_MILLIS } from './limits.ts';
import { watchStore } from './store-health.ts';

const OWN_KEY = 'probe/own';
const BODY = new Uint8Array(300);

type Method = keyof ObjectStore;
/** `lost`: a write without an answer. */
type Failure = { readonly retryable: boolean; readonly message: string } | 'lost';

const denied: Failure = { retryable: false, message: 'the store denies access (403 AccessDenied)' };
const away: Failure = { retryable: true, message: 'connection refused' };

/** A memory store that fails as told, and what the watch says of it. */
function setting() {
  let now = 0;
  const clock: Clock = { wallMillis: () => now, monotonicMillis: () => now, sleep: async () => {} };
  const memory = new MemoryStore({ nowMillis: () => now });
  const failures = new Map<Method, (key: unknown, bytes: number) => Failure | undefined>();
  const requests: string[] = [];
  const inner = new Proxy(memory as ObjectStore, {
    get: (_, method: Method) => async (key: unknown, body?: unknown, etag?: unknown) => {
      requests.push(method);
      const bytes = body instanceof Uint8Array ? body.length : 0;
      const failure = failures.get(method)?.(key, bytes);
      if (failure === 'lost') return { kind: 'unknown', throttled: false, reason: 'timeout' };
      if (failure !== undefined) throw new StoreError(failure.message, failure);
      return (memory[method] as (...args: unknown[]) => Promise<unknown>).call(memory, key, body, etag);
    },
  });
  const lines: [level: string, message: string, fields: Readonly<Record<string, unknown>>][] = [];
  const said =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) => {
      lines.push([level, message, fields]);
    };
  const log: Log = { debug: said('debug'), info: said('info'), warn: said('warn'), error: said('error') };
  const health = watchStore(inner, clock, log, OWN_KEY);
  return {
    health,
    store: health.store,
    memory,
    requests,
    lines,
    at: (millis: number) => {
      now = millis;
    },
    /** As the node does: asks every five seconds. */
    passes: async (millis: number) => {
      for (const end = now + millis; now < end; ) {
        now = Math.min(end, now + STORE_ASKED_EVERY_MILLIS);
        await health.askWhenFailing();
      }
    },
    fail: (methods: readonly Method[], failure: Failure) => {
      for (const method of methods) failures.set(method, () => failure);
    },
    failWhen: (method: Method, when: (key: unknown, bytes: number) => Failure | undefined) =>
      failures.set(method, when),
    recover: () => failures.clear(),
  };
}

const writes: readonly Method[] = ['put', 'putIfAbsent', 'putIfMatch'];
const everything: readonly Method[] = ['get', 'list', 'delete', 'deleteIfMatch', ...writes];

describe('store health', () => {
  for (const [name, methods, failure] of [
    ['is away', everything, away],
    ['denies access', everything, denied],
    ['lost its bucket', everything, { retryable: false, message: 'the bucket does not exist' }],
    ['denies reads alone', ['get'], denied],
    ['denies writes alone', writes, denied],
    ['has a full disk', writes, { retryable: true, message: 'ENOSPC: no space left on device' }],
    ['answers no write', writes, 'lost'],
  ] as [string, readonly Method[], Failure][]) {
    it(`a store that ${name} has failed from the first failure to the first answer`, async () => {
      const { health, store, fail, recover, passes, at } = setting();
      at(1_000);
      fail(methods, failure);
      await Promise.allSettled([store.get('m/q'), store.putIfMatch('m/q', BODY, '"a"' as ETag)]);
      assert.equal(health.failingForMillis(), 0);
      await passes(STORE_FAILED_AFTER_MILLIS);
      assert.equal(health.failingForMillis(), STORE_FAILED_AFTER_MILLIS);
      recover();
      await passes(STORE_ASKED_EVERY_MILLIS);
      assert.equal(health.failingForMillis(), 0);
    });
  }

  it('one failing request among others that are answered is no failing store', async () => {
    for (const failure of [away, denied]) {
      const { health, store, failWhen, passes } = setting();
      failWhen('get', (key) => (key === 'm/damaged' ? failure : undefined));
      failWhen('putIfMatch', () => failure);
      await assert.rejects(store.get('m/damaged'));
      await assert.rejects(store.putIfMatch('m/q', BODY, '"a"' as ETag));
      await passes(STORE_FAILED_AFTER_MILLIS);
      assert.equal(health.failingForMillis(), 0);
      await assert.rejects(store.get('m/damaged'));
      await passes(STORE_FAILED_AFTER_MILLIS);
      assert.equal(health.failingForMillis(), 0);
    }
  });

  it('is failing when every commit is refused, although plain writes go through', async () => {
    const { health, store, passes, fail } = setting();
    fail(['putIfMatch', 'putIfAbsent'], denied);
    await assert.rejects(store.putIfMatch('m/q', BODY, 'tag' as ETag));
    await store.put('s/x', BODY);
    await passes(STORE_FAILED_AFTER_MILLIS);
    assert.equal(health.failingForMillis(), STORE_FAILED_AFTER_MILLIS);
  });

  it('LIST and DELETE are not what clients wait for: without them the node goes on', async () => {
    const { health, store, fail, passes } = setting();
    fail(['list', 'delete'], denied);
    await assert.rejects(store.list({ prefix: 's/' }));
    await assert.rejects(store.delete('s/x'));
    await passes(STORE_FAILED_AFTER_MILLIS);
    assert.equal(health.failingForMillis(), 0);
  });

  it('a nearly full disk is asked with as much as it did not take, and nothing stays behind', async () => {
    const { health, store, memory, failWhen, recover, passes } = setting();
    failWhen('put', (_, bytes) => (bytes >= BODY.length ? away : undefined));
    await assert.rejects(store.put('s/x', BODY));
    await passes(STORE_FAILED_AFTER_MILLIS);
    assert.equal(health.failingForMillis(), STORE_FAILED_AFTER_MILLIS);
    recover();
    await passes(STORE_ASKED_EVERY_MILLIS);
    assert.equal(health.failingForMillis(), 0);
    assert.deepEqual((await memory.list({ prefix: '' })).objects, []);
  });

  it('asks only while something fails, each kind with its own request, and one question at a time', async () => {
    const { health, store, requests, fail, failWhen } = setting();
    await health.askWhenFailing();
    assert.deepEqual(requests, []);
    fail(['get'], away);
    await assert.rejects(store.get('m/q'));
    requests.length = 0;
    await Promise.all([health.askWhenFailing(), health.askWhenFailing()]);
    assert.deepEqual(requests, ['get']);
    failWhen('get', () => undefined);
    await health.askWhenFailing();
    await health.askWhenFailing();
    assert.deepEqual(requests, ['get', 'get']);
  });
});

describe('log of a failing store', () => {
  it('says each reason at once, then once a minute with how often, and one line when it is over', async () => {
    const { store, lines, fail, recover, passes, at } = setting();
    fail(['get'], denied);
    fail(writes, 'lost');
    await assert.rejects(store.get('m/q'));
    await store.put('s/x', BODY);
    await store.put('s/y', BODY);
    assert.deepEqual(lines, [
      [
        'warn',
        'The store fails',
        { operation: 'get', error: 'the store denies access (403 AccessDenied)', failures: 1 },
      ],
      ['warn', 'The store fails', { operation: 'put', error: 'timeout', failures: 1 }],
    ]);
    at(59_999);
    await assert.rejects(store.get('m/q'));
    assert.equal(lines.length, 2);
    at(60_000);
    await assert.rejects(store.get('m/q'));
    assert.deepEqual(lines.at(-1)?.[2], {
      operation: 'get',
      error: 'the store denies access (403 AccessDenied)',
      failures: 2,
    });
    recover();
    await store.get('m/q');
    await store.put('s/x', BODY);
    await passes(60_000);
    assert.equal(lines.length, 4);
    assert.deepEqual(lines[3], ['info', 'The store answers again', { failures: 5, failedForSeconds: 60 }]);
  });

  it('is not over while anything fails, nor at every answer of a store that fails now and then', async () => {
    const { store, lines, failWhen, passes, at } = setting();
    failWhen('get', (key) => (key === 'm/damaged' ? denied : undefined));
    for (let millis = 0; millis < 180_000; millis += 1_000) {
      at(millis);
      await assert.rejects(store.get('m/damaged'));
      await store.get('m/q');
    }
    assert.deepEqual(
      lines.map(([level]) => level),
      ['warn', 'warn', 'warn'],
    );
    failWhen('list', () => denied);
    await assert.rejects(store.list({ prefix: 's/' }));
    await passes(40_000);
    assert.equal(lines.filter(([level]) => level === 'info').length, 0);
  });

  it('takes one reason with other keys, paths and ids in it for the same', async () => {
    const { store, lines, failWhen } = setting();
    let tries = 0;
    failWhen('put', () => {
      tries += 1;
      const path = `/data/s/0a1b2c3d-q/000000000000000${tries}`;
      return { retryable: true, message: `writing ${path} failed: ENOSPC (request 4F7A${tries}B0C1D2)` };
    });
    for (let each = 0; each < 50; each += 1) await assert.rejects(store.put('s/x', BODY));
    assert.equal(lines.length, 1);
    assert.match(String(lines[0]?.[2].error), /^writing \/data\/s\/0a1b2c3d-q\/0+1 failed: ENOSPC/);
  });

  it('says a few reasons at most, however many there are', async () => {
    const { store, lines, failWhen, at } = setting();
    let tries = 0;
    failWhen('put', () => {
      tries += 1;
      return { retryable: true, message: `failed ${'x'.repeat(tries)}` };
    });
    for (let each = 0; each < 100; each += 1) await assert.rejects(store.put('s/x', BODY));
    assert.equal(lines.length, 17);
    at(61_000);
    await assert.rejects(store.put('s/x', BODY));
    assert.equal(lines.length, 18);
  });
});
