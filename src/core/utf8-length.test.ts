import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { utf8Length } from './utf8-length.ts';

describe('the UTF-8 length of a string', () => {
  it('is that of its encoding, whatever its units', () => {
    const units = fc.array(fc.integer({ min: 0, max: 0xffff })).map((all) => String.fromCharCode(...all));
    fc.assert(
      fc.property(fc.oneof(units, fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' })), (text) => {
        assert.equal(utf8Length(text), new TextEncoder().encode(text).length);
      }),
    );
  });
});
