/** ListDeadLetterSourceQueues and RedriveAllowPolicy (SQS.md sections 2 and 8), over both protocols, on the engine. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeQueueService } from '../../../../test/protocol-support/fake-queue-service.ts';
import { sqsTestClient } from '../../../../test/protocol-support/sqs-client.ts';
import { redrive, reproduction as row, Sqs } from '../../../../test/reports/reproduction.ts';
import { accountId, region } from '../../../../test/support/world.ts';

const url = (name: string) => `http://localhost:8080/${accountId}/${name}`;
const arn = (name: string) => `arn:aws:sqs:${region}:${accountId}:${name}`;

describe('row: ListDeadLetterSourceQueues', () => {
  row('answers queueUrls, with a small letter, in name order; none is no key', async (sqs) => {
    const QueueUrl = await sqs.create('dlq');
    assert.deepEqual(await sqs.done('ListDeadLetterSourceQueues', { QueueUrl }), {});
    for (const name of ['b', 'a']) await sqs.create(name, redrive('dlq', 3));
    await sqs.create('c');
    assert.deepEqual(await sqs.done('ListDeadLetterSourceQueues', { QueueUrl }), {
      queueUrls: [url('a'), url('b')],
    });
    const at = { path: `/${accountId}/dlq` };
    assert.deepEqual(await sqs.done('ListDeadLetterSourceQueues', {}, at), {
      queueUrls: [url('a'), url('b')],
    });
  });

  row('follows policies set and removed by SetQueueAttributes, through another node as well', async (sqs) => {
    const other = new Sqs(sqs.world);
    await sqs.create('dlq');
    await sqs.create('q');
    const set = (Attributes: object) => sqs.done('SetQueueAttributes', { QueueUrl: 'q', Attributes });
    await set(redrive('dlq', 3));
    assert.deepEqual(await other.done('ListDeadLetterSourceQueues', { QueueUrl: 'dlq' }), {
      queueUrls: [url('q')],
    });
    await set({ RedrivePolicy: '' });
    assert.deepEqual(await other.done('ListDeadLetterSourceQueues', { QueueUrl: 'dlq' }), {});
  });

  row('pages as ListQueues does: a NextToken only with MaxResults and only when more remain', async (sqs) => {
    await sqs.create('dlq');
    for (const name of ['a', 'b', 'c']) await sqs.create(name, redrive('dlq', 3));
    const list = (more: object) => sqs.done('ListDeadLetterSourceQueues', { QueueUrl: 'dlq', ...more });
    const first = await list({ MaxResults: 2 });
    assert.deepEqual(first.queueUrls, [url('a'), url('b')]);
    assert.deepEqual(await list({ MaxResults: 2, NextToken: first.NextToken }), { queueUrls: [url('c')] });
    assert.deepEqual(await list({ NextToken: first.NextToken }), { queueUrls: [url('c')] });
    assert.equal('NextToken' in (await list({ MaxResults: 3 })), false);
    assert.equal('NextToken' in (await list({})), false);
    for (const MaxResults of [0, 1001])
      assert.deepEqual(await sqs.refused('ListDeadLetterSourceQueues', { QueueUrl: 'dlq', MaxResults }), [
        'InvalidParameterValue',
        'Value for parameter MaxResults is invalid. Reason: MaxResults must be an integer between 1 and 1000.',
      ]);
    const bad = { QueueUrl: 'dlq', MaxResults: 2, NextToken: '!' };
    assert.equal((await sqs.refused('ListDeadLetterSourceQueues', bad))[0], 'InvalidParameterValue');
    assert.equal(
      (await sqs.refused('ListDeadLetterSourceQueues', { QueueUrl: 'none' }))[0],
      'AWS.SimpleQueueService.NonExistentQueue',
    );
  });

  it('that ends early gives a token to go on by, or without MaxResults a 503', async () => {
    const fake = fakeQueueService();
    const { call } = sqsTestClient({
      ...fake,
      deadLetterSources: async () => ({ kind: 'sources', names: [], resumeAfter: 'q7', endedEarly: true }),
    });
    const paged = await call('ListDeadLetterSourceQueues', { QueueUrl: 'q', MaxResults: 5 });
    assert.deepEqual(paged.body, { NextToken: btoa('q7') });
    const whole = await call('ListDeadLetterSourceQueues', { QueueUrl: 'q' });
    assert.deepEqual([whole.status, whole.headers['retry-after']], [503, '1']);
    assert.match(String(whole.body.message), /ask for pages with MaxResults/);
  });

  // boto boto3#2995: the answer of AWS when there are none, recorded.
  row('over the query protocol: QueueUrl elements, or an empty Result', async (sqs) => {
    await sqs.create('dlq');
    const list = { Action: 'ListDeadLetterSourceQueues', QueueUrl: url('dlq'), MaxResults: 1 };
    const none = await sqs.query(list);
    assert.match(none.xml, /<ListDeadLetterSourceQueuesResult\/><ResponseMetadata>/);
    for (const name of ['a', 'b']) await sqs.create(name, redrive('dlq', 3));
    const some = await sqs.query(list);
    assert.ok(
      some.xml.includes(
        `<ListDeadLetterSourceQueuesResult><QueueUrl>${url('a')}</QueueUrl><NextToken>${btoa('a')}</NextToken></ListDeadLetterSourceQueuesResult>`,
      ),
      some.xml,
    );
  });
});

describe('row: RedriveAllowPolicy', () => {
  const allow = (policy: object) => ({ RedriveAllowPolicy: JSON.stringify(policy) });

  row('is stored and returned, and refused when it is of no known form', async (sqs) => {
    const policy = { redrivePermission: 'byQueue', sourceQueueArns: [arn('q')] };
    await sqs.create('dlq', allow(policy));
    assert.deepEqual(await sqs.attributes('dlq', 'RedriveAllowPolicy'), allow(policy));
    const cannot = "Reason: Amazon SQS can't create the redrive allow policy";
    const eleven = { redrivePermission: 'byQueue', sourceQueueArns: Array(11).fill(arn('q')) };
    for (const [bad, code, words] of [
      [
        { redrivePermission: 'some' },
        'InvalidAttributeValue',
        `${cannot}, as it’s in an unsupported format.`,
      ],
      [
        eleven,
        'InvalidParameterValue',
        `${cannot}. The maximum number of source queue ARNs you can specify is 10.`,
      ],
      [
        { ...policy, redrivePermission: 'denyAll' },
        'InvalidParameterValue',
        `${cannot}. To specify one or more source queue ARNs, you must set redrivePermission to byQueue.`,
      ],
    ] as const) {
      const refused = await sqs.refused('SetQueueAttributes', { QueueUrl: 'dlq', Attributes: allow(bad) });
      assert.equal(refused[0], code);
      assert.ok(String(refused[1]).endsWith(words), String(refused[1]));
    }
  });

  row('decides whether a source may name its queue', async (sqs) => {
    await sqs.create('closed', allow({ redrivePermission: 'denyAll' }));
    await sqs.create('chosen', allow({ redrivePermission: 'byQueue', sourceQueueArns: [arn('q')] }));
    await sqs.create('q', redrive('chosen', 3));
    await sqs.create('other');
    for (const [name, target] of [
      ['other', 'chosen'],
      ['q', 'closed'],
    ] as const) {
      const Attributes = redrive(target, 3);
      const expected = [
        'InvalidParameterValue',
        `Value ${Attributes.RedrivePolicy} for parameter RedrivePolicy is invalid. Reason: The redrive allow policy of the dead-letter queue does not allow this source queue.`,
      ];
      assert.deepEqual(await sqs.refused('SetQueueAttributes', { QueueUrl: name, Attributes }), expected);
      assert.deepEqual(await sqs.refused('CreateQueue', { QueueName: `new-${name}`, Attributes }), expected);
    }
    assert.deepEqual(await sqs.done('ListDeadLetterSourceQueues', { QueueUrl: 'chosen' }), {
      queueUrls: [url('q')],
    });
  });
});
