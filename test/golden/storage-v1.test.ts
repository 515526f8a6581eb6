import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { bytesFromHex, hexFromBytes } from '../../src/core/ids.ts';
import { brokenState } from '../../src/core/invariants.ts';
import { decodeManifestObject, encodeManifest, encodeTombstone } from '../../src/format/manifest-codec.ts';
import { decodeSegment, encodeSegment } from '../../src/format/segment-codec.ts';
import { decodeTurn, encodeTurn } from '../../src/format/turn-codec.ts';
import { incarnation, nonce, segmentMessages, state, tombstone } from './storage-v1.ts';

type Golden = Readonly<Record<'manifest' | 'tombstone' | 'segment' | 'turn', readonly string[]>>;

const golden: Golden = JSON.parse(await readFile(new URL('./storage-v1.json', import.meta.url), 'utf8'));

function goldenBytes(name: keyof Golden): Uint8Array {
  return bytesFromHex(golden[name].join(''));
}

/** Rows of 48 bytes, as in the file. */
function rows(bytes: Uint8Array): readonly string[] {
  return hexFromBytes(bytes).match(/.{1,96}/g) ?? [];
}

describe('golden bytes of format 1', () => {
  it('a manifest decodes to the exact state, and the state encodes to the exact bytes', () => {
    assert.equal(brokenState(state), undefined);
    assert.deepEqual(decodeManifestObject(goldenBytes('manifest')), {
      kind: 'ok',
      content: { kind: 'queue', state },
    });
    assert.deepEqual(rows(encodeManifest(state, nonce)), golden.manifest);
  });

  it('a tombstone does', () => {
    assert.deepEqual(decodeManifestObject(goldenBytes('tombstone')), {
      kind: 'ok',
      content: { kind: 'tombstone', tombstone },
    });
    assert.deepEqual(rows(encodeTombstone(tombstone, nonce)), golden.tombstone);
  });

  it('a turn does', () => {
    const [writer] = state.writers;
    assert.deepEqual(decodeTurn(goldenBytes('turn')), writer);
    assert.deepEqual(rows(encodeTurn(writer!)), golden.turn);
  });

  it('a segment does', () => {
    const decoded = decodeSegment(goldenBytes('segment'), incarnation);
    assert.ok(decoded.kind === 'ok');
    assert.deepEqual(
      segmentMessages.map((_, ordinal) => decoded.segment.message(ordinal)),
      segmentMessages,
    );
    assert.deepEqual(rows(encodeSegment(incarnation, segmentMessages)), golden.segment);
  });
});
