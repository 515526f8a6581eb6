import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hmac } from '@noble/hashes/hmac.js';
import { md5 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { currentPlatform } from './current-platform.ts';

const { digests } = await currentPlatform();

describe('digests of this runtime', () => {
  it('know the published values', async () => {
    const sha256OfAbc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    assert.equal(await digests.sha256Hex('abc'), sha256OfAbc);
    assert.equal(await digests.sha256Hex(utf8ToBytes('abc')), sha256OfAbc);
    assert.equal(digests.md5Hex('abc'), '900150983cd24fb0d6963f7d28e17f72');
  });

  it('agree with the portable implementation on any bytes and any text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 200 }),
        fc.string({ unit: 'grapheme', maxLength: 100 }),
        fc.uint8Array({ maxLength: 100 }),
        async (bytes, text, key) => {
          assert.equal(await digests.sha256Hex(bytes), bytesToHex(sha256(bytes)));
          assert.equal(await digests.sha256Hex(text), bytesToHex(sha256(utf8ToBytes(text))));
          assert.equal(digests.md5Hex(bytes), bytesToHex(md5(bytes)));
          assert.equal(digests.md5Hex(text), bytesToHex(md5(utf8ToBytes(text))));
          const mac = await digests.hmacSha256(key, text);
          assert.equal(bytesToHex(mac), bytesToHex(hmac(sha256, key, utf8ToBytes(text))));
        },
      ),
    );
  });
});
