/**
 * SQS.md section 3, row by row.
 * Over 300 lines, since a section has as many rows and they are looked up by it.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { FakeQueues, fakeQueueService } from '../../../../test/protocol-support/fake-queue-service.ts';
import { NOW_MILLIS, type Reply, sqsTestClient } from '../../../../test/protocol-support/sqs-client.ts';

async function queue(Attributes: Record<string, string> = {}) {
  const fake = new FakeQueues(() => NOW_MILLIS);
  const { call, logged } = sqsTestClient(fakeQueueService(fake));
  await call('CreateQueue', { QueueName: 'q', Attributes });
  const send = (body: object) => call('SendMessage', { QueueUrl: 'q', ...body });
  const batch = (...Entries: readonly object[]) => call('SendMessageBatch', { QueueUrl: 'q', Entries });
  return { call, send, batch, logged, held: () => fake.queues.get('q')?.messages ?? [] };
}

function invalid(reply: Reply, message: string): void {
  assert.equal(reply.status, 400);
  assert.deepEqual(reply.body, { __type: 'com.amazonaws.sqs#InvalidParameterValueException', message });
}

const text = (StringValue: string, DataType = 'String') => ({ DataType, StringValue });

describe('row: body', () => {
  it('takes every allowed code point; CR, emoji and the edges of the ranges round trip', async () => {
    const { call, send } = await queue();
    const MessageBody = '\t\n\r \r\n~\u007f\u0085\ud7ff\ue000\ufffd\u{10000}\u{10ffff}🎉👩‍👩‍👧';
    assert.equal((await send({ MessageBody })).status, 200);
    const received = await call('ReceiveMessage', { QueueUrl: 'q' });
    assert.equal((received.body.Messages as { Body: string }[])[0]?.Body, MessageBody);
  });

  it('refuses every other one, lone surrogates too', async () => {
    const { call } = await queue();
    const cases: readonly (readonly [string, string])[] = [
      ['\\u0000', '#x0'],
      ['\\u0008', '#x8'],
      ['\\u000b', '#xB'],
      ['\\u001f', '#x1F'],
      ['\\ufffe', '#xFFFE'],
      ['\\uffff', '#xFFFF'],
      ['\\ud800', '#xD800'],
      ['\\udfff', '#xDFFF'],
      ['\\udc00\\ud800', '#xDC00'],
    ];
    for (const [spelling, codePoint] of cases) {
      const reply = await call('SendMessage', `{"QueueUrl":"q","MessageBody":"ok ${spelling} ok"}`);
      assert.equal(reply.status, 400);
      assert.deepEqual(reply.body, {
        __type: 'com.amazonaws.sqs#InvalidMessageContents',
        message: `Invalid binary character '${codePoint}' was found in the message body, the set of allowed characters is #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF].`,
      });
    }
  });

  it('empty is MissingParameter', async () => {
    const { send } = await queue();
    for (const body of [{}, { MessageBody: '' }, { MessageBody: null }]) {
      assert.deepEqual((await send(body)).body, {
        __type: 'com.amazonaws.sqs#MissingRequiredParameterException',
        message: 'The request must contain the parameter MessageBody.',
      });
    }
  });
});

describe('row: size', () => {
  it('is UTF-8 body plus name, DataType and value of each attribute', async () => {
    const { send } = await queue({ MaximumMessageSize: '1024' });
    const tooLong = 'One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes.';
    assert.equal((await send({ MessageBody: 'é'.repeat(512) })).status, 200);
    invalid(await send({ MessageBody: `${'é'.repeat(512)}x` }), tooLong);
    assert.equal((await send({ MessageBody: '🎉'.repeat(256) })).status, 200);
    invalid(await send({ MessageBody: `${'🎉'.repeat(256)}x` }), tooLong);
    // Name 4, DataType 6 ("Binary"), value 10; name 2, DataType 8, value 4: 34 in all.
    const MessageAttributes = {
      name: { DataType: 'Binary', BinaryValue: btoa('0123456789') },
      nn: text('éé', 'String.x'),
    };
    assert.equal((await send({ MessageBody: 'x'.repeat(1024 - 34), MessageAttributes })).status, 200);
    invalid(await send({ MessageBody: 'x'.repeat(1024 - 33), MessageAttributes }), tooLong);
  });

  it('to 1 MiB passes, also spelt in six-byte escapes; one byte more does not', async () => {
    const { call, send } = await queue();
    assert.equal((await send({ MessageBody: 'x'.repeat(1_048_576) })).status, 200);
    invalid(
      await send({ MessageBody: 'x'.repeat(1_048_577) }),
      'One or more parameters are invalid. Reason: Message must be shorter than 1048576 bytes.',
    );
    const escaped = '\\u0009'.repeat(1_048_576);
    assert.equal((await call('SendMessage', `{"QueueUrl":"q","MessageBody":"${escaped}"}`)).status, 200);
  });

  it('of a batch over 1048576 is BatchRequestTooLong; one entry over the limit of the queue fails alone', async () => {
    const { batch } = await queue({ MaximumMessageSize: '1024' });
    const entry = (Id: string, length: number) => ({ Id, MessageBody: 'x'.repeat(length) });
    assert.deepEqual((await batch(entry('a', 524_288), entry('b', 524_289))).body, {
      __type: 'com.amazonaws.sqs#BatchRequestTooLong',
      message: 'Batch requests cannot be longer than 1048576 bytes. You have sent 1048577 bytes.',
    });
    const reply = await batch(entry('a', 1025), entry('b', 1024), entry('c', 523_000));
    const failure = {
      Code: 'InvalidParameterValue',
      Message: 'One or more parameters cannot be validated. Reason: Message must be shorter than 1024 bytes.',
      SenderFault: true,
    };
    assert.deepEqual(reply.body.Failed, [
      { Id: 'a', ...failure },
      { Id: 'c', ...failure },
    ]);
    assert.deepEqual(
      (reply.body.Successful as { Id: string }[]).map(({ Id }) => Id),
      ['b'],
    );
  });
});

describe('row: batches refused as a whole', () => {
  it('none, for each of the three batches', async () => {
    const { call } = await queue();
    const types = ['SendMessage', 'DeleteMessage', 'ChangeMessageVisibility'];
    for (const type of types) {
      for (const body of [{}, { Entries: [] }]) {
        assert.deepEqual((await call(`${type}Batch`, { QueueUrl: 'q', ...body })).body, {
          __type: 'com.amazonaws.sqs#EmptyBatchRequest',
          message: `There should be at least one ${type}BatchRequestEntry in the request.`,
        });
      }
    }
  });

  it('more than 10', async () => {
    const { batch } = await queue();
    const entries = Array.from({ length: 20 }, (_, i) => ({ Id: `e${i}`, MessageBody: 'x' }));
    assert.equal((await batch(...entries.slice(0, 10))).status, 200);
    assert.deepEqual((await batch(...entries)).body, {
      __type: 'com.amazonaws.sqs#TooManyEntriesInBatchRequest',
      message: 'Maximum number of entries per request are 10. You have sent 20.',
    });
  });

  it('an id that is not 1–80 of alphanumerics, - and _', async () => {
    const { batch, call } = await queue();
    assert.equal((await batch({ Id: `${'a'.repeat(78)}_-`, MessageBody: 'x' })).status, 200);
    for (const Id of ['', 'a'.repeat(81), 'invalid:id', 'ä', undefined]) {
      for (const reply of [
        await batch({ Id, MessageBody: 'x' }),
        await call('DeleteMessageBatch', { QueueUrl: 'q', Entries: [{ Id, ReceiptHandle: 'AAAAAAAA' }] }),
      ]) {
        assert.deepEqual(reply.body, {
          __type: 'com.amazonaws.sqs#InvalidBatchEntryId',
          message:
            'A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.',
        });
      }
    }
  });

  it('a repeated id', async () => {
    const { batch } = await queue();
    const reply = await batch(
      { Id: 'x', MessageBody: 'a' },
      { Id: 'y', MessageBody: 'b' },
      { Id: 'x', MessageBody: 'c' },
    );
    assert.deepEqual(reply.body, {
      __type: 'com.amazonaws.sqs#BatchEntryIdsNotDistinct',
      message: 'Id x repeated.',
    });
  });
});

describe('row: batch entries that fail alone', () => {
  it('content problems; Successful and Failed keep the order of the request', async () => {
    const { batch, held } = await queue();
    const reply = await batch(
      { Id: 'a', MessageBody: '' },
      { Id: 'b', MessageBody: 'good' },
      { Id: 'c', MessageBody: '\u0001' },
      { Id: 'd', MessageBody: 'x', DelaySeconds: 901 },
      { Id: 'e', MessageBody: 'good too', MessageAttributes: { n: text('1', 'Number') } },
      { Id: 'f', MessageBody: 'x', MessageAttributes: { n: text('') } },
    );
    const failed = reply.body.Failed as Record<string, unknown>[];
    assert.deepEqual(
      failed.map(({ Id, Code, SenderFault }) => [Id, Code, SenderFault]),
      [
        ['a', 'MissingParameter', true],
        ['c', 'InvalidMessageContents', true],
        ['d', 'InvalidParameterValue', true],
        ['f', 'InvalidParameterValue', true],
      ],
    );
    const successful = reply.body.Successful as Record<string, unknown>[];
    assert.deepEqual(
      successful.map(({ Id }) => Id),
      ['b', 'e'],
    );
    assert.equal(successful[0]?.MD5OfMessageBody, createHash('md5').update('good').digest('hex'));
    assert.equal('MD5OfMessageAttributes' in (successful[0] ?? {}), false);
    assert.equal(typeof successful[1]?.MD5OfMessageAttributes, 'string');
    assert.deepEqual(
      held().map((message) => message.stored.messageId),
      successful.map(({ MessageId }) => MessageId),
    );
  });

  it('all of them bad: no Successful key', async () => {
    const { batch } = await queue();
    assert.deepEqual(Object.keys((await batch({ Id: 'a', MessageBody: '' })).body), ['Failed']);
  });
});

describe('row: message attributes', () => {
  const withAttributes = async (MessageAttributes: object) =>
    (await queue()).send({ MessageBody: 'x', MessageAttributes });

  it('at most 10', async () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, text('v')]));
    assert.equal((await withAttributes(many(10))).status, 200);
    invalid(
      await withAttributes(many(11)),
      'Number of message attributes [11] exceeds the allowed maximum [10].',
    );
  });

  it('names of at most 256, not reserved in any case, no leading, trailing or double dot', async () => {
    for (const name of ['a'.repeat(256), 'A-b_9.c', 'awsx', 'AmazonX', 'x.aws.y']) {
      assert.equal((await withAttributes({ [name]: text('v') })).status, 200, name);
    }
    // localstack test_send_message_with_invalid_string_attributes, validated on AWS.
    assert.equal((await withAttributes({ 'attr.1øßä': text('Valida') })).status, 200);
    const long = 'Message (user) attribute name must be shorter than 256 bytes.';
    invalid(await withAttributes({ ['a'.repeat(257)]: text('v') }), long);
    invalid(
      await withAttributes({ '': text('v') }),
      'The request must contain non-empty message (user) attribute names.',
    );
    for (const name of ['AWS.x', 'aws.x', 'Amazon.x', 'aMaZoN.x']) {
      invalid(
        await withAttributes({ [name]: text('v') }),
        "You can't use message attribute names beginning with 'AWS.' or 'Amazon.'. These strings are reserved for internal use.",
      );
    }
    for (const name of ['.a', 'a.', 'a..b', 'a b', 'a/b', 'a!', 'a"', 'a§', 'a(', 'a?', '😀', '\ud800']) {
      assert.equal((await withAttributes({ [name]: text('v') })).status, 400, name);
    }
  });

  it('types String, Number, Binary with an optional label kept to the letter', async () => {
    const { send, held } = await queue();
    const MessageAttributes = {
      s: text('v', 'String.My.Label'),
      n: text('1.5e3', 'Number.java.lang.Long'),
      b: { DataType: 'Binary.png', BinaryValue: btoa('123') },
    };
    assert.equal((await send({ MessageBody: 'x', MessageAttributes })).status, 200);
    assert.deepEqual(
      [...(held()[0]?.stored.attributes ?? [])],
      [
        ['s', { kind: 'text', dataType: 'String.My.Label', text: 'v' }],
        ['n', { kind: 'text', dataType: 'Number.java.lang.Long', text: '1.5e3' }],
        ['b', { kind: 'binary', dataType: 'Binary.png', bytes: new TextEncoder().encode('123') }],
      ],
    );
    for (const type of ['InvalidType', 'string', 'StringX', 'Strin', '.String', 'String\u0000']) {
      invalid(
        await withAttributes({ Hello: text('v', type) }),
        "The type of message (user) attribute 'Hello' is invalid. You must use only the following supported type prefixes: Binary, Number, String.",
      );
    }
    invalid(
      await withAttributes({ a: text('v', `String.${'a'.repeat(250)}`) }),
      'Message (user) attribute type must be shorter than 256 bytes.',
    );
    invalid(
      await withAttributes({ Hello: {} }),
      "The message (user) attribute 'Hello' must contain a non-empty message attribute value.",
    );
    invalid(
      await withAttributes({ Hello: { DataType: 'String', StringListValues: ['x'] } }),
      'Message attribute list values in SendMessage operation are not supported.',
    );
    invalid(
      await withAttributes({ Hello: text('world', 'Number') }),
      "Can't cast the value of message (user) attribute 'Hello' to a number.",
    );
  });

  it('empty values, and values of the other kind, are refused', async () => {
    const cases: readonly (readonly [object, string])[] = [
      [text(''), 'String'],
      [{ DataType: 'String' }, 'String'],
      [text('', 'Number'), 'Number'],
      [{ DataType: 'Binary', BinaryValue: '' }, 'Binary'],
      [text('x', 'Binary'), 'Binary'],
      [{ DataType: 'String', BinaryValue: btoa('x') }, 'String'],
    ];
    for (const [value, type] of cases) {
      invalid(
        await withAttributes({ ErrorDetails: value }),
        `Message (user) attribute 'ErrorDetails' must contain a non-empty value of type '${type}'.`,
      );
    }
    const both = { DataType: 'String', StringValue: 'x', BinaryValue: btoa('x') };
    assert.equal((await withAttributes({ both })).status, 400);
    assert.equal((await withAttributes({ bad: text('\u0000') })).status, 400);
  });

  it('binary is decoded from base64 once; what is no base64 is no 500', async () => {
    const { send, held } = await queue();
    const twice = btoa(btoa('123'));
    await send({ MessageBody: 'x', MessageAttributes: { b: { DataType: 'Binary', BinaryValue: twice } } });
    const value = held()[0]?.stored.attributes.get('b');
    assert.deepEqual(value?.kind === 'binary' && value.bytes, new TextEncoder().encode(btoa('123')));
    const reply = await send({
      MessageBody: 'x',
      MessageAttributes: { b: { DataType: 'Binary', BinaryValue: '!' } },
    });
    assert.equal(reply.body.__type, 'com.amazon.coral.service#SerializationException');
  });

  it('named like members of Object keep their names', async () => {
    const { call, send } = await queue();
    const names = ['__proto__', 'constructor', 'toString'];
    const attributes = names.map((name) => `"${name}":{"DataType":"String","StringValue":"v"}`).join(',');
    await call('SendMessage', `{"QueueUrl":"q","MessageBody":"x","MessageAttributes":{${attributes}}}`);
    const reply = await call('ReceiveMessage', { QueueUrl: 'q', MessageAttributeNames: ['All'] });
    assert.match(String(reply.raw.body), /"__proto__":\{"StringValue":"v"/);
    assert.equal((await send({ MessageBody: 'x' })).status, 200);
  });
});

describe('row: MD5s', () => {
  it('of body and attributes have the values of the page; system attributes have their own', async () => {
    const { send } = await queue();
    const reply = await send({
      MessageBody: 'Test Message',
      MessageAttributes: { timestamp: text('1', 'Number.java.lang.Long') },
      MessageSystemAttributes: { AWSTraceHeader: text('some-trace-id') },
    });
    assert.equal(reply.body.MD5OfMessageBody, 'd1d4180b7e411c4be86b00fb2ee103eb');
    assert.equal(reply.body.MD5OfMessageAttributes, '6735a2d7fe7f0e962a51db579c2d92cb');
    assert.equal(reply.body.MD5OfMessageSystemAttributes, 'fdce4f2818803f2f73becc09a54792c0');
    const plain = await send({
      MessageBody: 'x',
      MessageAttributes: { testname: { DataType: 'Binary', BinaryValue: btoa('123') } },
    });
    assert.deepEqual(Object.keys(plain.body).sort(), [
      'MD5OfMessageAttributes',
      'MD5OfMessageBody',
      'MessageId',
    ]);
    assert.equal(plain.body.MD5OfMessageAttributes, '4969dd151b0a6c8b619ebb802f76e035');
  });

  it('other system attributes are refused, and a trace header must be a bounded String', async () => {
    const { send } = await queue();
    invalid(
      await send({ MessageBody: 'x', MessageSystemAttributes: { Hello: text('World') } }),
      "Message system attribute name 'Hello' is invalid.",
    );
    for (const bad of [text('x', 'Number'), text(''), text('\u0000'), text('x'.repeat(5_000))]) {
      assert.equal(
        (await send({ MessageBody: 'x', MessageSystemAttributes: { AWSTraceHeader: bad } })).status,
        400,
      );
    }
  });
});

describe('row: DelaySeconds', () => {
  it('0–900 beats the delay of the queue; absent means the queue’s', async () => {
    const { send, held } = await queue({ DelaySeconds: '5' });
    for (const DelaySeconds of [0, 900, undefined]) await send({ MessageBody: 'x', DelaySeconds });
    const delays = held().map((message) => (message.visibleAtMillis - NOW_MILLIS) / 1000);
    assert.deepEqual(delays, [0, 900, 5]);
    for (const delay of [-1, 901]) {
      invalid(
        await send({ MessageBody: 'x', DelaySeconds: delay }),
        `Value ${delay} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.`,
      );
    }
  });
});

describe('row: MessageGroupId on a standard queue', () => {
  it('is accepted and stored; 1–128 alphanumerics and punctuation', async () => {
    const { send, held } = await queue();
    await send({ MessageBody: 'x', MessageGroupId: 'a!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~9' });
    assert.equal(held()[0]?.stored.groupId, 'a!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~9');
    for (const id of ['', 'a'.repeat(129), 'group 123', 'ä']) {
      invalid(
        await send({ MessageBody: 'x', MessageGroupId: id }),
        `Value ${id} for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length.`,
      );
    }
    invalid(
      await send({ MessageBody: 'x', MessageDeduplicationId: 'd' }),
      'Value d for parameter MessageDeduplicationId is invalid. Reason: The request include parameter that is not valid for this queue type.',
    );
  });
});
