import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { incarnationArbitrary, millisArbitrary } from '../../test/arbitraries/queue-state.ts';
import { pages, state } from '../../test/golden/fifo-v4.ts';
import { incarnation, nonce } from '../../test/golden/storage-v1.ts';
import { deduplicationPageOf, entriesOf, findKey, searchedPageOf } from '../core/deduplication-page.ts';
import { bytesFromHex, type DeduplicationKey, hexFromBytes, messageIdFrom } from '../core/ids.ts';
import { openEnvelope, PAGES_FORMAT_VERSION, sealEnvelope } from './envelope.ts';
import { DeduplicationPageSchema, ManifestSchema } from './gen/okuri/storage/v1/storage_pb.ts';
import { decodeManifestObject, encodeManifest } from './manifest-codec.ts';
import { decodePage, encodePage } from './page-codec.ts';

const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
const entriesArbitrary = fc.uniqueArray(
  fc.tuple(
    bytes.map((key) => hexFromBytes(key) as DeduplicationKey),
    fc.record(
      {
        sequence: fc.maxSafeNat(),
        messageId: bytes.map(messageIdFrom),
        acceptedAtMillis: millisArbitrary,
      },
      { noNullPrototype: true },
    ),
  ),
  { selector: ([key]) => key, minLength: 1, maxLength: 40 },
);

function payloadOf(sealed: Uint8Array): Uint8Array {
  const opened = openEnvelope(sealed);
  assert.ok(opened.kind === 'ok');
  return opened.payload;
}

describe('a page of deduplication ids', () => {
  it('is as an object what it was, and finds what it holds and nothing else', () => {
    fc.assert(
      fc.property(entriesArbitrary, incarnationArbitrary, bytes, (entries, owner, other) => {
        const content = deduplicationPageOf(entries);
        const decoded = decodePage(
          'deduplication',
          encodePage(owner, { kind: 'deduplication', content }),
          owner,
        );
        assert.deepEqual(decoded, { kind: 'ok', content });
        assert.deepEqual(new Map(entriesOf(content)), new Map(entries));
        for (const [key, entry] of entries)
          assert.deepEqual(findKey(searchedPageOf(content), bytesFromHex(key)), entry);
        const key = hexFromBytes(other) as DeduplicationKey;
        assert.deepEqual(findKey(searchedPageOf(content), other), new Map(entries).get(key));
      }),
    );
  });

  it('is what the generated code reads, and damaged when keys are out of order or a byte is not as it was', () => {
    const page = pages.find(({ kind }) => kind === 'deduplication')!;
    const sealed = encodePage(incarnation, page);
    const message = fromBinary(DeduplicationPageSchema, payloadOf(sealed));
    assert.deepEqual(
      message.entries.map(({ key, sequence }) => [hexFromBytes(key), Number(sequence)]),
      [
        ['a'.repeat(32), 3],
        ['b'.repeat(32), 4],
      ],
    );
    const read = (entries: typeof message.entries) => {
      const changed = create(DeduplicationPageSchema, { incarnation: message.incarnation, entries });
      const payload = toBinary(DeduplicationPageSchema, changed);
      return decodePage('deduplication', sealEnvelope('deduplication-page', payload), incarnation).kind;
    };
    const [a, b] = message.entries;
    assert.equal(read([a!, b!]), 'ok');
    assert.equal(read([b!, a!]), 'damaged');
    assert.equal(read([a!, a!]), 'damaged');
    assert.equal(read([{ ...a!, key: new Uint8Array() }]), 'damaged');
    assert.equal(read([{ ...a!, messageId: new Uint8Array(15) }]), 'damaged');
    for (let at = 0; at < sealed.length; at++)
      assert.notEqual(
        decodePage('deduplication', sealed.with(at, sealed[at]! ^ 1), incarnation).kind,
        'ok',
        `byte ${at}`,
      );
  });
});

describe('deduplication ids of a manifest', () => {
  const manifest = fromBinary(ManifestSchema, payloadOf(encodeManifest(state, nonce)));
  const read = (changes: Partial<typeof manifest>) =>
    decodeManifestObject(sealEnvelope('manifest', toBinary(ManifestSchema, { ...manifest, ...changes })))
      .kind;

  it('are damaged when they are out of order, come twice, or were never given', () => {
    const [first, second] = manifest.deduplication;
    assert.equal(read({}), 'ok');
    assert.equal(read({ deduplication: [second!, first!] }), 'damaged');
    assert.equal(read({ deduplication: [first!, { ...first!, sequence: 4n }] }), 'damaged');
    assert.equal(read({ deduplication: [first!, { ...second!, sequence: 6n }] }), 'damaged');
    const [page] = manifest.deduplicationPages;
    assert.equal(read({ deduplicationPages: [page!, page!] }), 'damaged');
    assert.equal(read({ deduplicationPages: [{ ...page!, count: 0n }] }), 'damaged');
  });

  it('make a manifest one of format 4, which what went before refuses; standard queues have none', () => {
    assert.equal(encodeManifest(state, nonce)[1], 4);
    const standard = {
      ...state,
      attributes: new Map(),
      deduplication: new Map(),
      deduplicationPages: new Map(),
    };
    assert.equal(encodeManifest(standard, nonce)[1], 1);
    const group = manifest.deliveries[0]!.group;
    assert.deepEqual(hexFromBytes(group), state.deliveries.get(4)!.group);
    assert.equal(
      read({ deliveries: [{ ...manifest.deliveries[0]!, group: bytesFromHex('00') }] }),
      'damaged',
    );
  });

  it('lease pages of standard queues stay of format 2', () => {
    const [lease] = pages;
    assert.ok(lease?.kind === 'lease');
    const deliveries = lease.content.deliveries.map(({ group: _, ...delivery }) => delivery);
    const content = { ...lease.content, deliveries };
    assert.equal(encodePage(incarnation, { kind: 'lease', content })[1], PAGES_FORMAT_VERSION);
    assert.equal(encodePage(incarnation, lease)[1], 4);
  });
});
