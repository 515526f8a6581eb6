/**
 * Public bug reports about the legacy query protocol: forms and URLs in, XML out, as old SDKs and hand-made URLs speak it.
 * Each reproduces what was reported and holds the right value.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { XMLParser } from 'fast-xml-parser';
import type { XmlReply } from '../protocol-support/query-client.ts';
import { accountId } from '../support/world.ts';
import { bodies, fifo, redrive, reproduction, text } from './reproduction.ts';

const parser = new XMLParser({ parseTagValue: false, trimValues: false, isArray: () => false });
const at = (name: string) => ({ path: `/${accountId}/${name}` });

/** What stands in the `<…Result>` of a call that succeeded. */
function resultOf(reply: XmlReply, action: string): Readonly<Record<string, unknown>> {
  assert.equal(reply.status, 200, reply.xml);
  return parser.parse(reply.xml)[`${action}Response`][`${action}Result`];
}

function refusalOf(reply: XmlReply): readonly [status: number, code: string, message: string] {
  const { Code, Message } = parser.parse(reply.xml).ErrorResponse.Error;
  return [reply.status, Code, Message];
}

describe('reports: URLs that are fetched', () => {
  // localstack localstack/localstack#3716: a presigned URL of a queue was taken for another service's.
  reproduction('a presigned GET at the path of a FIFO queue sends to it', async (sqs) => {
    const q = await fifo(sqs, {}, 'SomeQueue.fifo');
    const MessageBody = '{"gateway_id": "04e73c80-3539-499c-92a4-a0b106c2f6ab"}';
    const sent = await sqs.query(
      {
        Action: 'SendMessage',
        MessageGroupId: 'Default',
        MessageDeduplicationId: '1615597859837',
        MessageBody,
      },
      { method: 'GET', presigned: true, ...at('SomeQueue.fifo') },
    );
    const received = await sqs.receiveOne(q);
    assert.equal(resultOf(sent, 'SendMessage').MessageId, received.MessageId);
    assert.equal(received.Body, MessageBody);
  });

  // localstack localstack/localstack#3126: 404 with a status page.
  reproduction('GetQueueUrl by GET on the root answers 200', async (sqs) => {
    const QueueUrl = await sqs.create('jobs');
    const reply = await sqs.query({ Action: 'GetQueueUrl', QueueName: 'jobs' }, { method: 'GET' });
    assert.deepEqual(resultOf(reply, 'GetQueueUrl'), { QueueUrl });
  });

  // elasticmq softwaremill/elasticmq#207: InvalidAction, though it was the queue that was missing.
  reproduction('a receive that names no queue is told what it lacks', async (sqs) => {
    for (const method of ['GET', 'POST'] as const) {
      assert.deepEqual(refusalOf(await sqs.query({ Action: 'ReceiveMessage' }, { method })), [
        400,
        'MissingParameter',
        'The request must contain the parameter QueueUrl.',
      ]);
    }
  });
});

describe('reports: messages in forms and XML', () => {
  // elasticmq softwaremill/elasticmq#53: 500 for a binary attribute, and for more than one attribute.
  reproduction('a string and a binary attribute in one form', async (sqs) => {
    const q = await sqs.create('q');
    const reply = await sqs.query({
      Action: 'SendMessage',
      QueueUrl: q,
      MessageBody: 'Test message',
      'MessageAttribute.1.Name': 'stringAttribute',
      'MessageAttribute.1.Value.StringValue': 'someString',
      'MessageAttribute.1.Value.DataType': 'String',
      'MessageAttribute.2.Name': 'binaryAttribute',
      'MessageAttribute.2.Value.BinaryValue': 'c29tZVN0cmluZw==',
      'MessageAttribute.2.Value.DataType': 'Binary',
    });
    const received = await sqs.receiveOne(q, { MessageAttributeNames: ['All'] });
    assert.deepEqual(received.MessageAttributes, {
      stringAttribute: text('someString'),
      binaryAttribute: { DataType: 'Binary', BinaryValue: 'c29tZVN0cmluZw==' },
    });
    assert.equal(resultOf(reply, 'SendMessage').MD5OfMessageAttributes, received.MD5OfMessageAttributes);
  });

  // fakecloud faiscadev/fakecloud#2335: MessageAttributeName.N was not read, and no attribute came back.
  reproduction('attributes come back in XML when MessageAttributeName.1 asks for them', async (sqs) => {
    const q = await sqs.create('q');
    await sqs.send(q, 'm', { MessageAttributes: { colour: text('blue & "green"') } });
    const fields = { Action: 'ReceiveMessage', QueueUrl: q, 'MessageAttributeName.1': 'All' };
    const { Message } = resultOf(await sqs.query(fields), 'ReceiveMessage') as {
      Message: Readonly<Record<string, unknown>>;
    };
    assert.deepEqual(Message.MessageAttribute, {
      Name: 'colour',
      Value: { StringValue: 'blue & "green"', DataType: 'String' },
    });
    assert.match(String(Message.MD5OfMessageAttributes), /^[0-9a-f]{32}$/);
  });

  // elasticmq softwaremill/elasticmq#25: a comment of the source stood in the answer, and the .NET SDK waited for ever.
  reproduction('a send is answered with its id and digest and nothing else', async (sqs) => {
    const q = await sqs.create('q');
    const MessageBody = '{"$type":"Domain.Commands.UpdateProductIndexCommand, Domain"}';
    const reply = await sqs.query({ Action: 'SendMessage', QueueUrl: q, MessageBody });
    const { MessageId, MD5OfBody } = await sqs.receiveOne(q);
    assert.deepEqual(resultOf(reply, 'SendMessage'), { MD5OfMessageBody: MD5OfBody, MessageId });
    assert.deepEqual(Object.keys(parser.parse(reply.xml)), ['?xml', 'SendMessageResponse']);
  });

  // elasticmq softwaremill/elasticmq#632: the whole batch was refused.
  reproduction('a bad handle fails its entry of ChangeMessageVisibilityBatch alone', async (sqs) => {
    const q = await sqs.create('q');
    await sqs.send(q, 'm');
    const { ReceiptHandle } = await sqs.receiveOne(q);
    const entry = (number: number, id: string, handle: string) => ({
      [`ChangeMessageVisibilityBatchRequestEntry.${number}.Id`]: id,
      [`ChangeMessageVisibilityBatchRequestEntry.${number}.ReceiptHandle`]: handle,
      [`ChangeMessageVisibilityBatchRequestEntry.${number}.VisibilityTimeout`]: '0',
    });
    const fields = { ...entry(1, 'bad', 'nonsense'), ...entry(2, 'good', ReceiptHandle) };
    const reply = await sqs.query({ Action: 'ChangeMessageVisibilityBatch', QueueUrl: q, ...fields });
    assert.deepEqual(resultOf(reply, 'ChangeMessageVisibilityBatch'), {
      ChangeMessageVisibilityBatchResultEntry: { Id: 'good' },
      BatchResultErrorEntry: {
        Id: 'bad',
        SenderFault: 'true',
        Code: 'ReceiptHandleIsInvalid',
        Message: 'The input receipt handle "nonsense" is not a valid receipt handle.',
      },
    });
    assert.deepEqual(bodies(await sqs.receive(q)), ['m']);
  });

  // aws-sdk-php aws/aws-sdk-php#630, what AWS says: an SDK that wrote the entries under another name.
  reproduction('a batch whose entries have another name is an empty one', async (sqs) => {
    const QueueUrl = await sqs.create('q');
    const fields = { 'Entries.1.Id': 'a', 'Entries.1.ReceiptHandle': 'AAAA' };
    assert.deepEqual(refusalOf(await sqs.query({ Action: 'DeleteMessageBatch', QueueUrl, ...fields })), [
      400,
      'AWS.SimpleQueueService.EmptyBatchRequest',
      'There should be at least one DeleteMessageBatchRequestEntry in the request.',
    ]);
  });
});

describe('reports: queues in forms and XML', () => {
  // floci floci-io/floci#699: tags of CreateQueue were dropped, in forms and in JSON.
  reproduction('tags of CreateQueue are there, in either protocol', async (sqs) => {
    await sqs.query({
      Action: 'CreateQueue',
      QueueName: 'form',
      'Tag.1.Key': 'k1',
      'Tag.1.Value': 'v1',
      'Tag.2.Key': 'k2',
      'Tag.2.Value': 'v2',
    });
    await sqs.done('CreateQueue', { QueueName: 'json', tags: { k1: 'v1', k2: 'v2' } });
    for (const QueueUrl of ['form', 'json']) {
      assert.deepEqual(await sqs.done('ListQueueTags', { QueueUrl }), { Tags: { k1: 'v1', k2: 'v2' } });
    }
  });

  // localstack localstack/localstack#5928, validated on AWS: what a queue's own address offers.
  reproduction('the path of a queue has its actions, and not those of the account', async (sqs) => {
    await sqs.create('dead');
    const q = await sqs.create('q', redrive('dead', 3));
    const asked = { Action: 'GetQueueAttributes', 'AttributeName.1': 'VisibilityTimeout' };
    const found = resultOf(await sqs.query(asked, { method: 'GET', ...at('q') }), 'GetQueueAttributes');
    assert.deepEqual(found, { Attribute: { Name: 'VisibilityTimeout', Value: '30' } });
    for (const Action of ['ListQueues', 'CreateQueue']) {
      const reply = await sqs.query({ Action, QueueName: 'x' }, { method: 'GET', ...at('q') });
      assert.deepEqual(refusalOf(reply), [
        400,
        'InvalidAction',
        `The action ${Action} is not valid for this endpoint.`,
      ]);
    }
    const nothing = await sqs.query({}, { method: 'GET', ...at('q') });
    assert.deepEqual([nothing.status, nothing.xml], [404, '<UnknownOperationException/>']);
    const other = { Action: 'GetQueueUrl', QueueName: 'dead' };
    const { QueueUrl } = resultOf(await sqs.query(other, at('q')), 'GetQueueUrl');
    assert.equal(QueueUrl, q.replace(/q$/, 'dead'));
  });
});
