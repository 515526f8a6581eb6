/**
 * Public bug reports about sending to FIFO queues: deduplication, ids, sequence numbers, and what is refused. Each
 * reproduces what was reported and holds the right value.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe } from 'node:test';
import { bodies, fifo, reproduction, type Sqs, text } from './reproduction.ts';

interface Sent {
  readonly MessageId: string;
  readonly SequenceNumber: string;
  readonly MD5OfMessageBody: string;
}

const ten = { MaxNumberOfMessages: 10 };
const byId = { ContentBasedDeduplication: 'false' };

async function send(sqs: Sqs, QueueUrl: string, MessageBody: string, more: object = {}): Promise<Sent> {
  const body = { QueueUrl, MessageBody, MessageGroupId: 'g', ...more };
  return (await sqs.done('SendMessage', body)) as unknown as Sent;
}

describe('reports: deduplication', () => {
  // localstack localstack/localstack#3615 and #3339, moto getmoto/moto#1438: every one of them was queued.
  reproduction('of messages with one id the first is queued, whatever the others say', async (sqs) => {
    const q = await fifo(sqs, byId);
    for (const body of ['first', 'second', 'third'])
      await send(sqs, q, body, { MessageDeduplicationId: '1' });
    assert.deepEqual(bodies(await sqs.receive(q, ten)), ['first']);
  });

  // fakecloud faiscadev/fakecloud#1569: a duplicate was answered with an id and a number of its own.
  reproduction('a duplicate is answered with the first one’s id and number, and its own MD5', async (sqs) => {
    const q = await fifo(sqs, byId);
    const first = await send(sqs, q, 'a', { MessageDeduplicationId: '1' });
    const again = await send(sqs, q, 'b', { MessageDeduplicationId: '1' });
    assert.deepEqual(
      [again.MessageId, again.SequenceNumber, again.MD5OfMessageBody],
      [first.MessageId, first.SequenceNumber, createHash('md5').update('b').digest('hex')],
    );
    const next = await send(sqs, q, 'c', { MessageDeduplicationId: '2' });
    assert.equal(BigInt(next.SequenceNumber), BigInt(first.SequenceNumber) + 1n);
  });

  // elasticmq softwaremill/elasticmq#354, localstack localstack/localstack#8146, ministack ministackorg/ministack#1326:
  // only what was still in the queue was compared.
  reproduction('holds after the first was received and deleted, for five minutes', async (sqs) => {
    const q = await fifo(sqs);
    const first = await send(sqs, q, 'x');
    await sqs.delete(q, await sqs.receiveOne(q));
    await sqs.advance(290);
    assert.equal((await send(sqs, q, 'x')).MessageId, first.MessageId);
    assert.deepEqual(await sqs.receive(q), []);
    await sqs.advance(60);
    assert.notEqual((await send(sqs, q, 'x')).MessageId, first.MessageId);
    assert.equal((await sqs.receiveOne(q)).Body, 'x');
  });

  // localstack localstack/localstack#8211: after a purge a message with a known id never arrived; on AWS it does.
  reproduction('a purge forgets it', async (sqs) => {
    const q = await fifo(sqs, byId);
    await send(sqs, q, 'before', { MessageDeduplicationId: '1' });
    await sqs.done('PurgeQueue', { QueueUrl: q });
    await send(sqs, q, 'after', { MessageDeduplicationId: '1' });
    assert.deepEqual(bodies(await sqs.receive(q, ten)), ['after']);
  });

  // localstack localstack/localstack#6327: by content nothing was a duplicate of anything.
  reproduction('by content goes by the body alone, not by the attributes', async (sqs) => {
    const q = await fifo(sqs);
    await send(sqs, q, '{"hello":"hola"}', { MessageAttributes: { hello: text('hola') } });
    await send(sqs, q, '{"hello":"hola"}', { MessageAttributes: { hello: text('hallo') } });
    await send(sqs, q, '{"hello": "hola"}');
    assert.deepEqual(bodies(await sqs.receive(q, ten)), ['{"hello": "hola"}', '{"hello":"hola"}']);
  });

  // gopherstack BlackbirdWorks/gopherstack#1666, localstack localstack/localstack#10460: the scope was always the queue,
  // or that of a group only with the throughput limit by group.
  reproduction('the scope is the group exactly if DeduplicationScope says so', async (sqs) => {
    for (const [DeduplicationScope, expected] of [
      ['queue', ['a']],
      ['messageGroup', ['a', 'b']],
    ] as const) {
      const q = await fifo(sqs, { ...byId, DeduplicationScope }, `${DeduplicationScope}.fifo`);
      for (const group of ['a', 'b', 'a'])
        await send(sqs, q, group, { MessageGroupId: group, MessageDeduplicationId: 'same' });
      assert.deepEqual(bodies(await sqs.receive(q, ten)), expected);
    }
  });

  // localstack localstack/localstack#9678: ids of 128 characters were refused.
  reproduction('ids have up to 128 characters', async (sqs) => {
    const q = await fifo(sqs, byId);
    await send(sqs, q, 'x', { MessageDeduplicationId: 'd'.repeat(128), MessageGroupId: 'g'.repeat(128) });
    const MessageDeduplicationId = 'd'.repeat(129);
    const longer = { QueueUrl: q, MessageBody: 'x', MessageGroupId: 'g', MessageDeduplicationId };
    const reason =
      'MessageDeduplicationId can only include alphanumeric and punctuation characters. 1 to 128 in length.';
    assert.deepEqual(await sqs.refused('SendMessage', longer), [
      'InvalidParameterValue',
      `Value ${MessageDeduplicationId} for parameter MessageDeduplicationId is invalid. Reason: ${reason}`,
    ]);
  });
});

describe('reports: what FIFO queues add to a message', () => {
  // elasticmq softwaremill/elasticmq#522, localstack localstack/localstack#6674: no SequenceNumber in the attributes.
  // moto getmoto/moto#1578: no MessageGroupId.
  reproduction('group, deduplication id and the number that the send was answered with', async (sqs) => {
    const q = await fifo(sqs, byId);
    const { SequenceNumber } = await send(sqs, q, 'x', { MessageDeduplicationId: '1234' });
    assert.match(SequenceNumber, /^[0-9]{20}$/);
    const { Attributes } = await sqs.receiveOne(q, { MessageSystemAttributeNames: ['All'] });
    const { MessageGroupId, MessageDeduplicationId } = Attributes ?? {};
    assert.deepEqual([MessageGroupId, MessageDeduplicationId], ['g', '1234']);
    assert.equal(Attributes?.SequenceNumber, SequenceNumber);
  });

  // elasticmq softwaremill/elasticmq#204: standard queues had them too, empty.
  reproduction('standard queues add none of it', async (sqs) => {
    const q = await sqs.create('q');
    const sent = await sqs.done('SendMessage', { QueueUrl: q, MessageBody: 'x' });
    assert.deepEqual(Object.keys(sent).sort(), ['MD5OfMessageBody', 'MessageId']);
    const { Attributes } = await sqs.receiveOne(q, { MessageSystemAttributeNames: ['All'] });
    assert.deepEqual(Object.keys(Attributes ?? {}).sort(), [
      'ApproximateFirstReceiveTimestamp',
      'ApproximateReceiveCount',
      'SenderId',
      'SentTimestamp',
    ]);
  });
});

describe('reports: what FIFO queues take and refuse', () => {
  // elasticmq softwaremill/elasticmq#273, localstack localstack/localstack#6612: a DelaySeconds of 0 was refused. moto
  // getmoto/moto#7398: any other was taken.
  reproduction('DelaySeconds of 0 passes, another does not', async (sqs) => {
    const q = await fifo(sqs);
    await send(sqs, q, 'x', { DelaySeconds: 0 });
    assert.equal((await sqs.receiveOne(q)).Body, 'x');
    const delayed = { QueueUrl: q, MessageBody: 'y', MessageGroupId: 'g', DelaySeconds: 5 };
    assert.deepEqual(await sqs.refused('SendMessage', delayed), [
      'InvalidParameterValue',
      'Value 5 for parameter DelaySeconds is invalid. Reason: The request include parameter that is not valid for this queue type.',
    ]);
  });

  // moto getmoto/moto#4009: batches without a group were taken. On AWS their code is another than alone.
  reproduction('a message without a group is refused, and a batch with one whole', async (sqs) => {
    const q = await fifo(sqs);
    const message = 'The request must contain the parameter MessageGroupId.';
    assert.deepEqual(await sqs.refused('SendMessage', { QueueUrl: q, MessageBody: 'x' }), [
      'MissingParameter',
      message,
    ]);
    const Entries = [
      { Id: 'a', MessageBody: 'a', MessageGroupId: 'g' },
      { Id: 'b', MessageBody: 'b' },
    ];
    assert.deepEqual(await sqs.refused('SendMessageBatch', { QueueUrl: q, Entries }), [
      'InvalidParameterValue',
      message,
    ]);
    assert.deepEqual(await sqs.receive(q), []);
  });

  // construct-hub cdklabs/construct-hub#905: AWS's words for a deduplication id where nothing is deduplicated.
  reproduction('a standard queue refuses a deduplication id', async (sqs) => {
    const q = await sqs.create('q');
    const MessageDeduplicationId = 'eIxLAC5m5bdjLE8rNzX7tMb74ST9YUGvC8RcnsL0D3M=';
    assert.deepEqual(
      await sqs.refused('SendMessage', { QueueUrl: q, MessageBody: 'x', MessageDeduplicationId }),
      [
        'InvalidParameterValue',
        `Value ${MessageDeduplicationId} for parameter MessageDeduplicationId is invalid. Reason: The request include parameter that is not valid for this queue type.`,
      ],
    );
  });

  // spring-cloud-aws awspring/spring-cloud-aws#529 and #579: ElasticMQ refused the attempt id, which AWS overlooks.
  reproduction('a standard queue takes a ReceiveRequestAttemptId, as does a FIFO queue', async (sqs) => {
    const attempt = { ReceiveRequestAttemptId: 'e90ad7eb-b4dd-4086-8618-46bc91a030f3' };
    const standard = await sqs.create('q');
    assert.deepEqual(await sqs.receive(standard, attempt), []);
    const q = await fifo(sqs);
    await send(sqs, q, 'x');
    assert.equal((await sqs.receiveOne(q, attempt)).Body, 'x');
  });

  // localstack localstack/localstack#6620: refused, since FifoQueue was taken for a change of type.
  reproduction('creating it again with its own attributes is no change', async (sqs) => {
    const q = await fifo(sqs, { VisibilityTimeout: '60' });
    assert.equal(await fifo(sqs, { VisibilityTimeout: '60' }), q);
    assert.equal(await fifo(sqs, { FifoQueue: 'True', ContentBasedDeduplication: 'True' }), q);
  });

  // aws-sdk-ruby aws/aws-sdk-ruby#1350: FifoQueue of a standard queue is no attribute, not one that is false.
  reproduction('FifoQueue can be asked of a FIFO queue only', async (sqs) => {
    const q = await fifo(sqs);
    assert.deepEqual(await sqs.attributes(q, 'FifoQueue'), { FifoQueue: 'true' });
    const standard = await sqs.create('q');
    const ask = { QueueUrl: standard, AttributeNames: ['FifoQueue'] };
    assert.deepEqual(await sqs.refused('GetQueueAttributes', ask), [
      'InvalidAttributeName',
      'Unknown Attribute FifoQueue.',
    ]);
  });
});
