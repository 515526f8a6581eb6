import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { messageArbitrary } from '../../test/arbitraries/queue-state.ts';
import { ScriptedStore } from '../../test/support/scripted-store.ts';
import { SeededRandom } from '../../test/support/seeded-random.ts';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import type { Incarnation } from '../core/ids.ts';
import { type ObjectKeyParts, objectKey } from '../format/object-keys.ts';
import { decodeSegment, encodeSegment } from '../format/segment-codec.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { ImmutableCache } from './immutable-cache.ts';

const incarnation = 'ab'.repeat(16) as Incarnation;
const [message] = fc.sample(messageArbitrary, 1);
const body = encodeSegment(incarnation, [message!]);
const partsOf = (baseVersion: number): ObjectKeyParts => {
  return { name: 'q', incarnation, kind: 'seg', baseVersion, nonce: '0'.repeat(16) };
};

/** Room for two segments. */
async function cacheOf(segments: number) {
  const clock = new VirtualClock();
  const bucket = new MemoryStore({ nowMillis: () => clock.wallMillis() });
  const objects = Array.from({ length: segments }, (_, n) => partsOf(n + 1));
  for (const parts of objects) await bucket.put(objectKey(parts), body);
  const store = new ScriptedStore(bucket, clock);
  const quiet = () => {};
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const environment = { clock, random: new SeededRandom(1), store, log };
  const cache = new ImmutableCache(environment, 2 * body.length, (bytes) => {
    const decoded = decodeSegment(bytes, incarnation);
    return decoded.kind === 'ok' ? { kind: 'ok', value: decoded.segment, bytes: bytes.length } : decoded;
  });
  const load = (n: number, keep?: boolean) => cache.load(objects[n]!, keep);
  const kept = () =>
    objects.flatMap(({ baseVersion, nonce }, n) =>
      cache.get(incarnation, 'seg', `${baseVersion}-${nonce}`) ? [n] : [],
    );
  return { clock, store, load, kept };
}

describe('a cache of immutable objects', () => {
  it('keeps the last used, and what is read once makes nobody room', async () => {
    const { clock, load, kept } = await cacheOf(5);
    for (const n of [0, 1, 2]) await clock.runUntil(load(n));
    assert.deepEqual(kept(), [1, 2]);
    for (const n of [3, 4]) assert.equal((await clock.runUntil(load(n, false))).kind, 'loaded');
    assert.deepEqual(kept(), [1, 2]);
  });

  it('asks the store once for all who want a segment, and keeps it when one of them wants that', async () => {
    const { clock, store, load, kept } = await cacheOf(1);
    const [once, again, third] = [load(0, false), load(0), load(0, false)];
    await clock.runUntil(Promise.all([once, again, third]));
    assert.equal(store.count('get '), 1);
    assert.deepEqual(kept(), [0]);
  });
});
