import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fromBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { incarnationArbitrary, messageArbitrary } from '../../test/arbitraries/queue-state.ts';
import type { Incarnation } from '../core/ids.ts';
import type { StoredMessage } from '../core/message.ts';
import { FORMAT_VERSION, openEnvelope, sealEnvelope } from './envelope.ts';
import { SegmentSchema } from './gen/okuri/storage/v1/storage_pb.ts';
import { type DecodedSegment, decodeSegment, encodeBodies, encodeSegment } from './segment-codec.ts';
import { WireWriter } from './wire-writer.ts';

const messages = fc.array(messageArbitrary, { minLength: 1, maxLength: 12 });
const owner = '00112233445566778899aabbccddeeff' as Incarnation;

function opened(bytes: Uint8Array, incarnation: Incarnation): DecodedSegment {
  const outcome = decodeSegment(bytes, incarnation);
  assert.ok(outcome.kind === 'ok', JSON.stringify(outcome));
  return outcome.segment;
}

describe('segment codec', () => {
  it('gives every message back by its ordinal, in any order, again and again', () => {
    fc.assert(
      fc.property(incarnationArbitrary, messages, fc.array(fc.nat(11)), (incarnation, stored, ordinals) => {
        const bytes = encodeSegment(incarnation, stored);
        const segment = opened(bytes, incarnation);
        assert.equal(segment.count, stored.length);
        assert.equal(segment.bytes, bytes.length);
        for (const ordinal of [...ordinals, ...stored.keys()])
          assert.deepEqual(segment.message(ordinal), stored[ordinal]);
        assert.equal(segment.message(-1), undefined);
        assert.equal(segment.message(0.5), undefined);
      }),
    );
  });

  it('writes what the generated code reads', () => {
    fc.assert(
      fc.property(messages, (stored) => {
        const envelope = openEnvelope(encodeSegment(owner, stored));
        assert.ok(envelope.kind === 'ok');
        const segment = fromBinary(SegmentSchema, envelope.payload);
        assert.deepEqual(
          segment.messages.map((message) => Number(message.sentAtMillis)),
          stored.map((message) => message.sentAtMillis),
        );
      }),
    );
  });

  it('takes a message of a megabyte', () => {
    const [example] = fc.sample(messageArbitrary, 1);
    const large: StoredMessage = { ...example!, body: '€'.repeat(349_525) };
    assert.deepEqual(opened(encodeSegment(owner, [example!, large]), owner).message(1), large);
  });

  it('keeps ordinals free, and copies bodies as they were written', () => {
    fc.assert(
      fc.property(messages, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), (stored, kept) => {
        const source = opened(encodeSegment(owner, stored), owner);
        const copy = opened(
          encodeBodies(
            owner,
            stored.map((_, ordinal) => (kept[ordinal] ? source.encoded(ordinal) : undefined)),
          ),
          owner,
        );
        assert.equal(copy.count, stored.length);
        for (const ordinal of stored.keys()) {
          assert.deepEqual(copy.message(ordinal), kept[ordinal] ? stored[ordinal] : undefined);
          assert.equal(copy.encoded(ordinal) !== undefined, kept[ordinal]);
        }
        assert.equal(copy.encoded(stored.length), undefined);
      }),
    );
  });

  it('refuses a segment of another incarnation', () => {
    const bytes = encodeSegment(owner, []);
    assert.equal(decodeSegment(bytes, owner.replace('0', '1') as Incarnation).kind, 'damaged');
    assert.equal(decodeSegment(sealEnvelope('segment', new Uint8Array(0)), owner).kind, 'damaged');
  });

  it('reports any changed byte and any truncation as damage', () => {
    fc.assert(
      fc.property(messages, fc.nat(), fc.integer({ min: 1, max: 255 }), (stored, position, change) => {
        const bytes = encodeSegment(owner, stored);
        const at = position % bytes.length;
        const changed = bytes.slice();
        changed[at]! ^= change;
        assert.equal(decodeSegment(changed, owner).kind, 'damaged');
        assert.equal(decodeSegment(bytes.subarray(0, at), owner).kind, 'damaged');
      }),
    );
  });

  it('tells a newer format and another kind of object', () => {
    assert.deepEqual(decodeSegment(sealEnvelope('segment', Uint8Array.of(1), FORMAT_VERSION + 1), owner), {
      kind: 'newer',
      formatVersion: FORMAT_VERSION + 1,
    });
    assert.equal(decodeSegment(sealEnvelope('manifest', Uint8Array.of(1)), owner).kind, 'damaged');
  });

  it('a message that does not decode is unreadable alone', () => {
    const [example] = fc.sample(messageArbitrary, 1);
    const good = openEnvelope(encodeSegment(owner, [example!]));
    assert.ok(good.kind === 'ok');
    const writer = new WireWriter();
    writer.raw(good.payload);
    writer.bytes(2, Uint8Array.of(0x12, 1, 0x41));
    const segment = opened(sealEnvelope('segment', writer.finish()), owner);
    assert.deepEqual(segment.message(0), example);
    assert.equal(segment.message(1), undefined);
  });
});
