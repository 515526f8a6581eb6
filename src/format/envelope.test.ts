import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fromBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { crc32c } from './checksum.ts';
import { envelopeBytes, FORMAT_VERSION, openEnvelope, sealEnvelope } from './envelope.ts';
import { EnvelopeSchema } from './gen/okuri/storage/v1/storage_pb.ts';

const kind = fc.constantFrom('manifest' as const, 'tombstone' as const, 'segment' as const);
const payload = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.integer({ min: 120, max: 20_000 }).map((n) => new Uint8Array(n).fill(n)),
);

describe('envelope', () => {
  it('gives kind and payload back, and is the message of storage.proto', () => {
    fc.assert(
      fc.property(kind, payload, (objectKind, bytes) => {
        const sealed = sealEnvelope(objectKind, bytes);
        assert.deepEqual(openEnvelope(sealed), { kind: 'ok', objectKind, payload: bytes });
        assert.equal(sealed.length, bytes.length + envelopeBytes(bytes.length));
        const message = fromBinary(EnvelopeSchema, sealed);
        assert.equal(message.formatVersion, 1);
        assert.deepEqual(message.payload, bytes);
        assert.equal(message.checksum, crc32c(Uint8Array.of(message.kind, 1), bytes));
      }),
    );
  });

  it('opens within a larger buffer', () => {
    const sealed = sealEnvelope('segment', Uint8Array.of(1, 2, 3));
    const larger = new Uint8Array([9, 9, 9, ...sealed, 9]);
    assert.deepEqual(openEnvelope(larger.subarray(3, 3 + sealed.length)).kind, 'ok');
  });

  it('reports any changed byte, truncation or addition as damage', () => {
    fc.assert(
      fc.property(
        kind,
        payload,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (objectKind, bytes, position, change) => {
          const sealed = sealEnvelope(objectKind, bytes);
          for (const at of [position % sealed.length, position % Math.min(12, sealed.length)]) {
            const changed = sealed.slice();
            changed[at]! ^= change;
            assert.equal(openEnvelope(changed).kind, 'damaged', `byte ${at}`);
            assert.equal(openEnvelope(sealed.subarray(0, at)).kind, 'damaged');
          }
          assert.equal(openEnvelope(new Uint8Array([...sealed, change])).kind, 'damaged');
          assert.equal(openEnvelope(new Uint8Array([...sealed, ...sealed])).kind, 'damaged');
        },
      ),
    );
  });

  it('tells a newer format from a damaged version byte', () => {
    const newer = sealEnvelope('manifest', Uint8Array.of(1), FORMAT_VERSION + 1);
    assert.deepEqual(openEnvelope(newer), { kind: 'newer', formatVersion: FORMAT_VERSION + 1 });
    const changed = sealEnvelope('manifest', Uint8Array.of(1));
    changed[1] = 2;
    assert.equal(openEnvelope(changed).kind, 'damaged');
    assert.equal(openEnvelope(sealEnvelope('manifest', Uint8Array.of(1), 0)).kind, 'damaged');
  });

  it('reports an unknown kind as damage', () => {
    const sealed = sealEnvelope('segment', Uint8Array.of(1, 2));
    const checksum = crc32c(Uint8Array.of(10, 1), Uint8Array.of(1, 2));
    sealed[3] = 10;
    new DataView(sealed.buffer, sealed.byteOffset).setUint32(5, checksum, true);
    assert.equal(openEnvelope(sealed).kind, 'damaged');
  });
});
