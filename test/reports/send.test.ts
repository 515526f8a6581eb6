/**
 * Public bug reports about sending: digests, characters, sizes, delays, batches. Each reproduces what was reported and
 * holds the right value; digests are the ones the reporters' SDKs calculated.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe } from 'node:test';
import {
  type AttributeValue,
  type BatchReply,
  bodies,
  reproduction,
  type Sqs,
  text,
} from './reproduction.ts';

const mebibyte = 1_048_576;
const all = { MessageAttributeNames: ['All'] };

/** Sends with the attributes, receives them again: they and their digest must be the same both times. */
async function sentAndReceived(sqs: Sqs, MessageAttributes: Readonly<Record<string, AttributeValue>>) {
  const q = await sqs.create('q');
  const sent = await sqs.done('SendMessage', { QueueUrl: q, MessageBody: 'msg', MessageAttributes });
  const received = await sqs.receiveOne(q, all);
  assert.deepEqual(received.MessageAttributes, MessageAttributes);
  assert.equal(received.MD5OfMessageAttributes, sent.MD5OfMessageAttributes);
  return sent.MD5OfMessageAttributes;
}

/** The documented algorithm for string attributes whose parts are under 256 bytes, in the order given. */
function digestOf(attributes: readonly (readonly [name: string, value: string])[]): string {
  const hash = createHash('md5');
  const sized = (part: string) => {
    const bytes = new TextEncoder().encode(part);
    hash.update(Uint8Array.of(0, 0, 0, bytes.length)).update(bytes);
  };
  for (const [name, value] of attributes) {
    sized(name);
    sized('String');
    hash.update(Uint8Array.of(1));
    sized(value);
  }
  return hash.digest('hex');
}

const base64 = (bytes: string) => btoa(bytes);

async function sendBatch(sqs: Sqs, QueueUrl: string, Entries: readonly object[]): Promise<BatchReply> {
  return sqs.done('SendMessageBatch', { QueueUrl, Entries });
}

describe('reports: digests', () => {
  // smoothmq poundifdef/smoothmq#35: no digest of the attributes, which the Java SDK takes for a wrong one.
  reproduction('the digest of one string attribute is the Java SDK’s', async (sqs) => {
    const digest = await sentAndReceived(sqs, { 'content-encoding': text('lz4') });
    assert.equal(digest, 'd5b1c8868f6406a7a6a8f4cebc4fcc94');
  });

  // localstack localstack/localstack#2976: the digest was of the type without its label. elasticmq
  // softwaremill/elasticmq#947: so was the received type, and no longer the digest's.
  reproduction('a custom data type is part of the digest and comes back as sent', async (sqs) => {
    const custom = await sentAndReceived(sqs, { somevalue: text('somevalue', 'String.custom') });
    assert.equal(custom, '9e05cca738e70ff6c6041e82d5e77ef1');
    const number = await sentAndReceived(sqs, { timestamp: text('1', 'Number.java.lang.Long') });
    assert.equal(number, '6735a2d7fe7f0e962a51db579c2d92cb');
  });

  // yulin KensioSoftware/yulin#247: names sorted by the host's locale, in which apple comes before BANANA.
  reproduction(
    'the digest takes the names by their code units, in whatever order they were sent',
    async (sqs) => {
      const names = ['BANANA', 'ZOO', 'apple', 'grape'];
      const expected = digestOf(names.map((name) => [name, 'x']));
      for (const order of [names, [...names].reverse(), ['apple', 'BANANA', 'grape', 'ZOO']]) {
        const attributes = Object.fromEntries(order.map((name) => [name, text('x')]));
        assert.equal(await sentAndReceived(sqs, attributes), expected);
      }
    },
  );

  // localstack localstack/localstack#136, moto getmoto/moto#993: the digest of nothing was sent for no attributes, and
  // the PHP SDK refused it.
  reproduction('without attributes there is no digest of them', async (sqs) => {
    const q = await sqs.create('q');
    for (const more of [{}, { MessageAttributes: {} }]) {
      const sent = await sqs.done('SendMessage', { QueueUrl: q, MessageBody: 'my mesage', ...more });
      assert.deepEqual(Object.keys(sent).sort(), ['MD5OfMessageBody', 'MessageId']);
    }
    const batch = await sendBatch(sqs, q, [{ Id: 'a', MessageBody: 'x' }]);
    assert.equal('MD5OfMessageAttributes' in (batch.Successful?.[0] ?? {}), false);
  });

  // localstack localstack/localstack#7381: decoded twice, a 500. elasticmq softwaremill/elasticmq#952: values that are
  // base64 text themselves.
  reproduction('a binary attribute is decoded once, also when its bytes are base64', async (sqs) => {
    const trace = 'traceparent\x1e00-9a25abf2b8c5c69378838801ae563176-ac194615f5cfb2ea-01';
    await sentAndReceived(sqs, {
      trace: { DataType: 'Binary', BinaryValue: base64(trace) },
      nested: { DataType: 'Binary.gzip', BinaryValue: base64(base64('user:pass')) },
      bytes: { DataType: 'Binary', BinaryValue: base64(String.fromCharCode(0, 255, 128, 10)) },
    });
  });

  // elasticmq softwaremill/elasticmq#13: a wrong digest for a body with a dash outside ASCII. localstack
  // localstack/localstack#1619: the same for an emoji in an attribute; the first digest here is AWS's answer.
  reproduction('digests are of the UTF-8 bytes', async (sqs) => {
    const q = await sqs.create('q');
    const attributeName = 'X'.repeat(3);
    assert.equal(
      await sentAndReceived(sqs, { [attributeName]: text('xxx') }),
      '37819bc3d58fcdbf7bc9aa49ff38a4e6',
    );
    for (const body of ['{"EmailSubject":"Toolbox – reset password"}', 'Zażółć gęślą jaźń', '👩‍🚀 🇯🇵 𝄞']) {
      const MessageAttributes = { note: text(body) };
      const sent = await sqs.done('SendMessage', { QueueUrl: q, MessageBody: body, MessageAttributes });
      assert.equal(sent.MD5OfMessageBody, createHash('md5').update(body, 'utf8').digest('hex'));
      assert.equal(sent.MD5OfMessageAttributes, digestOf([['note', body]]));
      const message = await sqs.receiveOne(q, all);
      assert.deepEqual([message.Body, message.MD5OfBody], [body, sent.MD5OfMessageBody]);
      assert.deepEqual(message.MessageAttributes, MessageAttributes);
      assert.equal(message.MD5OfMessageAttributes, sent.MD5OfMessageAttributes);
    }
  });
});

describe('reports: contents', () => {
  // localstack localstack/localstack#3151: carriage returns were refused; ministack ministackorg/ministack#987: control
  // characters were not.
  reproduction('tab, line feed, carriage return pass; other control characters are refused', async (sqs) => {
    const q = await sqs.create('q');
    await sqs.send(q, 'a\tb\r\nc\u007f\u0085\ufffd');
    assert.equal((await sqs.receiveOne(q)).Body, 'a\tb\r\nc\u007f\u0085\ufffd');
    for (const character of [
      '\u0000',
      '\u0007',
      '\u000b',
      '\u000c',
      '\u001f',
      '\ufffe',
      '\uffff',
      '\ud83d',
    ]) {
      const [code] = await sqs.refused('SendMessage', { QueueUrl: q, MessageBody: `a${character}b` });
      assert.equal(code, 'InvalidMessageContents', JSON.stringify(character));
    }
  });

  // localstack localstack/localstack#12317: accepted.
  reproduction('an empty body is refused as a missing one', async (sqs) => {
    const q = await sqs.create('q');
    for (const body of [{ MessageBody: '' }, {}]) {
      assert.deepEqual(await sqs.refused('SendMessage', { QueueUrl: q, ...body }), [
        'MissingParameter',
        'The request must contain the parameter MessageBody.',
      ]);
    }
  });

  // localstack localstack/localstack#6740: no limit. Particular/NServiceBus.AmazonSQS#318: names, types and values of
  // attributes count, measured on AWS.
  reproduction('attributes count towards the size of a message, to the byte', async (sqs) => {
    const q = await sqs.create('q', { MaximumMessageSize: '1024' });
    const MessageAttributes = { foo: text('bar', 'String.x') };
    const room = 1024 - 'foo'.length - 'String.x'.length - 'bar'.length;
    await sqs.send(q, 'x'.repeat(room), { MessageAttributes });
    await sqs.send(q, 'x'.repeat(1024));
    // Three bytes a character: it is bytes that count.
    await sqs.send(q, '–'.repeat(341));
    const reason = 'One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes.';
    for (const tooLarge of [
      { MessageBody: 'x'.repeat(room + 1), MessageAttributes },
      { MessageBody: 'x'.repeat(1025) },
      { MessageBody: '–'.repeat(342) },
    ]) {
      assert.deepEqual(await sqs.refused('SendMessage', { QueueUrl: q, ...tooLarge }), [
        'InvalidParameterValue',
        reason,
      ]);
    }
  });

  // localstack localstack/localstack#12898, elasticmq softwaremill/elasticmq#1137: refused; fauxqs
  // kibertoad/fauxqs#263: dropped.
  reproduction('MessageGroupId on a standard queue is taken, returned, and blocks nothing', async (sqs) => {
    const q = await sqs.create('q');
    for (const body of ['a', 'b']) await sqs.send(q, body, { MessageGroupId: 'tenant-1' });
    for (const body of ['a', 'b']) {
      const message = await sqs.receiveOne(q, { MessageSystemAttributeNames: ['MessageGroupId'] });
      assert.deepEqual([message.Body, message.Attributes], [body, { MessageGroupId: 'tenant-1' }]);
    }
  });

  // moto getmoto/moto#7372: an explicit delay of 0 was taken for none, and the queue's delay applied.
  reproduction('a message’s own delay beats the queue’s, also when it is 0', async (sqs) => {
    const q = await sqs.create('q', { DelaySeconds: '10' });
    await sqs.send(q, 'now', { DelaySeconds: 0 });
    await sqs.send(q, 'later', { DelaySeconds: 20 });
    await sqs.send(q, 'queue');
    const seen = async () => bodies(await sqs.receive(q, { MaxNumberOfMessages: 10 }));
    assert.deepEqual(await seen(), ['now']);
    await sqs.advance(11);
    assert.deepEqual(await seen(), ['queue']);
    await sqs.advance(10);
    assert.deepEqual(await seen(), ['later']);
  });
});

describe('reports: batches of sends', () => {
  // localstack localstack/localstack#4135: one bad message took the other nine with it.
  reproduction('a bad message fails alone, the others are sent', async (sqs) => {
    const q = await sqs.create('q');
    const Entries = [...'0123456789'].map((Id) => ({ Id, MessageBody: Id === '4' ? '\u0001' : Id }));
    const { Successful, Failed } = await sendBatch(sqs, q, Entries);
    assert.deepEqual(
      Successful?.map(({ Id }) => Id),
      ['0', '1', '2', '3', '5', '6', '7', '8', '9'],
    );
    assert.deepEqual(
      Failed?.map(({ Id, Code, SenderFault }) => [Id, Code, SenderFault]),
      [['4', 'InvalidMessageContents', true]],
    );
    assert.equal((await sqs.receive(q, { MaxNumberOfMessages: 10 })).length, 9);
  });

  // moto getmoto/moto#6550, floci floci-io/floci#894: only single messages were measured.
  reproduction('a batch over 1 MiB in all is refused whole, one of exactly 1 MiB is sent', async (sqs) => {
    const q = await sqs.create('q');
    const halves = (second: number) => [
      { Id: 'a', MessageBody: 'a'.repeat(mebibyte / 2) },
      { Id: 'b', MessageBody: 'b'.repeat(second) },
    ];
    assert.deepEqual(
      await sqs.refused('SendMessageBatch', { QueueUrl: q, Entries: halves(mebibyte / 2 + 1) }),
      [
        'AWS.SimpleQueueService.BatchRequestTooLong',
        `Batch requests cannot be longer than ${mebibyte} bytes. You have sent ${mebibyte + 1} bytes.`,
      ],
    );
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
    assert.equal((await sendBatch(sqs, q, halves(mebibyte / 2))).Successful?.length, 2);
    await sqs.send(q, 'c'.repeat(mebibyte));
    assert.deepEqual(await sqs.counts(q), ['3', '0', '0']);
  });

  // elasticmq softwaremill/elasticmq#953: an empty Failed list, by which SDKs thought that something had failed.
  reproduction('Failed is absent when nothing failed, and Successful when nothing succeeded', async (sqs) => {
    const q = await sqs.create('q');
    assert.deepEqual(Object.keys(await sendBatch(sqs, q, [{ Id: 'a', MessageBody: 'x' }])), ['Successful']);
    assert.deepEqual(Object.keys(await sendBatch(sqs, q, [{ Id: 'a', MessageBody: '\u0001' }])), ['Failed']);
  });
});
