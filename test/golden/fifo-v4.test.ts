import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { bytesFromHex, hexFromBytes } from '../../src/core/ids.ts';
import { decodeManifestObject, encodeManifest } from '../../src/format/manifest-codec.ts';
import { decodePage, encodePage } from '../../src/format/page-codec.ts';
import { pages, state } from './fifo-v4.ts';
import { incarnation, nonce } from './storage-v1.ts';

type Golden = Readonly<Record<'manifest' | 'lease' | 'deduplication', readonly string[]>>;

const golden: Golden = JSON.parse(await readFile(new URL('./fifo-v4.json', import.meta.url), 'utf8'));

/** Rows of 48 bytes, as in the file. */
function rows(bytes: Uint8Array): readonly string[] {
  return hexFromBytes(bytes).match(/.{1,96}/g) ?? [];
}

describe('golden bytes of FIFO queues, format 4', () => {
  it('a manifest decodes to the exact state, and the state encodes to the exact bytes', () => {
    assert.deepEqual(decodeManifestObject(bytesFromHex(golden.manifest.join(''))), {
      kind: 'ok',
      content: { kind: 'queue', state },
    });
    assert.deepEqual(rows(encodeManifest(state, nonce)), golden.manifest);
    assert.equal(golden.manifest[0]!.slice(0, 4), '0804');
  });

  for (const page of pages)
    it(`a page of ${page.kind} does`, () => {
      const bytes = bytesFromHex(golden[page.kind].join(''));
      assert.deepEqual(decodePage(page.kind, bytes, incarnation), { kind: 'ok', content: page.content });
      assert.deepEqual(rows(encodePage(incarnation, page)), golden[page.kind]);
      assert.equal(golden[page.kind][0]!.slice(0, 4), '0804');
    });
});
