import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { incarnationArbitrary, millisArbitrary } from '../../test/arbitraries/queue-state.ts';
import type { WriterId } from '../core/ids.ts';
import { decodeManifestObject, encodeTombstone, isTombstoneSize, TOMBSTONE_BYTES } from './manifest-codec.ts';

const nonce = new Uint8Array(16).fill(7);

describe('tombstone codec', () => {
  const tombstone = fc.record(
    {
      buriedIncarnation: incarnationArbitrary,
      buriedVersion: fc.nat(),
      closingWriter: incarnationArbitrary.map((hex) => hex as string as WriterId),
      closingAttempt: fc.maxSafeNat(),
      deletedAtMillis: millisArbitrary,
    },
    { noNullPrototype: true },
  );

  it('gives every tombstone back, all in one size', () => {
    fc.assert(
      fc.property(tombstone, (value) => {
        const bytes = encodeTombstone(value, nonce);
        assert.equal(bytes.length, TOMBSTONE_BYTES);
        assert.ok(isTombstoneSize(bytes.length));
        assert.deepEqual(decodeManifestObject(bytes), {
          kind: 'ok',
          content: { kind: 'tombstone', tombstone: value },
        });
      }),
    );
  });

  it('reports any changed byte as damage', () => {
    const [value] = fc.sample(tombstone, { numRuns: 1, seed: 1 });
    const bytes = encodeTombstone(value!, nonce);
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = bytes.slice();
      changed[at]! ^= 0x41;
      assert.equal(decodeManifestObject(changed).kind, 'damaged', `byte ${at}`);
    }
  });
});
