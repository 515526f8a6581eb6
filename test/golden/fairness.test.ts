import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { bytesFromHex, hexFromBytes } from '../../src/core/ids.ts';
import { decodeManifestObject, encodeManifest } from '../../src/format/manifest-codec.ts';
import { state } from './fairness.ts';
import { nonce } from './storage-v1.ts';

const golden: readonly string[] = JSON.parse(
  await readFile(new URL('./fairness.json', import.meta.url), 'utf8'),
);

describe('golden bytes of fairness', () => {
  it('a manifest that says who comes first decodes to the exact state, and that to the exact bytes', () => {
    assert.deepEqual(decodeManifestObject(bytesFromHex(golden.join(''))), {
      kind: 'ok',
      content: { kind: 'queue', state },
    });
    assert.deepEqual(hexFromBytes(encodeManifest(state, nonce)).match(/.{1,96}/g), golden);
  });
});
