import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { bytesFromHex, hexFromBytes } from '../../src/core/ids.ts';
import { decodeManifestObject, encodeManifest } from '../../src/format/manifest-codec.ts';
import { decodePage, encodePage } from '../../src/format/page-codec.ts';
import { pages, state } from './cold-pages.ts';
import { incarnation, nonce } from './storage-v1.ts';

type Golden = Readonly<Record<'manifest' | 'ready' | 'segments', readonly string[]>>;

const golden: Golden = JSON.parse(await readFile(new URL('./cold-pages.json', import.meta.url), 'utf8'));

/** Rows of 48 bytes, as in the file. */
function rows(bytes: Uint8Array): readonly string[] {
  return hexFromBytes(bytes).match(/.{1,96}/g) ?? [];
}

describe('golden bytes of format 2', () => {
  it('a manifest that names pages decodes to the exact state, and the state encodes to the exact bytes', () => {
    assert.deepEqual(decodeManifestObject(bytesFromHex(golden.manifest.join(''))), {
      kind: 'ok',
      content: { kind: 'queue', state },
    });
    assert.deepEqual(rows(encodeManifest(state, nonce)), golden.manifest);
  });

  for (const page of pages)
    it(`a page of ${page.kind} does`, () => {
      const bytes = bytesFromHex(golden[page.kind].join(''));
      assert.deepEqual(decodePage(page.kind, bytes, incarnation), { kind: 'ok', content: page.content });
      assert.deepEqual(rows(encodePage(incarnation, page)), golden[page.kind]);
    });
});
