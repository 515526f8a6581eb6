import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { md5Hex, md5OfMessageAttributes } from './md5.ts';
import type { MessageAttributes, MessageAttributeValue } from './message.ts';

function text(dataType: string, value: string): MessageAttributeValue {
  return { kind: 'text', dataType, text: value };
}

/** Written from the documentation on node:crypto and Buffer, sharing nothing with the code under test. */
function independentDigest(attributes: MessageAttributes): string {
  const hash = createHash('md5');
  const sized = (bytes: Buffer) => {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(bytes.length);
    hash.update(size).update(bytes);
  };
  for (const name of [...attributes.keys()].sort()) {
    const value = attributes.get(name)!;
    sized(Buffer.from(name, 'utf8'));
    sized(Buffer.from(value.dataType, 'utf8'));
    hash.update(Buffer.from(value.kind === 'text' ? '01' : '02', 'hex'));
    sized(value.kind === 'text' ? Buffer.from(value.text, 'utf8') : Buffer.from(value.bytes));
  }
  return hash.digest('hex');
}

describe('MD5 of a message', () => {
  it('is over the UTF-8 bytes of the body', () => {
    assert.equal(md5Hex('msg'), '6e2baaf3b97dbeef01c0043275f9a0e7');
    assert.equal(md5Hex('héllo 🎉'), createHash('md5').update('héllo 🎉', 'utf8').digest('hex'));
    assert.equal(
      md5Hex(Uint8Array.of(1, 2, 3)),
      createHash('md5')
        .update(Uint8Array.of(1, 2, 3))
        .digest('hex'),
    );
  });
});

describe('MD5 of message attributes', () => {
  it('has the values recorded on AWS', () => {
    const vectors: readonly (readonly [MessageAttributes, string])[] = [
      [new Map([['timestamp', text('Number.java.lang.Long', '1')]]), '6735a2d7fe7f0e962a51db579c2d92cb'],
      [
        new Map([
          ['testname', { kind: 'binary', dataType: 'Binary', bytes: new TextEncoder().encode('123') }],
        ]),
        '4969dd151b0a6c8b619ebb802f76e035',
      ],
      [
        new Map([
          ['Help.Me', text('String', 'Me')],
          ['Hello', text('String', 'There')],
          ['General', text('String', 'Kenobi')],
        ]),
        '4c360f3fdafd970e05fae2f149d997f5',
      ],
      [new Map([['Hello', text('String', 'There')]]), 'a311262e065454b75da111d535b8dacd'],
      [new Map([['Foo', text('String', 'Bar')]]), 'ae7155c6026991b6d54b11589678bf9c'],
      [
        new Map([['UserId', text('Number.bigint', '1234567890123456789012')]]),
        '797ab158d73dcb5242dedc4412c8e855',
      ],
      [new Map([['AWSTraceHeader', text('String', 'some-trace-id')]]), 'fdce4f2818803f2f73becc09a54792c0'],
    ];
    for (const [attributes, expected] of vectors) assert.equal(md5OfMessageAttributes(attributes), expected);
  });

  it('is absent without attributes', () => {
    assert.equal(md5OfMessageAttributes(new Map()), undefined);
  });

  it('agrees with an independent implementation, whatever names, types and values', () => {
    const value: fc.Arbitrary<MessageAttributeValue> = fc.oneof(
      fc.record({
        kind: fc.constant('text' as const),
        dataType: fc.constantFrom('String', 'Number', 'String.x'),
        text: fc.string({ unit: 'binary' }),
      }),
      fc.record({
        kind: fc.constant('binary' as const),
        dataType: fc.constantFrom('Binary', 'Binary.png'),
        bytes: fc.uint8Array({ maxLength: 200 }),
      }),
    );
    const name = fc.string({ unit: fc.constantFrom(...'abzABZ019_-.'), minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, minLength: 1, maxLength: 10 }),
        (all) => {
          const attributes = new Map(all);
          assert.equal(md5OfMessageAttributes(attributes), independentDigest(attributes));
          assert.equal(
            md5OfMessageAttributes(attributes, (data) => createHash('md5').update(data).digest('hex')),
            independentDigest(attributes),
          );
        },
      ),
    );
  });
});
