import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fromBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import {
  incarnationArbitrary,
  millisArbitrary,
  queueStateArbitrary,
  tokenArbitrary,
} from '../../test/arbitraries/queue-state.ts';
import { bytesFromHex, hexFromBytes, type Incarnation } from '../core/ids.ts';
import { bitmapBytes, countLeft, leasePageOf, summaryOf } from '../core/lease-page.ts';
import { type LeasePageReference, newQueueState, pageIdOf, type QueueState } from '../core/queue-state.ts';
import { FORMAT_VERSION, openEnvelope, sealEnvelope } from './envelope.ts';
import { LeasePageSchema, ManifestSchema } from './gen/okuri/storage/v1/storage_pb.ts';
import { decodeManifestObject, encodeManifest } from './manifest-codec.ts';
import { decodePage, encodePage } from './page-codec.ts';
import { unknownFieldsOf, withUnknownFields } from './unknown-fields.ts';

const nonce = new Uint8Array(16).fill(7);
const incarnation = 'a'.repeat(32) as Incarnation;
const count = fc.oneof(fc.nat(200), fc.maxSafeNat());

const pageArbitrary = fc
  .uniqueArray(
    fc.record(
      {
        sequence: fc.oneof(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 2 ** 50 })),
        visibleAtMillis: millisArbitrary,
        receiveCount: fc.nat(1000),
        firstReceivedAtMillis: millisArbitrary,
        leasedAtMillis: millisArbitrary,
        token: tokenArbitrary,
        leaseVersion: count,
      },
      { noNullPrototype: true },
    ),
    { selector: ({ sequence }) => sequence, minLength: 1, maxLength: 60 },
  )
  .map((entries) => leasePageOf(entries.map(({ sequence, ...delivery }) => [sequence, delivery] as const)));

const referenceArbitrary: fc.Arbitrary<LeasePageReference> = fc
  .record({
    page: pageArbitrary,
    baseVersion: count,
    nonce: fc.uint8Array({ minLength: 8, maxLength: 8 }),
    bits: fc.oneof(
      fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }),
      fc.tuple(fc.nat(60), fc.nat(60)).map(([a, b]) => Array.from({ length: 60 }, (_, n) => n < a !== n < b)),
    ),
  })
  .map(({ page, baseVersion, nonce: bytes, bits }) => {
    const summary = summaryOf(page);
    const left = new Uint8Array(bitmapBytes(summary.count));
    // The last one never left.
    for (let ordinal = 0; ordinal < summary.count - 1; ordinal++)
      if (bits[ordinal]) left[ordinal >>> 3]! |= 1 << (ordinal & 7);
    const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    const gone = countLeft(left);
    return {
      ...summary,
      baseVersion,
      nonce: hex,
      left: gone === 0 ? new Uint8Array(0) : left,
      remaining: summary.count - gone,
    };
  });

/** From start, length, gap, length, … */
function bitsOf(leftRanges: readonly number[], entries: number): Uint8Array {
  const bits = new Uint8Array(bitmapBytes(entries));
  let ordinal = 0;
  for (const [at, step] of leftRanges.entries())
    for (const end = ordinal + step; ordinal < end; ordinal++)
      if (at % 2 === 1) bits[ordinal >>> 3]! |= 1 << (ordinal & 7);
  return bits;
}

function stateWith(state: QueueState, references: readonly LeasePageReference[]): QueueState {
  const leasePages = new Map(references.map((reference) => [pageIdOf(reference), reference]));
  const lasts = references.map(({ lastSequence }) => lastSequence + 1);
  return { ...state, leasePages, nextSequence: Math.max(state.nextSequence, ...lasts) };
}

describe('a page of deliveries as an object', () => {
  it('is what it was', () => {
    fc.assert(
      fc.property(pageArbitrary, incarnationArbitrary, (content, owner) => {
        const decoded = decodePage('lease', encodePage(owner, { kind: 'lease', content }), owner);
        assert.deepEqual(decoded, { kind: 'ok', content });
      }),
    );
  });

  it('is what the generated code reads', () => {
    fc.assert(
      fc.property(pageArbitrary, (content) => {
        const opened = openEnvelope(encodePage(incarnation, { kind: 'lease', content }));
        assert.ok(opened.kind === 'ok');
        const { entries } = fromBinary(LeasePageSchema, opened.payload);
        assert.deepEqual(
          entries.map(({ sequence, receiveCount }) => [Number(sequence), receiveCount]),
          content.sequences.map((sequence, at) => [sequence, content.deliveries[at]!.receiveCount]),
        );
      }),
      { numRuns: 20 },
    );
  });

  it('shows every flipped byte, and every missing one', () => {
    fc.assert(
      fc.property(pageArbitrary, fc.integer({ min: 1, max: 255 }), (content, flip) => {
        const bytes = encodePage(incarnation, { kind: 'lease', content });
        for (let at = 0; at < bytes.length; at++) {
          const flipped = bytes.slice();
          flipped[at]! ^= flip;
          assert.notEqual(decodePage('lease', flipped, incarnation).kind, 'ok', `byte ${at}`);
          assert.equal(decodePage('lease', bytes.slice(0, at), incarnation).kind, 'damaged');
        }
      }),
      { numRuns: 10 },
    );
  });

  it('is damaged when it is of another queue or another kind', () => {
    const content = fc.sample(pageArbitrary, 1)[0]!;
    const bytes = encodePage(incarnation, { kind: 'lease', content });
    assert.equal(decodePage('lease', bytes, 'b'.repeat(32) as Incarnation).kind, 'damaged');
    assert.equal(decodePage('delayed', bytes, incarnation).kind, 'damaged');
    const delayed = encodePage(incarnation, { kind: 'delayed', content: new Map([[1, 2]]) });
    assert.equal(decodePage('lease', delayed, incarnation).kind, 'damaged');
  });

  it('is damaged when its entries are out of order', () => {
    const { deliveries } = fc.sample(pageArbitrary, 1)[0]!;
    const twice = [deliveries[0]!, deliveries[0]!];
    for (const sequences of [
      [2, 1],
      [1, 1],
    ]) {
      const bytes = encodePage(incarnation, { kind: 'lease', content: { sequences, deliveries: twice } });
      assert.equal(decodePage('lease', bytes, incarnation).kind, 'damaged');
    }
  });

  it('keeps what a newer program wrote beside a delivery', () => {
    const [content] = fc.sample(pageArbitrary, 1);
    const newer = [{ no: 99, wireType: 0, data: Uint8Array.of(5) }];
    const deliveries = content!.deliveries.map((delivery) => withUnknownFields(delivery, newer));
    const bytes = encodePage(incarnation, { kind: 'lease', content: { ...content!, deliveries } });
    const decoded = decodePage('lease', bytes, incarnation);
    assert.ok(decoded.kind === 'ok');
    for (const delivery of decoded.content.deliveries) assert.deepEqual(unknownFieldsOf(delivery), newer);
  });
});

describe('a reference to a page of deliveries', () => {
  it('is what it was, with what left', () => {
    fc.assert(
      fc.property(
        queueStateArbitrary,
        fc.array(referenceArbitrary, { maxLength: 4 }),
        (drawn, references) => {
          const state = stateWith(drawn, references);
          const opened = openEnvelope(encodeManifest(state, nonce));
          assert.ok(opened.kind === 'ok');
          assert.deepEqual(
            fromBinary(ManifestSchema, opened.payload).leasePages.map(({ count: all, left, leftRanges }) => [
              Number(all),
              leftRanges.length > 0 ? bitsOf(leftRanges.map(Number), Number(all)) : left,
            ]),
            [...state.leasePages.values()].map(({ count: all, left }) => [all, left]),
          );
          assert.deepEqual(decodeManifestObject(encodeManifest(state, nonce)), {
            kind: 'ok',
            content: { kind: 'queue', state },
          });
        },
      ),
    );
  });

  it('is damaged when its ranges are there twice, or in another form', () => {
    const one = { firstSequence: 1, lastSequence: 40, firstVisibleAtMillis: 1, lastVisibleAtMillis: 2 };
    const left = Uint8Array.of(0b1111000, 0, 0, 0, 0);
    const rest = { baseVersion: 3, nonce: '0123456789abcdef', count: 40, remaining: 36, left };
    const empty = newQueueState({ incarnation, attributes: new Map(), timeMillis: 5, stampMillis: 6 });
    const state = stateWith(empty, [{ ...one, ...rest }]);
    const opened = openEnvelope(encodeManifest(state, nonce));
    assert.ok(opened.kind === 'ok');
    const hex = hexFromBytes(opened.payload);
    const [, before, length, fields] = /^(.*c201)(..)(0803.*?4a020304)/.exec(hex)!;
    const withFields = (more: string) => {
      const size = (Number.parseInt(length!, 16) + more.length / 2 - 4).toString(16).padStart(2, '0');
      const changed =
        before! + size + fields!.slice(0, -8) + more + hex.slice(before!.length + 2 + fields!.length);
      return decodeManifestObject(sealEnvelope('manifest', bytesFromHex(changed), FORMAT_VERSION)).kind;
    };
    assert.equal(withFields('4a020304'), 'ok');
    assert.equal(withFields('4a0203044a021401'), 'damaged');
    assert.equal(withFields('48034804'), 'damaged');
    assert.equal(withFields('4a020304420101'), 'damaged');
  });

  it('is damaged when it contradicts itself', () => {
    const [drawn] = fc.sample(queueStateArbitrary, 1);
    const good: LeasePageReference = {
      baseVersion: 3,
      nonce: '0123456789abcdef',
      count: 9,
      remaining: 8,
      firstSequence: 5,
      lastSequence: 20,
      firstVisibleAtMillis: 100,
      lastVisibleAtMillis: 200,
      left: Uint8Array.of(1, 0),
    };
    const decoded = (reference: LeasePageReference) =>
      decodeManifestObject(encodeManifest(stateWith(drawn!, [reference]), nonce)).kind;
    assert.equal(decoded(good), 'ok');
    const bad: Readonly<Record<string, Partial<LeasePageReference>>> = {
      'no entry': { count: 0, left: new Uint8Array(0) },
      'more entries than sequence numbers': { lastSequence: 12 },
      'no sequence': { firstSequence: 0 },
      'too few bits': { left: Uint8Array.of(1) },
      'too many bits': { left: Uint8Array.of(0b101, 0b10, 0b1010) },
      'a bit for no entry': { left: Uint8Array.of(1, 2) },
      'nothing there any more': { left: Uint8Array.of(255, 1) },
      'visible last before first': { firstVisibleAtMillis: 201 },
    };
    for (const [what, change] of Object.entries(bad))
      assert.equal(decoded({ ...good, ...change }), 'damaged', what);
  });
});
