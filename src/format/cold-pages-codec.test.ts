/** Pages of ready messages and of segments, and their references in a manifest. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { queueStateArbitrary } from '../../test/arbitraries/queue-state.ts';
import { state as golden, pages } from '../../test/golden/cold-pages.ts';
import { incarnation, nonce } from '../../test/golden/storage-v1.ts';
import { bytesFromHex, hexFromBytes } from '../core/ids.ts';
import { pageIdOf } from '../core/queue-state.ts';
import { openEnvelope, PAGES_FORMAT_VERSION, sealEnvelope } from './envelope.ts';
import { ManifestSchema, ReadyPageSchema, SegmentsPageSchema } from './gen/okuri/storage/v1/storage_pb.ts';
import { decodeManifestObject, encodeManifest } from './manifest-codec.ts';
import { decodePage, encodePage } from './page-codec.ts';

const number = fc.oneof(fc.nat(200), fc.maxSafeNat());
const named = { baseVersion: number, nonce: fc.stringMatching(/^[0-9a-f]{16}$/) };
const hull = fc
  .uniqueArray(fc.nat(1_000), { minLength: 2, maxLength: 2 })
  .map((ends) => ends.sort((a, b) => a - b));
const readyPage = fc
  .record({ ...named, count: fc.integer({ min: 1 }), hull })
  .map(({ hull: [firstSequence, lastSequence], ...rest }) => ({
    ...rest,
    firstSequence: firstSequence!,
    lastSequence: lastSequence!,
  }));
const segmentsPage = fc
  .record({
    ...named,
    count: fc.integer({ min: 1 }),
    liveCount: number,
    hull,
    sentAtMinMillis: number,
    sentAtMaxMillis: number,
    bytes: number,
  })
  .map(({ hull: [firstSequence, lastSequence], ...rest }) => ({
    ...rest,
    firstSequence: firstSequence!,
    lastSequence: lastSequence!,
  }));
const byId = <T extends { baseVersion: number; nonce: string }>(references: readonly T[]) =>
  new Map(references.map((reference) => [pageIdOf(reference), reference]));

function payloadOf(bytes: Uint8Array): Uint8Array {
  const opened = openEnvelope(bytes);
  assert.ok(opened.kind === 'ok');
  return opened.payload;
}

describe('references to cold pages', () => {
  it('come back from the manifest as they were', () => {
    fc.assert(
      fc.property(
        queueStateArbitrary,
        fc.array(readyPage),
        fc.array(segmentsPage),
        (state, ready, segments) => {
          const paged = {
            ...state,
            nextSequence: state.nextSequence + 2_000,
            readyPages: byId(ready),
            segmentsPages: byId(segments),
          };
          const decoded = decodeManifestObject(encodeManifest(paged, nonce));
          assert.deepEqual(decoded, { kind: 'ok', content: { kind: 'queue', state: paged } });
        },
      ),
    );
  });

  it('are damage when they say nothing, or what cannot be', () => {
    const manifest = fromBinary(ManifestSchema, payloadOf(encodeManifest(golden, nonce)));
    const read = (changes: Partial<typeof manifest>) => {
      const changed = toBinary(ManifestSchema, { ...manifest, ...changes });
      return decodeManifestObject(sealEnvelope('manifest', changed, PAGES_FORMAT_VERSION)).kind;
    };
    assert.equal(read({}), 'ok');
    const [ready] = manifest.readyPages;
    const [segments] = manifest.segmentsPages;
    for (const changes of [
      { nonce: new Uint8Array() },
      { nonce: new Uint8Array(7) },
      { count: 0n },
      { firstSequence: 2_000_000n },
      { lastSequence: 1_000_003n },
    ]) {
      assert.equal(
        read({ readyPages: [{ ...ready!, ...changes }] }),
        'damaged',
        JSON.stringify(Object.keys(changes)),
      );
      assert.equal(read({ segmentsPages: [{ ...segments!, ...changes }] }), 'damaged');
    }
    assert.equal(read({ readyPages: [ready!, ready!] }), 'damaged');
    assert.equal(read({ segmentsPages: [segments!, segments!] }), 'damaged');
  });

  it('keep fields they do not know', () => {
    const payload = payloadOf(encodeManifest(golden, nonce));
    const newer = create(ManifestSchema, fromBinary(ManifestSchema, payload));
    for (const reference of [newer.readyPages[0]!, newer.segmentsPages[0]!])
      reference.$unknown = [{ no: 77, wireType: 0, data: Uint8Array.of(5) }];
    const bytes = sealEnvelope('manifest', toBinary(ManifestSchema, newer), PAGES_FORMAT_VERSION);
    const decoded = decodeManifestObject(bytes);
    assert.ok(decoded.kind === 'ok' && decoded.content.kind === 'queue');
    const again = fromBinary(ManifestSchema, payloadOf(encodeManifest(decoded.content.state, nonce)));
    for (const reference of [again.readyPages[0]!, again.segmentsPages[0]!])
      assert.deepEqual(
        reference.$unknown?.map(({ no }) => no),
        [77],
      );
  });
});

describe('cold pages', () => {
  for (const page of pages) {
    const bytes = encodePage(incarnation, page);

    it(`of ${page.kind} notice every changed byte, and every cut`, () => {
      for (let at = 0; at < bytes.length; at++) {
        for (const change of [1, 0x80, 0xff])
          assert.equal(
            decodePage(page.kind, bytes.with(at, bytes[at]! ^ change), incarnation).kind,
            'damaged',
            `byte ${at}`,
          );
        assert.equal(
          decodePage(page.kind, bytes.subarray(0, at), incarnation).kind,
          'damaged',
          `cut at ${at}`,
        );
      }
    });

    it(`of ${page.kind} are told from others`, () => {
      const other = page.kind === 'ready' ? 'segments' : 'ready';
      assert.equal(decodePage(other, bytes, incarnation).kind, 'damaged');
      assert.equal(decodePage(page.kind, bytes, 'a'.repeat(32) as typeof incarnation).kind, 'damaged');
    });
  }

  it('are what the generated code reads', () => {
    const [ready, segments] = pages.map((page) => payloadOf(encodePage(incarnation, page)));
    const readyPageMessage = fromBinary(ReadyPageSchema, ready!);
    assert.equal(hexFromBytes(readyPageMessage.incarnation), incarnation);
    assert.deepEqual(readyPageMessage.ready.map(Number), [100, 1, 899_899, 700]);
    const message = fromBinary(SegmentsPageSchema, segments!);
    assert.deepEqual(
      message.segments.map(({ liveCount, runs }) => [Number(liveCount), runs.length]),
      [
        [5, 2],
        [700, 1],
      ],
    );
  });

  it('are damaged when a range or a segment is not one', () => {
    const owner = bytesFromHex(incarnation);
    for (const ready of [[5n, 0n], [5n], [5n, 1n, 0n, 1n]]) {
      const payload = toBinary(ReadyPageSchema, create(ReadyPageSchema, { incarnation: owner, ready }));
      const sealed = sealEnvelope('ready-page', payload, PAGES_FORMAT_VERSION);
      assert.equal(decodePage('ready', sealed, incarnation).kind, 'damaged');
    }
    const segment = { baseVersion: 1n, nonce: new Uint8Array(8), liveCount: 1n };
    for (const segments of [[segment, segment], [{ ...segment, liveCount: 0n }]]) {
      const payload = toBinary(
        SegmentsPageSchema,
        create(SegmentsPageSchema, { incarnation: owner, segments }),
      );
      const sealed = sealEnvelope('segments-page', payload, PAGES_FORMAT_VERSION);
      assert.equal(decodePage('segments', sealed, incarnation).kind, 'damaged');
    }
  });
});
