/** What a manifest may hold and what is damage. Over 300 lines: each way to break one is a case over the same builder. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { queueStateArbitrary } from '../../test/arbitraries/queue-state.ts';
import { bytesFromHex, hexFromBytes, type Incarnation } from '../core/ids.ts';
import { brokenState } from '../core/invariants.ts';
import { newQueueState, type QueueState } from '../core/queue-state.ts';
import { FORMAT_VERSION, openEnvelope, sealEnvelope } from './envelope.ts';
import { type Manifest, ManifestSchema } from './gen/okuri/storage/v1/storage_pb.ts';
import { decodeManifestObject, encodeManifest, TOMBSTONE_BYTES } from './manifest-codec.ts';
import { WireWriter } from './wire-writer.ts';

const nonce = new Uint8Array(16).fill(7);
const incarnation = '00112233445566778899aabbccddeeff' as Incarnation;
const fresh = newQueueState({ incarnation, attributes: new Map(), timeMillis: 0, stampMillis: 0 });

function decoded(bytes: Uint8Array): QueueState {
  const outcome = decodeManifestObject(bytes);
  assert.ok(outcome.kind === 'ok' && outcome.content.kind === 'queue', JSON.stringify(outcome));
  return outcome.content.state;
}

function payloadOf(bytes: Uint8Array): Uint8Array {
  const opened = openEnvelope(bytes);
  assert.ok(opened.kind === 'ok');
  return opened.payload;
}

/** What the generated code reads from our bytes. */
function generated(state: QueueState): Manifest {
  return fromBinary(ManifestSchema, payloadOf(encodeManifest(state, nonce)));
}

/** A whole and well-sealed manifest as a program with a defect could write it. */
function sealedManifest(fields: MessageInitShape<typeof ManifestSchema>): Uint8Array {
  const message = create(ManifestSchema, {
    incarnation: bytesFromHex(incarnation),
    version: 9n,
    nextSequence: 100n,
    nonce,
    ...fields,
  });
  return sealEnvelope('manifest', toBinary(ManifestSchema, message));
}

describe('manifest codec', () => {
  it('gives every valid state back, and the same bytes for it again', () => {
    fc.assert(
      fc.property(queueStateArbitrary, (state) => {
        assert.equal(brokenState(state), undefined);
        const bytes = encodeManifest(state, nonce);
        const back = decoded(bytes);
        assert.deepEqual(back, state);
        assert.equal(brokenState(back), undefined);
        assert.deepEqual(encodeManifest(back, nonce), bytes);
      }),
    );
  });

  it('writes what the generated code reads, and reads what the generated code writes', () => {
    fc.assert(
      fc.property(queueStateArbitrary, (state) => {
        const manifest = generated(state);
        assert.equal(hexFromBytes(manifest.incarnation), state.incarnation);
        assert.deepEqual(
          manifest.deliveries.map((d) => [
            Number(d.sequence),
            {
              visibleAtMillis: Number(d.visibleAtMillis),
              receiveCount: d.receiveCount,
              firstReceivedAtMillis: Number(d.firstReceivedAtMillis),
              leasedAtMillis: Number(d.leasedAtMillis),
              token: hexFromBytes(d.token),
              leaseVersion: Number(d.leaseVersion),
              ...(d.receivedElsewhere > 0 && { receivedElsewhere: d.receivedElsewhere }),
              ...(d.turn > 0 && { turn: Number(d.turn) }),
              ...(d.attempt.length > 0 && {
                attempt: {
                  id: hexFromBytes(d.attempt),
                  messages: d.attemptMessages,
                  repeated: d.attemptRepeated,
                },
              }),
              ...(d.group.length > 0 && { group: hexFromBytes(d.group) }),
            },
          ]),
          [...state.deliveries],
        );
        assert.deepEqual(
          manifest.delayed.map((d) => [Number(d.sequence), Number(d.dueAtMillis)]),
          [...state.delayed],
        );
        assert.deepEqual(
          manifest.tail.map((entry) => [Number(entry.sequence), entry.message?.sentAtMillis]),
          [...state.tail].map(([sequence, { message }]) => [sequence, BigInt(message.sentAtMillis)]),
        );
        assert.deepEqual(
          manifest.deduplication.map((entry) => [hexFromBytes(entry.key), Number(entry.sequence)]),
          [...state.deduplication].map(([key, { sequence }]) => [key, sequence]),
        );
        const rewritten = sealEnvelope('manifest', toBinary(ManifestSchema, manifest));
        // The generated code loses a byte order mark at the beginning of a text.
        if (
          !JSON.stringify(
            [...state.attributes, ...state.tags, ...state.tail.values()].flat(),
            mapsToo,
          ).includes('\ufeff')
        )
          assert.deepEqual(decoded(rewritten), state);
      }),
    );
  });

  it('writes entries in order of sequence, whatever order a map was changed in', () => {
    const delivery = {
      visibleAtMillis: 5,
      receiveCount: 1,
      firstReceivedAtMillis: 5,
      leasedAtMillis: 5,
      token: '0123456789abcdef',
      leaseVersion: 1,
    } as never;
    const state = {
      ...fresh,
      nextSequence: 10,
      deliveries: new Map([
        [7, delivery],
        [3, delivery],
      ]),
      delayed: new Map([
        [8, 1],
        [2, 1],
      ]),
    };
    assert.deepEqual([...decoded(encodeManifest(state, nonce)).deliveries.keys()], [3, 7]);
    assert.deepEqual([...decoded(encodeManifest(state, nonce)).delayed.keys()], [2, 8]);
  });

  it('of one state differ by their nonce, and are larger than any tombstone', () => {
    const one = encodeManifest(fresh, nonce);
    assert.notDeepEqual(one, encodeManifest(fresh, new Uint8Array(16).fill(8)));
    fc.assert(
      fc.property(queueStateArbitrary, (state) => {
        assert.ok(encodeManifest(state, nonce).length > TOMBSTONE_BYTES);
      }),
    );
    assert.ok(one.length > TOMBSTONE_BYTES);
    // Around the size where the padding stops.
    for (let length = 0; length < 200; length += 1) {
      const state = { ...fresh, attributes: new Map([['Policy', 'x'.repeat(length)]]) };
      const bytes = encodeManifest(state, nonce);
      assert.ok(bytes.length > TOMBSTONE_BYTES);
      assert.deepEqual(decoded(bytes), state);
    }
  });

  it('keeps what a newer node wrote', () => {
    const unknown = new WireWriter();
    unknown.uint(1000, 42);
    unknown.text(1001, 'from the future');
    const [older] = fc.sample(
      queueStateArbitrary.filter((s) => s.deliveries.size > 0 && s.tail.size > 0 && s.segments.size > 0),
      {
        numRuns: 1,
        seed: 1,
      },
    );
    const message = generated(older!);
    const field = { no: 900, wireType: 0, data: Uint8Array.of(5) };
    for (const entry of [
      ...message.deliveries,
      ...message.tail.map((tail) => tail.message!),
      ...message.segments,
    ])
      entry.$unknown = [field];
    for (const entry of [...message.writers, ...message.intents, ...message.outgoingLinks])
      entry.$unknown = [field];
    const known = toBinary(ManifestSchema, message);
    const payload = new Uint8Array([...known, ...unknown.finish()]);
    const state = decoded(sealEnvelope('manifest', payload));
    assert.equal(state.unknownFields.length, 2);
    const kept = generated({
      ...state,
      deliveries: new Map(
        [...state.deliveries].map(([sequence, delivery]) => [sequence, { ...delivery, receiveCount: 9 }]),
      ),
      segments: new Map([...state.segments].map(([id, reference]) => [id, { ...reference, liveCount: 9 }])),
      tail: new Map(
        [...state.tail].map(([n, { message: m, bytes }]) => [
          n,
          { message: { ...m, groupId: 'moved' }, bytes },
        ]),
      ),
    });
    assert.deepEqual(
      kept.$unknown?.map(({ no }) => no),
      [1000, 1001],
    );
    for (const entry of [...kept.deliveries, ...kept.tail.map((tail) => tail.message!), ...kept.segments])
      assert.deepEqual(
        entry.$unknown?.map(({ no, data }) => [no, [...data]]),
        [[900, [5]]],
      );
    for (const entry of [...kept.writers, ...kept.intents, ...kept.outgoingLinks])
      assert.deepEqual(
        entry.$unknown?.map(({ no }) => no),
        [900],
      );
    assert.deepEqual(
      generated(state).tail.map((tail) => tail.message?.$unknown?.length),
      message.tail.map(() => 1),
    );
  });

  it('refuses a newer format without guessing, and tells it from damage', () => {
    const bytes = sealEnvelope('manifest', Uint8Array.of(1, 2, 3), FORMAT_VERSION + 1);
    assert.deepEqual(decodeManifestObject(bytes), { kind: 'newer', formatVersion: FORMAT_VERSION + 1 });
    bytes[bytes.length - 1]! ^= 1;
    assert.equal(decodeManifestObject(bytes).kind, 'damaged');
  });

  it('reports any changed byte and any truncation as damage', () => {
    fc.assert(
      fc.property(
        queueStateArbitrary,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (state, position, change) => {
          const bytes = encodeManifest(state, nonce);
          const at = position % bytes.length;
          const changed = bytes.slice();
          changed[at]! ^= change;
          assert.equal(decodeManifestObject(changed).kind, 'damaged');
          assert.equal(decodeManifestObject(bytes.subarray(0, at)).kind, 'damaged');
          assert.equal(decodeManifestObject(new Uint8Array([...bytes, change])).kind, 'damaged');
        },
      ),
    );
    const small = encodeManifest(fresh, nonce);
    for (let at = 0; at < small.length; at += 1) {
      for (const change of [1, 0x80, 0xff]) {
        const changed = small.slice();
        changed[at]! ^= change;
        assert.equal(decodeManifestObject(changed).kind, 'damaged', `byte ${at}`);
      }
    }
  });

  it('reports any other bytes as damage', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        assert.equal(decodeManifestObject(bytes).kind, 'damaged');
        assert.equal(decodeManifestObject(sealEnvelope('manifest', bytes)).kind, 'damaged');
        assert.equal(decodeManifestObject(sealEnvelope('tombstone', bytes)).kind, 'damaged');
        assert.equal(decodeManifestObject(sealEnvelope('segment', bytes)).kind, 'damaged');
      }),
    );
  });

  it('reports a state that breaks the structure as damage, although its checksum is right', () => {
    assert.equal(decodeManifestObject(sealedManifest({})).kind, 'ok');
    const token = new Uint8Array(8);
    const id = new Uint8Array(16);
    const tail = (sequence: bigint) => ({ sequence, message: { messageId: id, body: 'b' } });
    const segment = { baseVersion: 1n, nonce: token, liveCount: 1n, runs: [{ firstSequence: 1n, count: 1 }] };
    const broken: Record<string, MessageInitShape<typeof ManifestSchema>> = {
      'a short incarnation': { incarnation: new Uint8Array(15) },
      'no nonce': { nonce: new Uint8Array(0) },
      'version 0': { version: 0n },
      'a version over the safe integers': { version: 2n ** 60n },
      'no next sequence': { nextSequence: 0n },
      'a watermark above the next sequence': { purgeWatermark: 101n },
      'collectedBelow above the version': { collectedBelow: 10n },
      'an empty ready range': { ready: [1n, 0n] },
      'ready ranges that touch': { ready: [1n, 2n, 0n, 1n] },
      'half a ready range': { ready: [1n] },
      'a ready sequence 0': { ready: [0n, 2n] },
      'a ready sequence never given': { ready: [99n, 2n] },
      'a delayed sequence never given': { delayed: [{ sequence: 100n }] },
      'a delivery never given': { deliveries: [{ sequence: 100n, token }] },
      'a tail message never given': { tail: [tail(100n)] },
      'an intent never given': { intents: [{ sequence: 100n, targetIncarnation: id }] },
      'deliveries out of order': {
        deliveries: [
          { sequence: 5n, token },
          { sequence: 4n, token },
        ],
      },
      'a sequence twice in deliveries': {
        deliveries: [
          { sequence: 5n, token },
          { sequence: 5n, token },
        ],
      },
      'a sequence twice in the tail': { tail: [tail(5n), tail(5n)] },
      'a sequence twice in delayed': { delayed: [{ sequence: 5n }, { sequence: 5n }] },
      'a sequence twice in intents': {
        intents: [
          { sequence: 5n, targetIncarnation: id },
          { sequence: 5n, targetIncarnation: id },
        ],
      },
      'a sequence ready and delivered': { ready: [4n, 2n], deliveries: [{ sequence: 5n, token }] },
      'a sequence ready and delayed': { ready: [4n, 2n], delayed: [{ sequence: 4n }] },
      'a sequence delayed and delivered': {
        delayed: [{ sequence: 5n }],
        deliveries: [{ sequence: 5n, token }],
      },
      'a short token': { deliveries: [{ sequence: 5n, token: new Uint8Array(7) }] },
      'no token': { deliveries: [{ sequence: 5n }] },
      'a short message id': { tail: [{ sequence: 5n, message: { messageId: new Uint8Array(15) } }] },
      'a tail entry without a message': { tail: [{ sequence: 5n }] },
      'a short writer id': { writers: [{ id: new Uint8Array(3) }] },
      'an attribute twice': { attributes: [{ name: 'a' }, { name: 'a' }] },
      'a link twice': { incomingLinks: [{ incarnation: id }, { incarnation: id }] },
      'a segment twice': { segments: [segment, segment] },
      'a segment without a live message': { segments: [{ ...segment, liveCount: 0n }] },
      'an empty run': { segments: [{ ...segment, runs: [{ firstSequence: 1n }] }] },
    };
    for (const [what, fields] of Object.entries(broken))
      assert.equal(decodeManifestObject(sealedManifest(fields)).kind, 'damaged', what);
  });

  it('takes what a known tail has in the same bytes, and nothing else from it', () => {
    fc.assert(
      fc.property(queueStateArbitrary, queueStateArbitrary, (state, other) => {
        const bytes = encodeManifest(state, nonce);
        const known = decoded(bytes).tail;
        const again = decodeManifestObject(bytes, known);
        assert.ok(again.kind === 'ok' && again.content.kind === 'queue');
        for (const [sequence, { message, bytes }] of again.content.state.tail)
          if (bytes < 500) assert.equal(message, known.get(sequence)!.message);
        const others = decoded(encodeManifest(other, nonce)).tail;
        const apart = decodeManifestObject(bytes, others);
        assert.ok(apart.kind === 'ok' && apart.content.kind === 'queue');
        assert.deepEqual(apart.content.state, state);
      }),
    );
  });

  it('does not take a message of the same sequence and length whose body differs', () => {
    const tailOf = (text: string) =>
      sealedManifest({ tail: [{ sequence: 5n, message: { messageId: new Uint8Array(16), body: text } }] });
    const outcome = decodeManifestObject(tailOf('old'), decoded(tailOf('new')).tail);
    assert.ok(outcome.kind === 'ok' && outcome.content.kind === 'queue');
    assert.equal(outcome.content.state.tail.get(5)?.message.body, 'old');
  });

  it('does not lose a repeated number that came in the other form protobuf allows', () => {
    const writer = new WireWriter();
    writer.raw(payloadOf(sealedManifest({})));
    writer.uint(15, 3);
    writer.uint(15, 4);
    assert.equal(decodeManifestObject(sealEnvelope('manifest', writer.finish())).kind, 'damaged');
  });
});

function mapsToo(_key: string, value: unknown): unknown {
  return value instanceof Map ? [...value] : value;
}
