/**
 * Public bug reports about queues and the protocol around them: URLs, creating again, listing, purging, errors. Each
 * reproduces what was reported and holds the right value.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { accountId } from '../support/world.ts';
import { bodies, redrive, reproduction } from './reproduction.ts';

describe('reports: queue URLs', () => {
  // floci floci-io/floci#81, docker-SQS-local vsouza/docker-SQS-local#3: URLs always said localhost.
  // kumo sivchari/kumo#393: a queue was found under the host it was created with only.
  reproduction('URLs name the host that was called, and any host finds the queue', async (sqs) => {
    const url = async (action: string, host: string) =>
      (await sqs.done(action, { QueueName: 'q' }, { host })).QueueUrl;
    assert.equal(await url('CreateQueue', 'localhost:4566'), `http://localhost:4566/${accountId}/q`);
    assert.equal(await url('GetQueueUrl', 'okuri:4566'), `http://okuri:4566/${accountId}/q`);
    const { QueueUrls } = await sqs.done('ListQueues', {}, { host: 'okuri:4566' });
    assert.deepEqual(QueueUrls, [`http://okuri:4566/${accountId}/q`]);
    await sqs.send(`http://okuri:4566/${accountId}/q`, 'x');
    assert.deepEqual(bodies(await sqs.receive(`http://localhost:4566/${accountId}/q`)), ['x']);
  });

  // localstack localstack/localstack#2874: no such queue.
  reproduction('a slash at the end of a queue URL does not matter', async (sqs) => {
    const q = await sqs.create('queue_name');
    await sqs.send(`${q}/`, 'm');
    assert.deepEqual(bodies(await sqs.receive(q)), ['m']);
  });

  // floci floci-io/floci#17: the Ruby SDK posts JSON to the path of the queue, which was taken for another service's.
  reproduction('JSON posted to the path of a queue works', async (sqs) => {
    const q = await sqs.create('q');
    const path = `/${accountId}/q`;
    await sqs.done('SendMessage', { QueueUrl: q, MessageBody: 'hello from ruby' }, { path });
    const [message] = await sqs.world.run(sqs.receiving(q, {}, { path }));
    assert.equal(message?.Body, 'hello from ruby');
  });
});

describe('reports: creating a queue again', () => {
  const attributes = {
    DelaySeconds: '900',
    MaximumMessageSize: '262144',
    MessageRetentionPeriod: '1209600',
    ReceiveMessageWaitTimeSeconds: '20',
    VisibilityTimeout: '43200',
    ...redrive('dead', 100),
  };

  // moto getmoto/moto#1764: refused, since texts were compared with numbers.
  reproduction('with equal attributes it answers the same URL', async (sqs) => {
    await sqs.create('dead');
    const url = await sqs.create('q', attributes);
    assert.equal(await sqs.create('q', attributes), url);
    assert.equal(await sqs.create('q', { ...attributes, ...redrive('dead', '100') }), url);
  });

  // elasticmq softwaremill/elasticmq#85: absent attributes were compared as if they had been sent with their defaults.
  // localstack localstack/localstack#5938: any second create was refused.
  reproduction('attributes that are not given are not compared', async (sqs) => {
    await sqs.create('dead');
    const url = await sqs.create('q', attributes);
    assert.equal(await sqs.create('q'), url);
    assert.equal(await sqs.create('q', { VisibilityTimeout: '43200' }), url);
    await sqs.done('SetQueueAttributes', { QueueUrl: url, Attributes: { DelaySeconds: '1' } });
    assert.equal(await sqs.create('q'), url);
    assert.equal((await sqs.attributes(url, 'DelaySeconds')).DelaySeconds, '1');
  });

  // moto getmoto/moto#1663: accepted, and nothing changed.
  reproduction(
    'with another value it is refused by the attribute’s name, and nothing changes',
    async (sqs) => {
      const url = await sqs.create('q');
      const other = { QueueName: 'q', Attributes: { VisibilityTimeout: '31' } };
      const [code, message] = await sqs.refused('CreateQueue', other);
      assert.equal(code, 'QueueAlreadyExists');
      assert.match(String(message), /different value for attribute VisibilityTimeout$/);
      assert.equal((await sqs.attributes(url, 'VisibilityTimeout')).VisibilityTimeout, '30');
    },
  );

  // moto getmoto/moto#2386: refused once the queue had a message, since its counts were compared. moto
  // getmoto/moto#181: the queue was replaced by an empty one.
  reproduction('it finds the queue with its messages', async (sqs) => {
    const url = await sqs.create('q');
    await sqs.send(url, 'test');
    assert.equal(await sqs.create('q'), url);
    assert.deepEqual(bodies(await sqs.receive(url)), ['test']);
  });

  // fakecloud faiscadev/fakecloud#2237: accepted on the queue, and every receive after it crashed.
  reproduction('a visibility timeout no receive could have is refused on the queue', async (sqs) => {
    const url = await sqs.create('q');
    for (const VisibilityTimeout of ['43201', '8000000000000', '-1', '1.5', 'x', '']) {
      for (const [action, named] of [
        ['CreateQueue', { QueueName: 'other' }] as const,
        ['SetQueueAttributes', { QueueUrl: url }] as const,
      ]) {
        const [code] = await sqs.refused(action, { ...named, Attributes: { VisibilityTimeout } });
        assert.equal(code, 'InvalidAttributeValue', `${action} ${VisibilityTimeout}`);
      }
    }
  });
});

describe('reports: lists and purges', () => {
  // localstack localstack/localstack#11774, ministack ministackorg/ministack#1144: cut at MaxResults without a token.
  reproduction('ListQueues pages to the end, and a page that fits has no NextToken', async (sqs) => {
    const names = ['a-0', 'a-1', 'a-2', 'a-3', 'b-0'];
    for (const name of names) await sqs.create(name);
    const pages: (readonly string[])[] = [];
    let NextToken: unknown;
    do {
      const page = await sqs.done('ListQueues', {
        QueueNamePrefix: 'a-',
        MaxResults: 2,
        ...(NextToken === undefined ? {} : { NextToken }),
      });
      pages.push((page.QueueUrls as readonly string[]).map((url) => url.slice(-3)));
      NextToken = page.NextToken;
    } while (NextToken !== undefined);
    assert.deepEqual(pages, [
      ['a-0', 'a-1'],
      ['a-2', 'a-3'],
    ]);
    assert.deepEqual(Object.keys(await sqs.done('ListQueues', {})), ['QueueUrls']);
  });

  // localstack localstack/localstack#9828: an empty list where AWS has none.
  reproduction('ListQueues without a match answers {}', async (sqs) => {
    await sqs.create('q');
    assert.deepEqual(await sqs.done('ListQueues', { QueueNamePrefix: 'nope' }), {});
  });

  // localstack localstack/localstack#6710, moto getmoto/moto#3208: messages in flight and delayed ones came back.
  reproduction(
    'a purge takes visible, in-flight and delayed messages, and only those sent before',
    async (sqs) => {
      const q = await sqs.create('q', { VisibilityTimeout: '10' });
      await sqs.send(q, 'in flight');
      await sqs.receiveOne(q);
      await sqs.send(q, 'visible');
      await sqs.send(q, 'delayed', { DelaySeconds: 20 });
      assert.deepEqual(await sqs.counts(q), ['1', '1', '1']);
      await sqs.done('PurgeQueue', { QueueUrl: q });
      assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
      await sqs.send(q, 'new');
      await sqs.advance(60);
      assert.deepEqual(bodies(await sqs.receive(q, { MaxNumberOfMessages: 10 })), ['new']);
    },
  );
});

describe('reports: errors', () => {
  // ministack ministackorg/ministack#36: the header was missing, and boto3 told the wrong code. elasticmq
  // softwaremill/elasticmq#903: the type was "Sender".
  reproduction('a missing queue is named by the JSON type and by the legacy code', async (sqs) => {
    for (const [action, body] of [
      ['SendMessage', { QueueUrl: 'none', MessageBody: 'x' }] as const,
      ['ReceiveMessage', { QueueUrl: 'none' }] as const,
      ['DeleteQueue', { QueueUrl: 'none' }] as const,
      ['GetQueueUrl', { QueueName: 'none' }] as const,
      ['GetQueueAttributes', { QueueUrl: 'none', AttributeNames: ['All'] }] as const,
    ]) {
      const reply = await sqs.call(action, body);
      assert.deepEqual(
        [reply.status, reply.headers['content-type'], reply.headers['x-amzn-query-error'], reply.body],
        [
          400,
          'application/x-amz-json-1.0',
          'AWS.SimpleQueueService.NonExistentQueue;Sender',
          { __type: 'com.amazonaws.sqs#QueueDoesNotExist', message: 'The specified queue does not exist.' },
        ],
        action,
      );
    }
  });

  // localstack localstack/localstack#7312: ids with a colon were taken. ministack ministackorg/ministack#1729: sends
  // alone were checked, and of the rules one.
  reproduction('every batch action refuses ids and numbers of entries alike', async (sqs) => {
    const q = await sqs.create('q');
    const prefix = 'AWS.SimpleQueueService.';
    const entriesOf = (...ids: readonly string[]) =>
      ids.map((Id) => ({ Id, MessageBody: 'x', ReceiptHandle: 'AAAA', VisibilityTimeout: 0 }));
    const cases = [
      ['EmptyBatchRequest', []] as const,
      ['TooManyEntriesInBatchRequest', entriesOf(...'abcdefghijk')] as const,
      ['BatchEntryIdsNotDistinct', entriesOf('a', 'b', 'a')] as const,
      ['InvalidBatchEntryId', entriesOf('sqs:1')] as const,
      ['InvalidBatchEntryId', entriesOf('x'.repeat(81))] as const,
      ['InvalidBatchEntryId', entriesOf('')] as const,
    ];
    for (const action of ['SendMessageBatch', 'DeleteMessageBatch', 'ChangeMessageVisibilityBatch']) {
      for (const [code, Entries] of cases) {
        assert.equal((await sqs.refused(action, { QueueUrl: q, Entries }))[0], `${prefix}${code}`, action);
      }
    }
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
  });
});
