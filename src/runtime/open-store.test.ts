import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Clock } from '../engine/environment.ts';
import { type ObjectStore, StoreError } from '../store/object-store.ts';
import { openStore, probeOpened, type Surroundings } from './open-store.ts';
import { createSystemRandom } from './random.ts';
import { StartFailure } from './start-failure.ts';

/** Time passes only by sleeping. */
function surroundings(): Surroundings & { readonly slept: () => number } {
  let now = 1_000_000;
  const clock: Clock = {
    wallMillis: () => now,
    monotonicMillis: () => now,
    sleep: async (millis) => {
      now += millis;
    },
  };
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  return { clock, random: createSystemRandom(), log, onLost: () => {}, slept: () => now - 1_000_000 };
}

function withOverrides(store: ObjectStore, overrides: Partial<ObjectStore>): ObjectStore {
  return {
    get: (key, options) => store.get(key, options),
    put: (key, body) => store.put(key, body),
    putIfAbsent: (key, body) => store.putIfAbsent(key, body),
    putIfMatch: (key, body, etag) => store.putIfMatch(key, body, etag),
    list: (request) => store.list(request),
    delete: (key) => store.delete(key),
    deleteIfMatch: (key, etag) => store.deleteIfMatch(key, etag),
    ...overrides,
  };
}

async function memory(around: Surroundings) {
  return openStore({ kind: 'memory' }, around);
}

describe('opening a store', () => {
  it('trusts the memory store after its probe', async () => {
    const around = surroundings();
    const opened = await memory(around);
    const probed = await probeOpened(opened, opened.store, around);
    assert.equal(probed.ok, true);
    assert.equal(probed.conditionalDelete, true);
  });

  it('refuses a store that accepts conditions and ignores them, with the failed probe named', async () => {
    const around = surroundings();
    const opened = await memory(around);
    const careless = withOverrides(opened.store, { putIfMatch: (key, body) => opened.store.put(key, body) });
    await assert.rejects(probeOpened(opened, careless, around), (error) => {
      assert.ok(error instanceof StartFailure);
      assert.match(error.message, /failed the probe "swap with a wrong tag"/);
      return true;
    });
  });

  it('waits for a store that is down, and gives up after half a minute', async () => {
    const around = surroundings();
    const opened = await memory(around);
    let failures = 5;
    const flaky = withOverrides(opened.store, {
      put: async (key, body) => {
        failures -= 1;
        if (failures >= 0) throw new StoreError('connection refused', { retryable: true });
        return opened.store.put(key, body);
      },
    });
    assert.equal((await probeOpened(opened, flaky, around)).ok, true);
    assert.equal(around.slept(), 5_000);
    failures = Number.POSITIVE_INFINITY;
    await assert.rejects(probeOpened(opened, flaky, around), /cannot be used: connection refused/);
    assert.ok(around.slept() > 30_000 && around.slept() < 40_000);
  });

  it('does not wait when asking again cannot help', async () => {
    const around = surroundings();
    const opened = await memory(around);
    const denied = withOverrides(opened.store, {
      put: async () => {
        throw new StoreError('access denied', { retryable: false });
      },
    });
    await assert.rejects(probeOpened(opened, denied, around), StartFailure);
    assert.equal(around.slept(), 0);
  });
});
