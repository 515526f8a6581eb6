/** SQS.md sections 2 and 6 on dead letters of standard queues, over the engine; those of FIFO queues: fifo-messages.test.ts. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { bodies, redrive, reproduction as row } from '../../../../test/reports/reproduction.ts';
import { accountId, region } from '../../../../test/support/world.ts';

describe('row: RedrivePolicy', () => {
  // localstack test_set_empty_redrive_policy, recorded on AWS.
  row('may name the queue itself once it is there; its messages then stay', async (sqs) => {
    const own = redrive('q', 1);
    const [code, message] = await sqs.refused('CreateQueue', { QueueName: 'q', Attributes: own });
    assert.equal(code, 'InvalidParameterValue');
    assert.match(String(message), /Reason: Dead letter target does not exist\.$/);
    const q = await sqs.create('q', { VisibilityTimeout: '1' });
    await sqs.done('SetQueueAttributes', { QueueUrl: q, Attributes: own });
    assert.deepEqual(await sqs.attributes(q, 'RedrivePolicy'), own);
    assert.equal(await sqs.create('q', own), q);
    assert.deepEqual(await sqs.done('ListDeadLetterSourceQueues', { QueueUrl: q }), { queueUrls: [q] });
    await sqs.send(q, 'x');
    for (const count of ['1', '2', '3']) {
      const held = await sqs.receiveOne(q, { AttributeNames: ['All'] });
      assert.equal(held.Attributes?.ApproximateReceiveCount, count);
      assert.equal('DeadLetterQueueSourceArn' in (held.Attributes ?? {}), false);
      await sqs.advance(2);
    }
    assert.deepEqual(await sqs.counts(q), ['1', '0', '0']);
    await sqs.delete(q, await sqs.receiveOne(q));
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
  });
});

describe('row: a dead letter of a standard queue', () => {
  const shown = {
    AttributeNames: ['All'],
    MessageAttributeNames: ['All'],
  };

  row(
    'moves when a receive would exceed maxReceiveCount, which returns nothing; keeps id, body, attributes, SentTimestamp and its count',
    async (sqs) => {
      await sqs.create('dead');
      const q = await sqs.create('q', { VisibilityTimeout: '5', ...redrive('dead', '2') });
      const more = { MessageAttributes: { why: { DataType: 'String', StringValue: 'kept' } } };
      const MessageId = await sqs.send(q, 'poison', more);
      await sqs.receiveOne(q);
      await sqs.advance(6);
      const last = await sqs.receiveOne(q, shown);
      await sqs.advance(6);
      assert.deepEqual(await sqs.counts('dead'), ['0', '0', '0']);
      assert.deepEqual(await sqs.receive(q), []);
      await sqs.advance(1);
      const letter = await sqs.receiveOne('dead', shown);
      assert.equal(letter.MessageId, MessageId);
      assert.equal(letter.Body, 'poison');
      assert.deepEqual(letter.MessageAttributes, more.MessageAttributes);
      assert.equal(letter.Attributes?.SentTimestamp, last.Attributes?.SentTimestamp);
      assert.equal(letter.Attributes?.ApproximateReceiveCount, '3');
      const source = `arn:aws:sqs:${region}:${accountId}:q`;
      assert.equal(letter.Attributes?.DeadLetterQueueSourceArn, source);
      assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
    },
  );

  row('has its retention counted from the first enqueue', async (sqs) => {
    await sqs.create('dead', { MessageRetentionPeriod: '300' });
    const q = await sqs.create('q', { VisibilityTimeout: '0', ...redrive('dead', 1) });
    await sqs.send(q, 'old');
    await sqs.advance(250);
    await sqs.receiveOne(q);
    await sqs.receive(q);
    await sqs.advance(1);
    assert.deepEqual(await sqs.counts('dead'), ['1', '0', '0']);
    await sqs.advance(120);
    assert.deepEqual(await sqs.receive('dead'), []);
  });

  row('stays when its dead-letter queue is missing', async (sqs) => {
    const dead = await sqs.create('dead');
    const q = await sqs.create('q', { VisibilityTimeout: '0', ...redrive('dead', 1) });
    await sqs.done('DeleteQueue', { QueueUrl: dead });
    await sqs.send(q, 'x');
    for (let times = 0; times < 3; times += 1) assert.deepEqual(bodies(await sqs.receive(q)), ['x']);
    await sqs.create('dead');
    assert.deepEqual(await sqs.receive(q), []);
    await sqs.advance(1);
    assert.deepEqual(bodies(await sqs.receive('dead')), ['x']);
  });
});
