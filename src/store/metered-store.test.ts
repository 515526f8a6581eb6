import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStore } from './memory-store.ts';
import { MeteredStore } from './metered-store.ts';
import { type ETag, type GetOutcome, type PutOutcome, StoreError } from './object-store.ts';

const WRONG = '"wrong"' as ETag;
const ZERO = { requests: 0, bytesUp: 0, bytesDown: 0, conflicts: 0, unknowns: 0, errors: 0 };

class FailingStore extends MemoryStore {
  override async put(): Promise<PutOutcome> {
    return { kind: 'unknown', throttled: false, reason: 'test' };
  }
  override async get(): Promise<GetOutcome> {
    throw new StoreError('test', { retryable: true });
  }
}

describe('request meter', () => {
  it('counts each request in its class, with bytes and conflicts', async () => {
    const store = new MeteredStore(new MemoryStore({ nowMillis: () => 0 }));
    await store.put('plain', new Uint8Array(10));
    const created = await store.putIfAbsent('key', new Uint8Array(100));
    await store.putIfAbsent('key', new Uint8Array(100));
    assert.ok(created.kind === 'done');
    await store.putIfMatch('key', new Uint8Array(1_000), created.etag);
    await store.putIfMatch('key', new Uint8Array(1_000), created.etag);
    await store.putIfMatch('none', new Uint8Array(1_000), WRONG);
    await store.get('key');
    await store.get('none');
    await store.list({ prefix: '' });
    await store.delete('plain');
    await store.deleteIfMatch('key', WRONG);
    const { classes, dollars } = store.snapshot();
    assert.deepEqual(classes, {
      put: { ...ZERO, requests: 1, bytesUp: 10 },
      conditionalPut: { ...ZERO, requests: 5, bytesUp: 3_200, conflicts: 3 },
      get: { ...ZERO, requests: 2, bytesDown: 1_000 },
      list: { ...ZERO, requests: 1 },
      delete: { ...ZERO, requests: 2, conflicts: 1 },
    });
    // 7 PUTs and LISTs at $5 and 2 GETs at $0.40 a million.
    assert.ok(Math.abs(dollars - 35.8e-6) < 1e-12, String(dollars));
  });

  it('counts requests that failed or have no known outcome', async () => {
    const store = new MeteredStore(new FailingStore({ nowMillis: () => 0 }));
    await store.put('key', new Uint8Array(1));
    await assert.rejects(store.get('key'), StoreError);
    const { classes } = store.snapshot();
    assert.deepEqual(classes.put, { ...ZERO, requests: 1, bytesUp: 1, unknowns: 1 });
    assert.deepEqual(classes.get, { ...ZERO, requests: 1, errors: 1 });
  });

  it('counts nothing for a key that never became a request', async () => {
    const store = new MeteredStore(new MemoryStore({ nowMillis: () => 0 }));
    await assert.rejects(store.get('not a key'), TypeError);
    assert.deepEqual(store.snapshot().classes.get, ZERO);
  });

  it('hands out snapshots that stay as they are', async () => {
    const store = new MeteredStore(new MemoryStore({ nowMillis: () => 0 }));
    const before = store.snapshot();
    await store.get('key');
    assert.equal(before.classes.get.requests, 0);
    assert.equal(store.snapshot().classes.get.requests, 1);
  });
});
