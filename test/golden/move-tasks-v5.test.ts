import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { bytesFromHex, hexFromBytes } from '../../src/core/ids.ts';
import { decodeManifestObject, encodeManifest } from '../../src/format/manifest-codec.ts';
import { afterwards, state } from './move-tasks-v5.ts';
import { nonce } from './storage-v1.ts';

type Golden = Readonly<Record<'underWay' | 'afterwards', readonly string[]>>;

const golden: Golden = JSON.parse(await readFile(new URL('./move-tasks-v5.json', import.meta.url), 'utf8'));

/** Rows of 48 bytes, as in the file. */
function rows(bytes: Uint8Array): readonly string[] {
  return hexFromBytes(bytes).match(/.{1,96}/g) ?? [];
}

describe('golden bytes of move tasks', () => {
  for (const [name, of, version] of [
    ['underWay', state, '0805'],
    ['afterwards', afterwards, '0801'],
  ] as const)
    it(`a manifest ${name === 'underWay' ? 'with one under way, format 5,' : 'with none, format 1,'} decodes to the exact state, and the state encodes to the exact bytes`, () => {
      assert.deepEqual(decodeManifestObject(bytesFromHex(golden[name].join(''))), {
        kind: 'ok',
        content: { kind: 'queue', state: of },
      });
      assert.deepEqual(rows(encodeManifest(of, nonce)), golden[name]);
      assert.equal(golden[name][0]!.slice(0, 4), version);
    });
});
