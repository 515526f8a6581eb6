/** What SQS.md sections 2 and 4 say of FIFO queues themselves: names, attributes, their type, the in-flight limit. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeQueues, fakeQueueService } from '../../../../test/protocol-support/fake-queue-service.ts';
import { NOW_MILLIS, type Reply, sqsTestClient } from '../../../../test/protocol-support/sqs-client.ts';
import { bodies, fifo, reproduction as row } from '../../../../test/reports/reproduction.ts';
import { queueLimits } from '../../../core/limits.ts';
import type { ReceiveRequest } from '../../../engine/queue-api.ts';

const ACCOUNT = '000000000000';
const FIFO = { FifoQueue: 'true' };

function client() {
  const { call } = sqsTestClient(fakeQueueService(new FakeQueues(() => NOW_MILLIS)));
  const create = (QueueName: string, Attributes: Readonly<Record<string, unknown>> = FIFO) =>
    call('CreateQueue', { QueueName, Attributes });
  const set = (QueueUrl: string, Attributes: Readonly<Record<string, string>>) =>
    call('SetQueueAttributes', { QueueUrl, Attributes });
  const get = async (QueueUrl: string, ...AttributeNames: readonly string[]) =>
    (await call('GetQueueAttributes', { QueueUrl, AttributeNames })).body;
  return { call, create, set, get };
}

function refusedAs(reply: Reply, type: string, message: string): void {
  assert.equal(reply.status, 400);
  assert.deepEqual(reply.body, { __type: `com.amazonaws.sqs#${type}`, message });
}

describe('row: names of FIFO queues', () => {
  it('end in .fifo, which counts towards the 80 characters', async () => {
    const { create } = client();
    for (const name of ['a.fifo', 'A-b_9.fifo', `${'x'.repeat(75)}.fifo`]) {
      const reply = await create(name);
      assert.deepEqual(reply.body, { QueueUrl: `http://localhost:8080/${ACCOUNT}/${name}` });
    }
    for (const name of ['a', 'a.fif', '.fifo', 'a.b.fifo', 'a b.fifo', 'a.FIFO', `${'x'.repeat(76)}.fifo`]) {
      refusedAs(
        await create(name),
        'InvalidParameterValueException',
        'The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length.',
      );
    }
  });

  it('exactly when FifoQueue is true, in any case, also as JSON’s own', async () => {
    const { create } = client();
    for (const FifoQueue of ['true', 'True', 'TRUE', true])
      assert.equal((await create('a.fifo', { FifoQueue })).status, 200);
    for (const attributes of [{}, { FifoQueue: 'false' }, { ContentBasedDeduplication: 'true' }]) {
      const reply = await create('b.fifo', attributes);
      assert.equal(reply.body.__type, 'com.amazonaws.sqs#InvalidParameterValueException');
    }
    refusedAs(
      await create('c', { FifoQueue: 'false' }),
      'InvalidAttributeName',
      'Unknown Attribute FifoQueue.',
    );
  });
});

describe('row: attributes of FIFO queues', () => {
  it('All shows the three of them with their defaults, and that it is one', async () => {
    const { create, get } = client();
    await create('q.fifo');
    assert.deepEqual(await get('q.fifo', 'All'), {
      Attributes: {
        QueueArn: `arn:aws:sqs:us-east-1:${ACCOUNT}:q.fifo`,
        ApproximateNumberOfMessages: '0',
        ApproximateNumberOfMessagesNotVisible: '0',
        ApproximateNumberOfMessagesDelayed: '0',
        CreatedTimestamp: String(NOW_MILLIS / 1000),
        LastModifiedTimestamp: String(NOW_MILLIS / 1000),
        VisibilityTimeout: '30',
        MaximumMessageSize: '1048576',
        MessageRetentionPeriod: '345600',
        DelaySeconds: '0',
        ReceiveMessageWaitTimeSeconds: '0',
        SqsManagedSseEnabled: 'true',
        FifoQueue: 'true',
        ContentBasedDeduplication: 'false',
        DeduplicationScope: 'queue',
        FifoThroughputLimit: 'perQueue',
      },
    });
  });

  it('are set, returned in lower case where they are booleans, and compared by a second create', async () => {
    const { create, set, get } = client();
    await create('q.fifo', { ...FIFO, ContentBasedDeduplication: 'True' });
    const high = { DeduplicationScope: 'messageGroup', FifoThroughputLimit: 'perMessageGroupId' };
    assert.deepEqual((await set('q.fifo', high)).body, {});
    const all = { ContentBasedDeduplication: 'true', ...high };
    assert.deepEqual(await get('q.fifo', ...Object.keys(all)), { Attributes: all });
    assert.equal((await create('q.fifo', { ...FIFO, ...high })).status, 200);
    refusedAs(
      await create('q.fifo', { ...FIFO, ContentBasedDeduplication: 'false' }),
      'QueueNameExists',
      'A queue already exists with the same name and a different value for attribute ContentBasedDeduplication',
    );
  });

  it('of no other value', async () => {
    const { create, set } = client();
    await create('q.fifo');
    for (const [name, value] of [
      ['ContentBasedDeduplication', 'yes'],
      ['DeduplicationScope', 'Queue'],
      ['FifoThroughputLimit', 'perGroup'],
    ] as const) {
      const message = `Invalid value for the parameter ${name}.`;
      refusedAs(await set('q.fifo', { [name]: value }), 'InvalidAttributeValue', message);
      refusedAs(await create('other.fifo', { ...FIFO, [name]: value }), 'InvalidAttributeValue', message);
    }
  });

  it('the type of a queue never changes', async () => {
    const { create, set, get } = client();
    await create('q.fifo');
    refusedAs(
      await set('q.fifo', { FifoQueue: 'false' }),
      'InvalidAttributeValue',
      'Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported.',
    );
    assert.deepEqual((await set('q.fifo', FIFO)).body, {});
    assert.deepEqual(await get('q.fifo', 'FifoQueue'), { Attributes: FIFO });
    await create('q', {});
    refusedAs(await set('q', FIFO), 'InvalidAttributeName', 'Unknown Attribute FifoQueue.');
  });

  it('its dead-letter queue is a FIFO queue too', async () => {
    const { create, get } = client();
    await create('dead.fifo');
    await create('dead', {});
    const policy = (name: string) =>
      `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:${ACCOUNT}:${name}","maxReceiveCount":5}`;
    const RedrivePolicy = policy('dead.fifo');
    assert.equal((await create('q.fifo', { ...FIFO, RedrivePolicy })).status, 200);
    assert.deepEqual(await get('q.fifo', 'RedrivePolicy'), { Attributes: { RedrivePolicy } });
    for (const [name, attributes, other] of [
      ['p.fifo', FIFO, 'dead'],
      ['p', {}, 'dead.fifo'],
    ] as const) {
      refusedAs(
        await create(name, { ...attributes, RedrivePolicy: policy(other) }),
        'InvalidParameterValueException',
        `Value ${policy(other)} for parameter RedrivePolicy is invalid. Reason: Dead-letter queue must be same type of queue as the source.`,
      );
    }
  });
});

describe('row: ReceiveRequestAttemptId', () => {
  it('is checked on a FIFO queue and overlooked on a standard one', async () => {
    const requests: ReceiveRequest[] = [];
    const { call } = sqsTestClient({
      ...fakeQueueService(),
      receive: async (_name, request) => {
        requests.push(request);
        return { kind: 'done', messages: [], undelivered: async () => {} };
      },
    });
    const receive = (QueueUrl: string, ReceiveRequestAttemptId: string) =>
      call('ReceiveMessage', { QueueUrl, ReceiveRequestAttemptId });
    for (const id of ['', 'a b', 'ä', 'x'.repeat(129)]) {
      refusedAs(
        await receive('q.fifo', id),
        'InvalidParameterValueException',
        `Value ${id} for parameter ReceiveRequestAttemptId is invalid. Reason: ReceiveRequestAttemptId can only include alphanumeric and punctuation characters. 1 to 128 in length.`,
      );
      assert.deepEqual((await receive('q', id)).body, {});
    }
    assert.equal(requests.length, 4);
    assert.deepEqual((await receive('q.fifo', '~'.repeat(128))).body, {});
    assert.deepEqual(
      requests.map(({ attemptId }) => attemptId),
      [undefined, undefined, undefined, undefined, '~'.repeat(128)],
    );
  });

  row('brings the same messages and receipt handles again on a FIFO queue', async (sqs) => {
    const q = await fifo(sqs);
    for (const body of ['a', 'b', 'c']) await sqs.send(q, body, { MessageGroupId: 'g' });
    const ask = { ReceiveRequestAttemptId: 'once-more', MaxNumberOfMessages: 2 };
    const first = await sqs.receive(q, ask);
    assert.deepEqual(bodies(first), ['a', 'b']);
    assert.deepEqual(await sqs.receive(q, ask), first);
    assert.deepEqual(await sqs.receive(q, { ...ask, ReceiveRequestAttemptId: 'another' }), []);
    await sqs.delete(q, first[0]!);
    assert.deepEqual(await sqs.receive(q, ask), [], 'it is a new receive now');
  });
});

describe('row: the in-flight limit', () => {
  const limits = { ...queueLimits, inFlightMax: 2 };

  it('is 120,000', () => {
    assert.equal(queueLimits.inFlightMax, 120_000);
  });

  row(
    'of a FIFO queue just brings nothing more, of a standard one OverLimit to a short poll and nothing to a long one',
    async (sqs) => {
      const q = await fifo(sqs);
      const standard = await sqs.create('q');
      for (const group of ['a', 'b', 'c']) {
        await sqs.send(q, group, { MessageGroupId: group });
        await sqs.send(standard, group);
      }
      const ten = { MaxNumberOfMessages: 10 };
      const held = await sqs.receive(q, ten);
      assert.deepEqual(bodies(held), ['a', 'b']);
      assert.deepEqual(await sqs.receive(q, ten), []);
      await sqs.delete(q, held[0]!);
      assert.deepEqual(bodies(await sqs.receive(q, ten)), ['c']);
      assert.equal((await sqs.receive(standard, ten)).length, 2);
      const reply = await sqs.call('ReceiveMessage', { QueueUrl: standard });
      assert.equal(reply.body.__type, 'com.amazonaws.sqs#OverLimit');
      assert.deepEqual(await sqs.receive(standard, { WaitTimeSeconds: 2 }), []);
      assert.deepEqual(await sqs.receive(q, { WaitTimeSeconds: 2 }), []);
    },
    { limits },
  );
});
