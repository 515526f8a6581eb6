import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MemoryStore } from './memory-store.ts';
import { type ETag, type ListPage, type ObjectStore, StoreError } from './object-store.ts';
import { RetryingStore, waitMillisMax } from './retrying-store.ts';

type Failure = 'unknown' | 'throttled' | 'retryable' | 'fatal';

/** Fails as scripted, then answers; notes each request and each wait on a clock of its own. */
function failing(script: readonly Failure[], options: { unit?: number; requestMillis?: number } = {}) {
  const requests: string[] = [];
  const waits: number[] = [];
  let nowMillis = 0;
  const inner = new MemoryStore({ nowMillis: () => 0 });
  const fail = <Result>(name: string, answer: () => Promise<Result>): Promise<Result> => {
    const failure = script[requests.length];
    requests.push(name);
    nowMillis += options.requestMillis ?? 1;
    if (failure === undefined) return answer();
    const unknown = { kind: 'unknown', throttled: failure === 'throttled', reason: 'test' };
    const isRead = name === 'get' || name === 'list';
    if (!isRead && (failure === 'unknown' || failure === 'throttled'))
      return Promise.resolve(unknown as Result);
    return Promise.reject(
      new StoreError(failure, { retryable: failure !== 'fatal', throttled: failure === 'throttled' }),
    );
  };
  const store: ObjectStore = {
    get: (key) => fail('get', () => inner.get(key)),
    put: (key, body) => fail('put', () => inner.put(key, body)),
    putIfAbsent: (key, body) => fail('putIfAbsent', () => inner.putIfAbsent(key, body)),
    putIfMatch: (key, body, etag) => fail('putIfMatch', () => inner.putIfMatch(key, body, etag)),
    list: (request) => fail<ListPage>('list', () => inner.list(request)),
    delete: (key) => fail('delete', () => inner.delete(key)),
    deleteIfMatch: (key, etag) => fail('deleteIfMatch', () => inner.deleteIfMatch(key, etag)),
  };
  const clock = {
    monotonicMillis: () => nowMillis,
    sleep: async (millis: number) => {
      waits.push(millis);
      nowMillis += millis;
    },
  };
  const retrying = new RetryingStore(store, clock, { unit: () => options.unit ?? 0.5 });
  return { retrying, requests, waits, elapsedMillis: () => nowMillis };
}

const BODY = new Uint8Array(3);
const TAG = '"tag"' as ETag;

describe('retrying store', () => {
  it('repeats reads, lists, plain puts and deletes until they succeed', async () => {
    const cases: [string, (store: ObjectStore) => Promise<{ kind?: string }>, string | undefined][] = [
      ['get', (store) => store.get('key'), 'missing'],
      ['list', (store) => store.list({ prefix: '' }).then(() => ({ kind: 'page' })), 'page'],
      ['put', (store) => store.put('key', BODY), 'done'],
      ['delete', (store) => store.delete('key'), 'done'],
    ];
    for (const [name, ask, kind] of cases) {
      const { retrying, requests, waits } = failing(['unknown', 'throttled', 'retryable']);
      assert.equal((await ask(retrying)).kind, kind);
      assert.deepEqual(requests, [name, name, name, name]);
      assert.deepEqual(waits, [25, 400, 100]);
    }
  });

  it('never repeats a conditional write', async () => {
    for (const failure of ['unknown', 'throttled', 'retryable', 'fatal'] as const) {
      for (const ask of [
        (store: ObjectStore) => store.putIfAbsent('key', BODY),
        (store: ObjectStore) => store.putIfMatch('key', BODY, TAG),
        (store: ObjectStore) => store.deleteIfMatch('key', TAG),
      ]) {
        const { retrying, requests } = failing([failure]);
        const answer = await ask(retrying).catch((error: unknown) => error);
        assert.equal(requests.length, 1);
        if (answer instanceof StoreError) assert.equal(answer.message, failure);
        else assert.equal((answer as { kind: string }).kind, 'unknown');
      }
    }
  });

  it('gives a failure that asking again cannot mend straight back', async () => {
    const { retrying, requests, waits } = failing(['fatal']);
    await assert.rejects(retrying.get('key'), { message: 'fatal' });
    assert.deepEqual([requests.length, waits.length], [1, 0]);
  });

  it('ends with the last answer when the attempts are used up', async () => {
    const reads = failing(Array<Failure>(9).fill('retryable'));
    await assert.rejects(reads.retrying.get('key'), { message: 'retryable' });
    assert.equal(reads.requests.length, 5);
    const writes = failing(Array<Failure>(9).fill('unknown'));
    assert.equal((await writes.retrying.put('key', BODY)).kind, 'unknown');
    assert.equal(writes.requests.length, 5);
  });

  it('ends when the time is used up, without a wait that would lead beyond it', async () => {
    const { retrying, requests, elapsedMillis } = failing(Array<Failure>(9).fill('retryable'), {
      requestMillis: 2_500,
    });
    await assert.rejects(retrying.get('key'), StoreError);
    assert.equal(requests.length, 3);
    assert.ok(elapsedMillis() < 8_000);
  });

  it('waits at random between nothing and a bound that doubles, longer when throttled', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), (attempt) => {
        for (const throttled of [false, true]) {
          const bound = waitMillisMax(attempt, throttled);
          assert.ok(bound <= 2_000 && bound <= waitMillisMax(attempt + 1, throttled));
          assert.ok(bound === 2_000 || bound === 2 ** (attempt - 1) * waitMillisMax(1, throttled));
        }
        assert.ok(waitMillisMax(attempt, true) >= waitMillisMax(attempt, false));
      }),
    );
  });

  it('passes a mistake of the caller on at once', async () => {
    const { retrying, requests } = failing([]);
    await assert.rejects(retrying.get('not a key'), TypeError);
    assert.equal(requests.length, 1);
  });
});
