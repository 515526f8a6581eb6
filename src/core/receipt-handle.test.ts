import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sha256 } from '@noble/hashes/sha2.js';
import fc from 'fast-check';
import { type DeliveryToken, deliveryTokenFrom, type Incarnation, incarnationFrom } from './ids.ts';
import { decodeReceiptHandle, encodeReceiptHandle, type ReceiptHandle } from './receipt-handle.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=';

const safeInteger = fc.oneof(
  fc.nat(300),
  fc.maxSafeNat(),
  fc.constantFrom(2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER),
);
const handle: fc.Arbitrary<ReceiptHandle> = fc.record(
  {
    incarnation: fc.uint8Array({ minLength: 16, maxLength: 16 }).map(incarnationFrom),
    sequence: safeInteger,
    leaseVersion: safeInteger,
    token: fc.uint8Array({ minLength: 8, maxLength: 8 }).map(deliveryTokenFrom),
  },
  { noNullPrototype: true },
);

const example: ReceiptHandle = {
  incarnation: '00112233445566778899aabbccddeeff' as Incarnation,
  sequence: 300,
  leaseVersion: 7,
  token: '0123456789abcdef' as DeliveryToken,
};

/** A text with a right checksum over any payload, as a forger or a later version could make it. */
function sealed(payload: readonly number[]): string {
  const bytes = Uint8Array.from(payload);
  return btoa(String.fromCharCode(...bytes, ...sha256(bytes).subarray(0, 4)));
}

const incarnation = new Array<number>(16).fill(9);
const token = new Array<number>(8).fill(5);

describe('receipt handle', () => {
  it('keeps its bytes for ever: handles outlive upgrades', () => {
    assert.equal(encodeReceiptHandle(example), 'AQARIjNEVWZ3iJmqu8zd7v+sAgcBI0VniavN7yVO5pM=');
  });

  it('round trips, in standard base64 without a minus sign', () => {
    fc.assert(
      fc.property(handle, (value) => {
        const text = encodeReceiptHandle(value);
        assert.match(text, /^[A-Za-z0-9+/]+={0,2}$/);
        assert.deepEqual(decodeReceiptHandle(text), value);
      }),
    );
  });

  it('refuses any changed, missing or added character', () => {
    fc.assert(
      fc.property(
        handle,
        fc.nat(),
        fc.constantFrom(...alphabet, ' ', '\n', '-', 'é'),
        (value, position, other) => {
          const text = encodeReceiptHandle(value);
          const at = position % text.length;
          const changed = text.slice(0, at) + other + text.slice(at + 1);
          if (changed !== text) assert.equal(decodeReceiptHandle(changed), undefined);
          const added = text.slice(0, at) + other + text.slice(at);
          assert.equal(decodeReceiptHandle(added), undefined);
          assert.equal(decodeReceiptHandle(text.slice(0, at) + text.slice(at + 1)), undefined);
          assert.equal(decodeReceiptHandle(`${text}${other}`), undefined);
        },
      ),
    );
  });

  it('answers undefined for any other string', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.base64String()), (text) => {
        assert.equal(decodeReceiptHandle(text), undefined);
      }),
    );
    for (const text of ['', '====', 'A', 'AQ==', 'A'.repeat(1024), 'A'.repeat(100_000)]) {
      assert.equal(decodeReceiptHandle(text), undefined);
    }
  });

  it('refuses well-sealed payloads of another form', () => {
    assert.notEqual(decodeReceiptHandle(sealed([1, ...incarnation, 3, 4, ...token])), undefined);
    const malformed = {
      'another format': [2, ...incarnation, 3, 4, ...token],
      'a number in a longer form': [1, ...incarnation, 0x83, 0, 4, ...token],
      'a number beyond the safe integers': [
        1,
        ...incarnation,
        ...new Array<number>(7).fill(0xff),
        0x7f,
        4,
        ...token,
      ],
      'a number that never ends': [1, ...incarnation, ...new Array<number>(30).fill(0xff)],
      'a short token': [1, ...incarnation, 3, 4, ...token.slice(1)],
      'a byte too many': [1, ...incarnation, 3, 4, ...token, 0],
      nothing: [],
    };
    for (const [what, payload] of Object.entries(malformed)) {
      assert.equal(decodeReceiptHandle(sealed(payload)), undefined, what);
    }
  });

  it('will not make a handle of malformed fields', () => {
    assert.throws(() => encodeReceiptHandle({ ...example, sequence: -1 }), RangeError);
    assert.throws(() => encodeReceiptHandle({ ...example, leaseVersion: 2 ** 53 }), RangeError);
    assert.throws(() => encodeReceiptHandle({ ...example, token: 'ff' as DeliveryToken }), RangeError);
    assert.throws(() => encodeReceiptHandle({ ...example, incarnation: 'X' as Incarnation }), RangeError);
  });
});
