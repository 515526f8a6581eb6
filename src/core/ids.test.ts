import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  bytesFromHex,
  bytesFromUuid,
  deliveryTokenFrom,
  hexFromBytes,
  incarnationFrom,
  messageIdFrom,
  uuidFromBytes,
  writerIdFrom,
} from './ids.ts';

const bytes16 = fc.uint8Array({ minLength: 16, maxLength: 16 });

describe('ids', () => {
  it('are lower-case hex of the bytes drawn', () => {
    const bytes = Uint8Array.from({ length: 16 }, (_, i) => 0xf0 + i);
    assert.equal(incarnationFrom(bytes), 'f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff');
    assert.equal(writerIdFrom(bytes), 'f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff');
    assert.equal(deliveryTokenFrom(bytes.subarray(8)), 'f8f9fafbfcfdfeff');
  });

  it('refuse too few or too many bytes', () => {
    for (const make of [incarnationFrom, writerIdFrom, deliveryTokenFrom, messageIdFrom, uuidFromBytes]) {
      assert.throws(() => make(new Uint8Array(7)), RangeError);
      assert.throws(() => make(new Uint8Array(17)), RangeError);
    }
  });

  it('a message id is a UUID of version 4 and leaves the drawn bytes alone', () => {
    fc.assert(
      fc.property(bytes16, (bytes) => {
        const before = bytes.slice();
        const id = messageIdFrom(bytes);
        assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        assert.deepEqual(bytes, before);
        assert.equal(uuidFromBytes(bytesFromUuid(id)), id);
      }),
    );
  });

  it('hex round trips', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        assert.deepEqual(bytesFromHex(hexFromBytes(bytes)), bytes);
      }),
    );
  });

  it('refuses what is not canonical', () => {
    for (const text of ['f', 'FF', 'zz', 'ff ', '0xff'])
      assert.throws(() => bytesFromHex(text), RangeError, text);
    assert.throws(() => bytesFromHex('ffff', 1), RangeError);
    const uuid = '123e4567-e89b-42d3-a456-426614174000';
    for (const text of [uuid.toUpperCase(), uuid.replaceAll('-', ''), `${uuid}0`, '']) {
      assert.throws(() => bytesFromUuid(text), RangeError, text);
    }
  });
});
