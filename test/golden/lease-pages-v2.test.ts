import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { bytesFromHex, hexFromBytes } from '../../src/core/ids.ts';
import { decodeManifestObject, encodeManifest } from '../../src/format/manifest-codec.ts';
import { decodePage, encodePage } from '../../src/format/page-codec.ts';
import { page, state } from './lease-pages-v2.ts';
import { incarnation, nonce } from './storage-v1.ts';

const golden: Readonly<Record<'manifest' | 'page', readonly string[]>> = JSON.parse(
  await readFile(new URL('./lease-pages-v2.json', import.meta.url), 'utf8'),
);
const bytesOf = (name: keyof typeof golden) => bytesFromHex(golden[name].join(''));
/** Rows of 48 bytes, as in the file. */
const rows = (bytes: Uint8Array) => hexFromBytes(bytes).match(/.{1,96}/g) ?? [];

describe('golden bytes of lease pages, format 2', () => {
  it('a page decodes to the exact deliveries, and those encode to the exact bytes', () => {
    assert.deepEqual(decodePage('lease', bytesOf('page'), incarnation), { kind: 'ok', content: page });
    assert.deepEqual(rows(encodePage(incarnation, { kind: 'lease', content: page })), golden.page);
  });

  it('a manifest that names such pages does', () => {
    assert.deepEqual(decodeManifestObject(bytesOf('manifest')), {
      kind: 'ok',
      content: { kind: 'queue', state },
    });
    assert.deepEqual(rows(encodeManifest(state, nonce)), golden.manifest);
  });
});
