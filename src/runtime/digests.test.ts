import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hmac } from '@noble/hashes/hmac.js';
import { md5 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import fc from 'fast-check';
import { currentPlatform } from './current-platform.ts';

const { digests } = await currentPlatform();
const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

describe('digests of this runtime', () => {
  it('know the published values', () => {
    const abc = new TextEncoder().encode('abc');
    assert.equal(
      hex(digests.sha256(abc)),
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    assert.equal(hex(digests.md5(abc)), '900150983cd24fb0d6963f7d28e17f72');
  });

  it('agree with the portable implementation on any input', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 100 }), (data, key) => {
        assert.equal(hex(digests.sha256(data)), hex(sha256(data)));
        assert.equal(hex(digests.md5(data)), hex(md5(data)));
        assert.equal(hex(digests.hmacSha256(key, data)), hex(hmac(sha256, key, data)));
      }),
    );
  });
});
