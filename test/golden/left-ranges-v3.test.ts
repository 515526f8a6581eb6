import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { bytesFromHex, hexFromBytes } from '../../src/core/ids.ts';
import { decodeManifestObject, encodeManifest } from '../../src/format/manifest-codec.ts';
import { state } from './left-ranges-v3.ts';
import { nonce } from './storage-v1.ts';

const golden: readonly string[] = JSON.parse(
  await readFile(new URL('./left-ranges-v3.json', import.meta.url), 'utf8'),
);

describe('golden bytes of format 3', () => {
  it('a manifest that tells by ranges what has left a page decodes to the exact state, and that to the exact bytes', () => {
    assert.deepEqual(decodeManifestObject(bytesFromHex(golden.join(''))), {
      kind: 'ok',
      content: { kind: 'queue', state },
    });
    assert.deepEqual(hexFromBytes(encodeManifest(state, nonce)).match(/.{1,96}/g), golden);
  });
});
