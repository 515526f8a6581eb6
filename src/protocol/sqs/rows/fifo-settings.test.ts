/** Tags, permissions and dead-letter policies (tags, permissions, dead-letter-sources.test.ts) on FIFO queues, on the engine. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { redrive, reproduction as row } from '../../../../test/reports/reproduction.ts';
import { accountId, region } from '../../../../test/support/world.ts';

const FIFO = { FifoQueue: 'true' };
const url = (name: string) => `http://localhost:8080/${accountId}/${name}`;
const arn = (name: string) => `arn:aws:sqs:${region}:${accountId}:${name}`;
const allow = (policy: object) => ({ RedriveAllowPolicy: JSON.stringify(policy) });
const grant = {
  QueueUrl: 'q.fifo',
  Label: 'one',
  AWSAccountIds: ['111111111111'],
  Actions: ['SendMessage'],
};

describe('row: tags of FIFO queues', () => {
  row(
    'come with CreateQueue, over both protocols; it compares the attributes and those that are given',
    async (sqs) => {
      const first = { QueueName: 'q.fifo', Attributes: FIFO, tags: { team: 'blue' } };
      assert.deepEqual(await sqs.done('CreateQueue', first), { QueueUrl: url('q.fifo') });
      assert.deepEqual(await sqs.done('CreateQueue', first), { QueueUrl: url('q.fifo') });
      const other = await sqs.refused('CreateQueue', { ...first, tags: { team: 'red' } });
      assert.equal(other[0], 'QueueAlreadyExists');
      assert.deepEqual(await sqs.done('ListQueueTags', { QueueUrl: 'q.fifo' }), { Tags: { team: 'blue' } });
      const differs = { ...FIFO, ContentBasedDeduplication: 'true' };
      const refused = await sqs.refused('CreateQueue', { ...first, Attributes: differs });
      assert.match(String(refused[1]), /different value for attribute ContentBasedDeduplication/);
      const form = await sqs.query({
        Action: 'CreateQueue',
        QueueName: 'form.fifo',
        'Attribute.1.Name': 'FifoQueue',
        'Attribute.1.Value': 'true',
        'Tag.1.Key': 'team',
        'Tag.1.Value': 'green',
      });
      assert.equal(form.status, 200, form.xml);
      assert.deepEqual(await sqs.done('ListQueueTags', { QueueUrl: 'form.fifo' }), {
        Tags: { team: 'green' },
      });
      assert.deepEqual(await sqs.attributes('form.fifo', 'FifoQueue'), FIFO);
    },
  );

  row('make no queue when they, its name or its attributes are refused', async (sqs) => {
    const tags = { team: 'blue' };
    const bad = [
      { QueueName: 'q.fifo', Attributes: FIFO, tags: { 'aws:team': 'blue' } },
      { QueueName: 'q.fifo', tags },
      { QueueName: 'q', Attributes: FIFO, tags },
      { QueueName: 'q.fifo', Attributes: { ...FIFO, FifoThroughputLimit: 'perMessageGroupId' }, tags },
      { QueueName: 'q', Attributes: { ContentBasedDeduplication: 'true' }, tags },
    ];
    for (const request of bad) await sqs.refused('CreateQueue', request);
    assert.deepEqual(await sqs.done('ListQueues', {}), {});
  });
});

describe('row: the Policy of FIFO queues', () => {
  row(
    'is edited by AddPermission and RemovePermission and names the queue by its whole name',
    async (sqs) => {
      await sqs.create('q.fifo', FIFO);
      await sqs.done('AddPermission', grant);
      const { Policy } = await sqs.attributes('q.fifo', 'Policy');
      assert.equal(JSON.parse(Policy!).Statement[0].Resource, arn('q.fifo'));
      await sqs.done('RemovePermission', { QueueUrl: 'q.fifo', Label: 'one' });
      assert.deepEqual(await sqs.attributes('q.fifo', 'Policy', 'FifoQueue'), FIFO);
      await sqs.done('SetQueueAttributes', { QueueUrl: 'q.fifo', Attributes: { Policy: Policy! } });
      assert.deepEqual(await sqs.attributes('q.fifo', 'Policy'), { Policy });
    },
  );

  row('and tags move no delay, and forget no group in flight and no deduplication id', async (sqs) => {
    await sqs.create('q.fifo', { ...FIFO, ContentBasedDeduplication: 'true' });
    const first = await sqs.send('q.fifo', '1', { MessageGroupId: 'g' });
    await sqs.send('q.fifo', '2', { MessageGroupId: 'g' });
    await sqs.receiveOne('q.fifo');
    await sqs.done('SetQueueAttributes', { QueueUrl: 'q.fifo', Attributes: { DelaySeconds: '60' } });
    await sqs.send('q.fifo', '3', { MessageGroupId: 'h' });
    await sqs.done('AddPermission', grant);
    await sqs.done('TagQueue', { QueueUrl: 'q.fifo', Tags: { team: 'blue' } });
    assert.deepEqual(await sqs.counts('q.fifo'), ['1', '1', '1']);
    assert.deepEqual(await sqs.receive('q.fifo'), []);
    assert.equal(await sqs.send('q.fifo', '1', { MessageGroupId: 'g' }), first);
    assert.deepEqual(await sqs.counts('q.fifo'), ['1', '1', '1']);
  });
});

describe('row: FIFO dead-letter queues', () => {
  row('are told their sources, and their RedriveAllowPolicy decides on them', async (sqs) => {
    const chosen = allow({ redrivePermission: 'byQueue', sourceQueueArns: [arn('q.fifo')] });
    await sqs.create('chosen.fifo', { ...FIFO, ...chosen });
    await sqs.create('closed.fifo', { ...FIFO, ...allow({ redrivePermission: 'denyAll' }) });
    await sqs.create('q.fifo', { ...FIFO, ...redrive('chosen.fifo', 3) });
    await sqs.create('other.fifo', FIFO);
    for (const [name, target] of [
      ['other.fifo', 'chosen.fifo'],
      ['q.fifo', 'closed.fifo'],
    ] as const) {
      const Attributes = redrive(target, 3);
      const [code, message] = await sqs.refused('SetQueueAttributes', { QueueUrl: name, Attributes });
      assert.equal(code, 'InvalidParameterValue');
      assert.match(String(message), /redrive allow policy of the dead-letter queue does not allow/);
    }
    assert.deepEqual(await sqs.done('ListDeadLetterSourceQueues', { QueueUrl: 'chosen.fifo' }), {
      queueUrls: [url('q.fifo')],
    });
  });

  row(
    'are refused to standard queues for their type, whatever they allow, and the other way round',
    async (sqs) => {
      await sqs.create('dead.fifo', { ...FIFO, ...allow({ redrivePermission: 'allowAll' }) });
      await sqs.create('dead', allow({ redrivePermission: 'byQueue', sourceQueueArns: [arn('q.fifo')] }));
      for (const request of [
        { QueueName: 'q', Attributes: redrive('dead.fifo', 3) },
        { QueueName: 'q.fifo', Attributes: { ...FIFO, ...redrive('dead', 3) } },
      ]) {
        const [, message] = await sqs.refused('CreateQueue', request);
        assert.match(String(message), /Dead-letter queue must be same type of queue as the source\.$/);
      }
      assert.deepEqual(await sqs.done('ListDeadLetterSourceQueues', { QueueUrl: 'dead.fifo' }), {});
    },
  );
});
