import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { crc32c } from './checksum.ts';

const text = (value: string) => new TextEncoder().encode(value);

describe('crc32c', () => {
  it('has the published check values', () => {
    assert.equal(crc32c(text('123456789')), 0xe3069283);
    assert.equal(crc32c(new Uint8Array(0)), 0);
    // RFC 3720 appendix B.4.
    assert.equal(crc32c(new Uint8Array(32)), 0x8a9136aa);
    assert.equal(crc32c(new Uint8Array(32).fill(0xff)), 0x62a8ab43);
  });

  it('is the same however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(200), (bytes, at) => {
        assert.equal(crc32c(bytes.subarray(0, at), bytes.subarray(at)), crc32c(bytes));
      }),
    );
  });

  it('notices any flipped bit', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.nat(), (bytes, position) => {
        const bit = position % (bytes.length * 8);
        const flipped = bytes.slice();
        flipped[bit >> 3]! ^= 1 << (bit & 7);
        assert.notEqual(crc32c(flipped), crc32c(bytes));
      }),
    );
  });
});
