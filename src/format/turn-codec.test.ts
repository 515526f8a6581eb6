import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { incarnation, segmentMessages, state } from '../../test/golden/storage-v1.ts';
import { sealEnvelope } from './envelope.ts';
import { encodeManifest } from './manifest-codec.ts';
import { encodeSegment } from './segment-codec.ts';
import { decodeTurn, encodeTurn } from './turn-codec.ts';

describe('a request for a turn', () => {
  it('is read as it was written', () => {
    const entry = { ...state.writers[0]!, roundMillis: 181 };
    assert.deepEqual(decodeTurn(encodeTurn(entry)), entry);
  });

  it('is none when anything else lies there', () => {
    const others: Readonly<Record<string, Uint8Array>> = {
      nothing: new Uint8Array(),
      noise: Uint8Array.of(1, 2, 3),
      'a manifest': encodeManifest(state, new Uint8Array(16)),
      'a segment': encodeSegment(incarnation, segmentMessages),
      'no protobuf': sealEnvelope('turn', Uint8Array.of(0xff)),
      'a writer without an id': sealEnvelope('turn', Uint8Array.of()),
    };
    for (const [name, bytes] of Object.entries(others)) assert.equal(decodeTurn(bytes), undefined, name);
  });
});
