/**
 * Public bug reports about redrive: what a message keeps, when it moves, what a redrive policy may look like.
 * Each reproduces what was reported and holds the right value.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { bodies, redrive, reproduction, text } from './reproduction.ts';

const all = { MessageSystemAttributeNames: ['All'], MessageAttributeNames: ['All'] };
const day = 24 * 3600;

describe('reports: dead letters', () => {
  // elasticmq softwaremill/elasticmq#386: in the dead-letter queue a message had new timestamps, as if sent there.
  reproduction('a dead letter keeps its id, its attributes and both of its timestamps', async (sqs) => {
    await sqs.create('dead');
    const q = await sqs.create('q', { VisibilityTimeout: '5', ...redrive('dead', 2) });
    const MessageId = await sqs.send(q, 'foo bar', { MessageAttributes: { kind: text('x') } });
    const first = await sqs.receiveOne(q, all);
    await sqs.advance(60);
    await sqs.receiveOne(q);
    await sqs.advance(60);
    assert.deepEqual(await sqs.receive(q), []);
    const dead = await sqs.receiveOne('dead', all);
    assert.equal(dead.MessageId, MessageId);
    assert.deepEqual(dead.MessageAttributes, { kind: text('x') });
    assert.equal(dead.MD5OfMessageAttributes, first.MD5OfMessageAttributes);
    for (const name of ['SentTimestamp', 'ApproximateFirstReceiveTimestamp', 'SenderId']) {
      assert.equal(dead.Attributes?.[name], first.Attributes?.[name], name);
    }
  });

  // elasticmq softwaremill/elasticmq#921: the attribute that names the source of a dead letter was missing.
  reproduction('a dead letter names its source, and only in the dead-letter queue', async (sqs) => {
    await sqs.create('dead');
    const q = await sqs.create('q', { VisibilityTimeout: '1', ...redrive('dead', 1) });
    await sqs.send(q, 'example');
    const live = await sqs.receiveOne(q, all);
    assert.equal('DeadLetterQueueSourceArn' in (live.Attributes ?? {}), false);
    await sqs.advance(2);
    await sqs.receive(q);
    const { Attributes } = await sqs.receiveOne('dead', all);
    assert.equal(Attributes?.DeadLetterQueueSourceArn, 'arn:aws:sqs:us-east-1:000000000000:q');
  });

  // localstack localstack/localstack#10425: the receive count began at nothing again in the dead-letter queue.
  reproduction('the receive count goes on in the dead-letter queue', async (sqs) => {
    await sqs.create('dead');
    const q = await sqs.create('q', { VisibilityTimeout: '1', ...redrive('dead', 3) });
    await sqs.send(q, 'x');
    for (const count of ['1', '2', '3']) {
      assert.equal((await sqs.receiveOne(q, all)).Attributes?.ApproximateReceiveCount, count);
      await sqs.advance(2);
    }
    await sqs.receive(q);
    assert.equal((await sqs.receiveOne('dead', all)).Attributes?.ApproximateReceiveCount, '4');
  });

  // localstack localstack/localstack#5225: a letter passed the second queue of a chain by, since it came with as many
  // receives as that one's policy allows.
  reproduction(
    'in a chain each queue counts its own receives; the count that is shown goes on',
    async (sqs) => {
      await sqs.create('c');
      await sqs.create('b', { VisibilityTimeout: '1', ...redrive('c', 1) });
      const a = await sqs.create('a', { VisibilityTimeout: '1', ...redrive('b', 2) });
      await sqs.send(a, 'x');
      for (const [queue, count] of [
        ['a', '1'],
        ['a', '2'],
        ['b', '3'],
        ['c', '4'],
        ['c', '5'],
      ] as const) {
        if (queue !== 'a') assert.deepEqual(await sqs.receive(queue === 'b' ? 'a' : 'b'), []);
        const { Attributes } = await sqs.receiveOne(queue, { ...all, VisibilityTimeout: 1 });
        assert.equal(Attributes?.ApproximateReceiveCount, count, queue);
        await sqs.advance(2);
      }
    },
  );

  // Tests of localstack/localstack that were checked on AWS: a queue may name itself.
  reproduction('a queue may be its own dead-letter queue, and nothing is lost in it', async (sqs) => {
    const q = await sqs.create('q', { VisibilityTimeout: '1' });
    await sqs.done('SetQueueAttributes', { QueueUrl: q, Attributes: redrive('q', 2) });
    await sqs.send(q, 'x');
    for (const count of ['1', '2', '3', '4', '5']) {
      const message = await sqs.receiveOne(q, all);
      assert.equal(message.Attributes?.ApproximateReceiveCount, count);
      await sqs.advance(2);
    }
    await sqs.delete(q, await sqs.receiveOne(q));
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
  });

  // localstack localstack/localstack#8234 and #8903: thought a bug, checked on AWS: nothing moves until the receive
  // that would be one too many, which itself returns nothing; then the message is there without a delay.
  reproduction(
    'a message moves with the receive that would exceed maxReceiveCount, then at once',
    async (sqs) => {
      await sqs.create('dead');
      const q = await sqs.create('q', { VisibilityTimeout: '1', ...redrive('dead', 1) });
      await sqs.send(q, 'x');
      await sqs.receiveOne(q);
      await sqs.advance(3600);
      assert.deepEqual(await sqs.receive('dead'), []);
      assert.deepEqual(await sqs.counts(q), ['1', '0', '0']);
      assert.deepEqual(await sqs.receive(q), []);
      assert.deepEqual(bodies(await sqs.receive('dead')), ['x']);
      assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
    },
  );

  // elasticmq softwaremill/elasticmq#582: past its receives a message vanished from the queue and was in no other.
  reproduction(
    'a message past its receives is never dropped, also when its queue has a delay',
    async (sqs) => {
      const delayed = { DelaySeconds: '2', VisibilityTimeout: '10' };
      await sqs.create('retry', delayed);
      const main = await sqs.create('main', { ...delayed, ...redrive('retry', 1) });
      await sqs.send(main, 'Hello, queue');
      await sqs.advance(3);
      await sqs.receiveOne(main);
      await sqs.advance(11);
      assert.deepEqual(await sqs.receive(main), []);
      assert.deepEqual(bodies(await sqs.receive('retry', { WaitTimeSeconds: 10 })), ['Hello, queue']);
    },
  );

  // elasticmq softwaremill/elasticmq#110: maxReceiveCount as a string, as AWS's own examples have it, was refused.
  reproduction(
    'maxReceiveCount is taken as a string or a number, works, and is shown as a number',
    async (sqs) => {
      await sqs.create('dead');
      for (const [name, count] of [['text', '1'] as const, ['number', 1] as const]) {
        const q = await sqs.create(name, { VisibilityTimeout: '1', ...redrive('dead', count) });
        const { RedrivePolicy } = await sqs.attributes(q, 'RedrivePolicy');
        assert.equal(JSON.parse(RedrivePolicy ?? '{}').maxReceiveCount, 1);
        await sqs.send(q, name);
        await sqs.receiveOne(q);
        await sqs.advance(2);
        await sqs.receive(q);
      }
      assert.deepEqual(bodies(await sqs.receive('dead', { MaxNumberOfMessages: 10 })), ['number', 'text']);
    },
  );

  // moto getmoto/moto#4643: an empty RedrivePolicy stayed an attribute, or failed; Terraform removes policies that way.
  reproduction('an empty RedrivePolicy removes it, and messages are redelivered without end', async (sqs) => {
    await sqs.create('dead');
    const q = await sqs.create('q', { VisibilityTimeout: '1', ...redrive('dead', 1) });
    await sqs.done('SetQueueAttributes', { QueueUrl: q, Attributes: { RedrivePolicy: '' } });
    assert.equal('RedrivePolicy' in (await sqs.attributes(q, 'All')), false);
    await sqs.send(q, 'x');
    for (let i = 0; i < 4; i += 1) {
      await sqs.receiveOne(q);
      await sqs.advance(2);
    }
    assert.deepEqual(await sqs.receive('dead'), []);
  });

  // localstack localstack/localstack#2857: a queue without policies showed them as "None", which is no JSON.
  reproduction('attributes that were never set are not shown', async (sqs) => {
    const attributes = await sqs.attributes(await sqs.create('q'), 'All');
    for (const name of ['Policy', 'RedrivePolicy', 'RedriveAllowPolicy', 'KmsMasterKeyId', 'FifoQueue']) {
      assert.equal(name in attributes, false, name);
    }
  });

  // localstack localstack/localstack#3525: MessageRetentionPeriod was stored and had no effect.
  reproduction('a message is gone after the retention period, from receives and from counts', async (sqs) => {
    const q = await sqs.create('q', { MessageRetentionPeriod: '3600' });
    await sqs.send(q, 'x');
    await sqs.advance(3500);
    assert.deepEqual(bodies(await sqs.receive(q, { VisibilityTimeout: 0 })), ['x']);
    await sqs.advance(200);
    assert.deepEqual(await sqs.receive(q), []);
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
  });

  // localstack localstack/localstack#3525 and AWS's page on the retention of dead letters: a day in the source leaves
  // three of four in the dead-letter queue.
  reproduction('retention of a dead letter counts from when it was first sent', async (sqs) => {
    await sqs.create('dead', { MessageRetentionPeriod: String(4 * day) });
    const q = await sqs.create('q', {
      MessageRetentionPeriod: String(14 * day),
      VisibilityTimeout: '1',
      ...redrive('dead', 1),
    });
    await sqs.send(q, 'x');
    await sqs.receiveOne(q);
    await sqs.advance(day);
    assert.deepEqual(await sqs.receive(q), []);
    await sqs.advance(3 * day - 3600);
    assert.deepEqual(bodies(await sqs.receive('dead', { VisibilityTimeout: 0 })), ['x']);
    await sqs.advance(2 * 3600);
    assert.deepEqual(await sqs.receive('dead'), []);
  });
});
