import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { messageArbitrary, tailMessageOf } from '../../test/arbitraries/queue-state.ts';
import { hexFromBytes } from '../core/ids.ts';
import type { StoredMessage } from '../core/message.ts';
import { StoredMessageSchema } from './gen/okuri/storage/v1/storage_pb.ts';
import { adoptEncoding, decodeMessage, encodedMessage } from './message-codec.ts';
import { Malformed } from './wire.ts';
import { WireReader } from './wire-reader.ts';

function decoded(bytes: Uint8Array) {
  return decodeMessage(new WireReader(bytes));
}

describe('message codec', () => {
  it('gives every message back, with its size as a send counts it', () => {
    fc.assert(
      fc.property(messageArbitrary, (message) => {
        assert.deepEqual(decoded(encodedMessage(message)), tailMessageOf(message));
      }),
    );
  });

  it('writes what the generated code reads', () => {
    fc.assert(
      fc.property(messageArbitrary, (message) => {
        const read = fromBinary(StoredMessageSchema, encodedMessage(message));
        assert.equal(hexFromBytes(read.messageId), message.messageId.replaceAll('-', ''));
        assert.equal(read.sentAtMillis, BigInt(message.sentAtMillis));
        assert.equal(read.senderId, message.senderId);
        assert.equal(read.deadLetterSourceArn, message.deadLetterSourceArn);
        assert.equal(read.traceHeader === undefined, message.traceHeader === undefined);
        assert.equal(read.groupId === undefined, message.groupId === undefined);
        assert.deepEqual(
          read.attributes.map(({ value }) => (value.case === 'binary' ? value.value : value.case)),
          [...message.attributes.values()].map((value) => (value.kind === 'binary' ? value.bytes : 'text')),
        );
      }),
    );
  });

  it('keeps a byte order mark, a carriage return, an emoji and an empty optional text', () => {
    const [example] = fc.sample(messageArbitrary, 1);
    const message: StoredMessage = { ...example!, body: '\ufeffa\r\n😀', traceHeader: '', groupId: '' };
    assert.deepEqual(decoded(encodedMessage(message)).message, message);
  });

  it('copies bytes that it knows instead of encoding again, but never those of a changed copy', () => {
    const [message] = fc.sample(messageArbitrary, 1);
    assert.equal(encodedMessage(message!), encodedMessage(message!));
    const changed = { ...message!, body: 'changed' };
    assert.equal(decoded(encodedMessage(changed)).message.body, 'changed');
    const bytes = encodedMessage(message!).slice();
    const { message: again } = decoded(bytes);
    adoptEncoding(again, bytes);
    assert.equal(encodedMessage(again), bytes);
  });

  it('refuses a message without identity, with a broken text or an ambiguous attribute', () => {
    const id = new Uint8Array(16);
    const refused = [
      create(StoredMessageSchema, { body: 'b' }),
      create(StoredMessageSchema, { messageId: id.subarray(1) }),
      create(StoredMessageSchema, { messageId: id, attributes: [{ name: 'a', dataType: 'String' }] }),
      create(StoredMessageSchema, {
        messageId: id,
        attributes: [
          { name: 'a', dataType: 'String', value: { case: 'text', value: '1' } },
          { name: 'a', dataType: 'String', value: { case: 'text', value: '2' } },
        ],
      }),
    ];
    for (const message of refused)
      assert.throws(() => decoded(toBinary(StoredMessageSchema, message)), Malformed);
    const text = toBinary(StoredMessageSchema, create(StoredMessageSchema, { messageId: id, body: 'ää' }));
    text[text.length - 1] = 0x41;
    assert.throws(() => decoded(text), Malformed);
  });
});
