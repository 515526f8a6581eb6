/**
 * SQS.md section 2, row by row. Ranges and defaults of single attributes: core/queue-attributes.test.ts.
 * Over 300 lines, since a section has as many rows and they are looked up by it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeQueues, fakeQueueService } from '../../../../test/protocol-support/fake-queue-service.ts';
import { NOW_MILLIS, sqsTestClient } from '../../../../test/protocol-support/sqs-client.ts';

const ACCOUNT = '000000000000';

function client(overrides: Parameters<typeof sqsTestClient>[1] = {}) {
  return sqsTestClient(fakeQueueService(new FakeQueues(() => NOW_MILLIS)), overrides);
}

describe('row: queue URLs', () => {
  it('are scheme, the Host the caller used, account and name', async () => {
    const { call } = client();
    for (const host of ['localhost:8080', '127.0.0.1:9', 'sqs.internal']) {
      const reply = await call('CreateQueue', { QueueName: 'q' }, { host });
      assert.equal(reply.body.QueueUrl, `http://${host}/${ACCOUNT}/q`);
    }
  });

  it('take the configured public base', async () => {
    const { call } = client({ publicUrl: 'https://sqs.example.org/' });
    assert.equal(
      (await call('CreateQueue', { QueueName: 'q' })).body.QueueUrl,
      `https://sqs.example.org/${ACCOUNT}/q`,
    );
  });

  it('are resolved by their path alone, or are a bare name', async () => {
    const { call } = client();
    await call('CreateQueue', { QueueName: 'q' });
    const ours = [
      `http://localhost:8080/${ACCOUNT}/q`,
      `https://elsewhere.example.org:1/${ACCOUNT}/q/`,
      `https://sqs.us-east-1.amazonaws.com/${ACCOUNT}/q?x=1#y`,
      `/${ACCOUNT}/q`,
      'q',
    ];
    for (const QueueUrl of ours) {
      const reply = await call('GetQueueAttributes', { QueueUrl, AttributeNames: ['QueueArn'] });
      assert.deepEqual(
        reply.body,
        { Attributes: { QueueArn: `arn:aws:sqs:us-east-1:${ACCOUNT}:q` } },
        QueueUrl,
      );
    }
    const others = [
      'http://localhost:8080/123456789012/q',
      `http://localhost:8080/${ACCOUNT}/q/more`,
      `http://localhost:8080/more/${ACCOUNT}/q`,
      'http://localhost:8080/q',
      'http://localhost:8080',
      'not a name',
      `/${ACCOUNT}/..`,
    ];
    for (const QueueUrl of others) {
      const reply = await call('GetQueueAttributes', { QueueUrl, AttributeNames: ['QueueArn'] });
      assert.equal(reply.body.__type, 'com.amazonaws.sqs#QueueDoesNotExist', QueueUrl);
    }
  });

  it('POST to / and to the path of the queue both work', async () => {
    const { call } = client();
    await call('CreateQueue', { QueueName: 'q' });
    const body = { MessageBody: 'x' };
    assert.equal((await call('SendMessage', body, { path: `/${ACCOUNT}/q` })).status, 200);
    const both = { QueueUrl: `http://localhost:8080/${ACCOUNT}/q`, ...body };
    assert.equal((await call('SendMessage', both, { path: `/${ACCOUNT}/q` })).status, 200);
    assert.equal((await call('SendMessage', both)).status, 200);
  });
});

describe('row: names', () => {
  it('are 1–80 of alphanumerics, - and _', async () => {
    const { call } = client();
    for (const QueueName of ['a', 'A-b_9', 'x'.repeat(80)]) {
      assert.equal((await call('CreateQueue', { QueueName })).status, 200, QueueName);
    }
    for (const QueueName of ['', 'a b', 'a.b', 'ä', 'x'.repeat(81), 'a/b', 'q.fifo', 'q\n']) {
      const reply = await call('CreateQueue', { QueueName });
      assert.equal(reply.body.__type, 'com.amazonaws.sqs#InvalidParameterValueException', QueueName);
      assert.equal(
        reply.body.message,
        'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length',
      );
    }
  });

  it('end in .fifo exactly when FifoQueue is true', async () => {
    const { call } = client();
    const reply = await call('CreateQueue', { QueueName: 'q', Attributes: { FifoQueue: 'true' } });
    assert.equal(reply.body.__type, 'com.amazonaws.sqs#InvalidParameterValueException');
    assert.match(String(reply.body.message), /must end with \.fifo suffix/);
  });
});

describe('row: CreateQueue', () => {
  it('compares only the attributes it was given; equal means the same URL', async () => {
    const { call } = client();
    const first = await call('CreateQueue', {
      QueueName: 'q',
      Attributes: { DelaySeconds: '5', VisibilityTimeout: '9' },
    });
    for (const Attributes of [undefined, {}, { DelaySeconds: '5' }, { MessageRetentionPeriod: '345600' }]) {
      assert.deepEqual((await call('CreateQueue', { QueueName: 'q', Attributes })).body, first.body);
    }
  });

  it('refuses unknown and FIFO attributes by name', async () => {
    const { call } = client();
    const cases: readonly (readonly [object, string])[] = [
      [{ X: '1' }, 'Unknown Attribute X.'],
      [{ FifoQueue: 'false' }, 'Unknown Attribute FifoQueue.'],
      [{ ContentBasedDeduplication: 'true' }, 'Unknown Attribute ContentBasedDeduplication.'],
      [
        { DeduplicationScope: 'queue' },
        'You can specify the DeduplicationScope only when FifoQueue is set to true.',
      ],
      [
        { FifoThroughputLimit: 'perQueue' },
        'You can specify the FifoThroughputLimit only when FifoQueue is set to true.',
      ],
    ];
    for (const [Attributes, message] of cases) {
      const reply = await call('CreateQueue', { QueueName: 'q', Attributes });
      assert.deepEqual(reply.body, { __type: 'com.amazonaws.sqs#InvalidAttributeName', message });
    }
  });

  it('takes attribute values that are JSON numbers and booleans as their text', async () => {
    const { call } = client();
    await call('CreateQueue', {
      QueueName: 'q',
      Attributes: { DelaySeconds: 5, SqsManagedSseEnabled: false },
    });
    const reply = await call('GetQueueAttributes', {
      QueueUrl: 'q',
      AttributeNames: ['DelaySeconds', 'SqsManagedSseEnabled'],
    });
    assert.deepEqual(reply.body, { Attributes: { DelaySeconds: '5', SqsManagedSseEnabled: 'false' } });
  });
});

describe('row: attributes', () => {
  it('out of range is InvalidAttributeValue, in a create and in a set', async () => {
    const { call } = client();
    await call('CreateQueue', { QueueName: 'q' });
    const Attributes = { VisibilityTimeout: '43201' };
    for (const reply of [
      await call('CreateQueue', { QueueName: 'other', Attributes }),
      await call('SetQueueAttributes', { QueueUrl: 'q', Attributes }),
    ]) {
      assert.deepEqual(reply.body, {
        __type: 'com.amazonaws.sqs#InvalidAttributeValue',
        message: 'Invalid value for the parameter VisibilityTimeout.',
      });
    }
  });

  it('"" removes RedrivePolicy, Policy and RedriveAllowPolicy', async () => {
    const { call } = client();
    await call('CreateQueue', { QueueName: 'dead' });
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: `arn:aws:sqs:us-east-1:${ACCOUNT}:dead`,
      maxReceiveCount: '5',
    });
    const full = { RedrivePolicy, Policy: '{}', RedriveAllowPolicy: '{"redrivePermission":"denyAll"}' };
    await call('CreateQueue', { QueueName: 'q', Attributes: full });
    const read = async () =>
      (await call('GetQueueAttributes', { QueueUrl: 'q', AttributeNames: Object.keys(full) })).body;
    assert.deepEqual(await read(), {
      Attributes: {
        Policy: '{}',
        RedrivePolicy: `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:${ACCOUNT}:dead","maxReceiveCount":5}`,
        RedriveAllowPolicy: '{"redrivePermission":"denyAll"}',
      },
    });
    await call('SetQueueAttributes', {
      QueueUrl: 'q',
      Attributes: { RedrivePolicy: '', Policy: '', RedriveAllowPolicy: '' },
    });
    assert.deepEqual(await read(), {});
  });

  it('RedrivePolicy: the DLQ must exist', async () => {
    const { call } = client();
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: `arn:aws:sqs:us-east-1:${ACCOUNT}:none`,
      maxReceiveCount: 5,
    });
    const reply = await call('CreateQueue', { QueueName: 'q', Attributes: { RedrivePolicy } });
    assert.deepEqual(reply.body, {
      __type: 'com.amazonaws.sqs#InvalidParameterValueException',
      message: `Value ${RedrivePolicy} for parameter RedrivePolicy is invalid. Reason: Dead letter target does not exist.`,
    });
  });
});

describe('row: GetQueueAttributes', () => {
  it('All has ARN, timestamps in seconds and the three counts', async () => {
    const { call } = client();
    await call('CreateQueue', { QueueName: 'q' });
    for (const [MessageBody, DelaySeconds] of [
      ['a', 0],
      ['b', 0],
      ['c', 9],
    ]) {
      await call('SendMessage', { QueueUrl: 'q', MessageBody, DelaySeconds });
    }
    await call('ReceiveMessage', { QueueUrl: 'q' });
    const reply = await call('GetQueueAttributes', { QueueUrl: 'q', AttributeNames: ['All'] });
    assert.deepEqual(reply.body.Attributes, {
      QueueArn: `arn:aws:sqs:us-east-1:${ACCOUNT}:q`,
      ApproximateNumberOfMessages: '1',
      ApproximateNumberOfMessagesNotVisible: '1',
      ApproximateNumberOfMessagesDelayed: '1',
      CreatedTimestamp: String(NOW_MILLIS / 1000),
      LastModifiedTimestamp: String(NOW_MILLIS / 1000),
      VisibilityTimeout: '30',
      MaximumMessageSize: '1048576',
      MessageRetentionPeriod: '345600',
      DelaySeconds: '0',
      ReceiveMessageWaitTimeSeconds: '0',
      SqsManagedSseEnabled: 'true',
    });
  });

  it('counts are there whenever they are asked for', async () => {
    const { call } = client();
    await call('CreateQueue', { QueueName: 'q' });
    const names = ['', 'NotVisible', 'Delayed'].map((suffix) => `ApproximateNumberOfMessages${suffix}`);
    const reply = await call('GetQueueAttributes', { QueueUrl: 'q', AttributeNames: names });
    assert.deepEqual(reply.body.Attributes, Object.fromEntries(names.map((name) => [name, '0'])));
  });

  it('refuses FIFO-only and unknown names', async () => {
    const { call } = client();
    await call('CreateQueue', { QueueName: 'q' });
    for (const name of [
      'FifoQueue',
      'ContentBasedDeduplication',
      'DeduplicationScope',
      'Nope',
      '__proto__',
    ]) {
      const reply = await call('GetQueueAttributes', { QueueUrl: 'q', AttributeNames: [name] });
      assert.deepEqual(reply.body, {
        __type: 'com.amazonaws.sqs#InvalidAttributeName',
        message: `Unknown Attribute ${name}.`,
      });
    }
  });
});

describe('row: ListQueues', () => {
  async function withQueues() {
    const { call } = client();
    for (const QueueName of ['b', 'a3', 'A1', 'a1', 'a2']) await call('CreateQueue', { QueueName });
    const names = (body: Readonly<Record<string, unknown>>) =>
      (body.QueueUrls as string[] | undefined)?.map((url) => url.split('/').at(-1));
    return { call, names };
  }

  it('goes in name order, the prefix is case sensitive, and without MaxResults there is no NextToken', async () => {
    const { call, names } = await withQueues();
    const all = await call('ListQueues', {});
    assert.deepEqual(names(all.body), ['A1', 'a1', 'a2', 'a3', 'b']);
    assert.equal('NextToken' in all.body, false);
    assert.deepEqual(names((await call('ListQueues', { QueueNamePrefix: 'a' })).body), ['a1', 'a2', 'a3']);
  });

  it('without MaxResults goes up to 1000 and never gives a NextToken; with it the 1001st is on the next page', async () => {
    const { call } = client();
    for (let number = 0; number <= 1000; number += 1) await call('CreateQueue', { QueueName: `q${number}` });
    const all = await call('ListQueues', {});
    assert.equal((all.body.QueueUrls as string[]).length, 1000);
    assert.deepEqual(Object.keys(all.body), ['QueueUrls']);
    const { NextToken } = (await call('ListQueues', { MaxResults: 1000 })).body;
    const rest = await call('ListQueues', { MaxResults: 1000, NextToken });
    assert.deepEqual(rest.body, { QueueUrls: [`http://localhost:8080/${ACCOUNT}/q999`] });
  });

  it('a prefix that no name can have finds nothing, and is not asked of the store', async () => {
    const listQueues = () => Promise.reject(new Error('asked'));
    const { call } = sqsTestClient({ ...fakeQueueService(), listQueues });
    for (const QueueNamePrefix of ['a/', '../', 'ä', 'a b', '\u0000', 'x'.repeat(81)]) {
      assert.deepEqual((await call('ListQueues', { QueueNamePrefix })).raw.body, '{}');
    }
  });

  it('gives a NextToken only when more remain', async () => {
    const { call, names } = await withQueues();
    const first = await call('ListQueues', { QueueNamePrefix: 'a', MaxResults: 2 });
    assert.deepEqual(names(first.body), ['a1', 'a2']);
    const second = await call('ListQueues', {
      QueueNamePrefix: 'a',
      MaxResults: 2,
      NextToken: first.body.NextToken,
    });
    assert.deepEqual(names(second.body), ['a3']);
    assert.equal('NextToken' in second.body, false);
    assert.equal(
      'NextToken' in (await call('ListQueues', { QueueNamePrefix: 'a', MaxResults: 3 })).body,
      false,
    );
  });

  it('refuses MaxResults outside 1–1000 and tokens that are none', async () => {
    const { call } = await withQueues();
    for (const MaxResults of [0, 1001, -1]) {
      const reply = await call('ListQueues', { MaxResults });
      assert.equal(
        reply.body.message,
        'Value for parameter MaxResults is invalid. Reason: MaxResults must be an integer between 1 and 1000.',
      );
    }
    for (const NextToken of ['', '!', 'AAAA']) {
      const reply = await call('ListQueues', { NextToken });
      assert.equal(reply.body.__type, 'com.amazonaws.sqs#InvalidParameterValueException');
    }
  });
});

describe('row: GetQueueUrl', () => {
  it('answers for our account only', async () => {
    const { call } = client();
    await call('CreateQueue', { QueueName: 'q' });
    const url = { QueueUrl: `http://localhost:8080/${ACCOUNT}/q` };
    assert.deepEqual((await call('GetQueueUrl', { QueueName: 'q' })).body, url);
    assert.deepEqual(
      (await call('GetQueueUrl', { QueueName: 'q', QueueOwnerAWSAccountId: ACCOUNT })).body,
      url,
    );
    for (const body of [{ QueueName: 'q', QueueOwnerAWSAccountId: '123456789012' }, { QueueName: 'a b' }]) {
      assert.equal((await call('GetQueueUrl', body)).body.__type, 'com.amazonaws.sqs#QueueDoesNotExist');
    }
  });
});
