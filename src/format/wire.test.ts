import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { UnknownField } from '@bufbuild/protobuf';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { lengthTag, Malformed, varintBytes, varintTag } from './wire.ts';
import { WireReader } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

const unsigned = fc.oneof(
  fc.nat(300),
  fc.maxSafeNat(),
  fc.integer({ min: 0, max: 53 }).map((bits) => 2 ** bits - 1),
  fc.integer({ min: 0, max: 52 }).map((bits) => 2 ** bits),
);
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'binary', minLength: 30, maxLength: 200 }),
);

function written(write: (writer: WireWriter) => void): Uint8Array {
  const writer = new WireWriter(1);
  write(writer);
  return writer.finish();
}

describe('wire format', () => {
  it('writes numbers as the protobuf library does, and reads them back', () => {
    fc.assert(
      fc.property(unsigned, (value) => {
        const bytes = written((writer) => writer.varint(value));
        assert.deepEqual(bytes, new BinaryWriter().uint64(value).finish());
        assert.equal(bytes.length, varintBytes(value));
        assert.equal(new WireReader(bytes).varint(), value);
      }),
      { numRuns: 500 },
    );
  });

  it('writes texts and bytes as the protobuf library does, and reads them back', () => {
    fc.assert(
      fc.property(text, fc.uint8Array({ maxLength: 300 }), (value, binary) => {
        const bytes = written((writer) => {
          writer.textEvenIfEmpty(3, value);
          writer.bytesEvenIfEmpty(40, binary);
        });
        const library = new BinaryWriter().tag(3, WireType.LengthDelimited).string(value);
        assert.deepEqual(bytes, library.tag(40, WireType.LengthDelimited).bytes(binary).finish());
        const reader = new WireReader(bytes);
        assert.equal(reader.varint(), lengthTag(3));
        assert.equal(reader.text(), value);
        assert.equal(reader.varint(), lengthTag(40));
        assert.deepEqual(reader.bytes(), binary);
        assert.equal(reader.lastFieldBytes, binary.length);
        assert.equal(reader.more(), false);
      }),
    );
  });

  it('takes texts of any length, longer than what is encoded in place too', () => {
    for (const length of [0, 1, 42, 43, 127, 128, 4096, 4097, 16_384, 100_000]) {
      for (const character of ['a', 'ä', '€']) {
        const value = character.repeat(length);
        const reader = new WireReader(written((writer) => writer.textEvenIfEmpty(1, value)));
        assert.equal(reader.varint(), lengthTag(1));
        assert.equal(reader.text(), value);
        assert.equal(reader.more(), false);
      }
    }
  });

  it('nests to any depth and size', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 }), (levels) => {
        const bytes = written((writer) => {
          const marks = levels.map((content) => {
            const mark = writer.begin(1);
            writer.bytesEvenIfEmpty(2, content);
            return mark;
          });
          for (const mark of marks.reverse()) writer.end(mark);
        });
        const reader = new WireReader(bytes);
        const outers = levels.map((content) => {
          assert.equal(reader.varint(), lengthTag(1));
          const outer = reader.enter();
          assert.equal(reader.varint(), lengthTag(2));
          assert.deepEqual(reader.bytes(), content);
          return outer;
        });
        for (const outer of outers.reverse()) {
          assert.equal(reader.more(), false);
          reader.leave(outer);
        }
      }),
    );
  });

  it('hex is written as bytes, dashes of a UUID left out', () => {
    const bytes = written((writer) => writer.hex(1, '00ff10', 3));
    assert.deepEqual([...bytes], [10, 3, 0, 255, 16]);
    const uuid = '123e4567-e89b-42d3-a456-426614174000';
    const reader = new WireReader(written((writer) => writer.hex(1, uuid, 16)));
    reader.varint();
    assert.equal(reader.uuid(), uuid);
    for (const wrong of ['0', '00ff', '00ff1', '00ff1022', '00FF10', '00fg10', '00f€10', '', '-----'])
      assert.throws(() => written((writer) => writer.hex(1, wrong, 3)), RangeError, wrong);
  });

  it('skips unknown fields of every kind as the protobuf library does, and writes them back', () => {
    const library = new BinaryWriter();
    library.tag(1, WireType.Varint).uint64(2n ** 64n - 1n);
    library.tag(2000, WireType.Bit32).fixed32(7);
    library.tag(3, WireType.Bit64).fixed64(7);
    library.tag(4, WireType.LengthDelimited).string('later');
    const bytes = library.finish();
    const reader = new WireReader(bytes);
    const fields: UnknownField[] = [];
    while (reader.more()) fields.push(reader.unknown(reader.varint()));
    assert.deepEqual(
      written((writer) => writer.unknown(fields)),
      bytes,
    );
    const other = new BinaryReader(bytes);
    for (const { no, wireType, data } of fields) {
      assert.deepEqual(other.tag(), [no, wireType]);
      assert.deepEqual(data, other.skip(wireType, no));
    }
  });

  it('refuses what is cut off, too large or no protobuf', () => {
    const refused: readonly [string, (reader: WireReader) => unknown, readonly number[]][] = [
      ['no number', (reader) => reader.varint(), []],
      ['half a number', (reader) => reader.varint(), [0x80]],
      ['2^53', (reader) => reader.varint(), [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]],
      ['an endless number', (reader) => reader.varint(), new Array<number>(12).fill(0x80)],
      ['2^32 where 32 bits must do', (reader) => reader.uint32(), [0x80, 0x80, 0x80, 0x80, 0x10]],
      ['a short field', (reader) => reader.bytes(), [3, 1, 2]],
      ['a text that is not UTF-8', (reader) => reader.text(), [2, 0xc3, 0x28]],
      ['an encoded surrogate', (reader) => reader.text(), [3, 0xed, 0xa0, 0x80]],
      ['a short identity', (reader) => reader.hex(2), [1, 1]],
      ['a short UUID', (reader) => reader.uuid(), [1, 1]],
      ['a group', (reader) => reader.skip(8 + 3), [1]],
      ['field number 0', (reader) => reader.skip(0), [1]],
      ['short fixed bytes', (reader) => reader.skip(8 + 5), [1, 2, 3]],
      ['half an unknown number', (reader) => reader.skip(varintTag(9)), [0xff]],
    ];
    for (const [what, read, bytes] of refused)
      assert.throws(() => read(new WireReader(Uint8Array.from(bytes))), Malformed, what);
  });

  it('refuses to write what is no unsigned safe integer', () => {
    for (const value of [-1, 0.5, 2 ** 53, Number.NaN])
      assert.throws(() => written((writer) => writer.varint(value)), RangeError);
  });
});
