/** SQS.md section 9: where the promises are stricter than AWS's, on purpose; and the switch back to AWS's cool-downs. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { reproduction as row } from '../../../../test/reports/reproduction.ts';

describe('row: ours, on purpose', () => {
  row('a delete takes effect at most once; repeats answer 200', async (sqs) => {
    const q = await sqs.create('q');
    await sqs.send(q, 'x');
    const { ReceiptHandle } = await sqs.receiveOne(q);
    const Entries = ['a', 'b'].map((Id) => ({ Id, ReceiptHandle }));
    const twice = await sqs.done('DeleteMessageBatch', { QueueUrl: q, Entries });
    assert.deepEqual(twice, { Successful: [{ Id: 'a' }, { Id: 'b' }] });
    assert.deepEqual(await sqs.done('DeleteMessage', { QueueUrl: q, ReceiptHandle }), {});
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
  });

  row(
    'a handle whose message was delivered again is fenced: a delete answers 200 and changes nothing',
    async (sqs) => {
      const q = await sqs.create('q', { VisibilityTimeout: '5' });
      await sqs.send(q, 'x');
      const first = await sqs.receiveOne(q);
      await sqs.advance(6);
      const second = await sqs.receiveOne(q);
      await sqs.delete(q, first);
      assert.deepEqual(await sqs.counts(q), ['0', '1', '0']);
      const refused = await sqs.changeVisibility(q, first, 0);
      assert.match(String(refused.body.message), /not available for visibility timeout change\.$/);
      await sqs.advance(4);
      assert.deepEqual(await sqs.counts(q), ['0', '1', '0']);
      await sqs.delete(q, second);
      assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
    },
  );

  row('purge and name reuse have no 60-second window', async (sqs) => {
    const q = await sqs.create('q');
    for (let times = 0; times < 3; times += 1) {
      await sqs.send(q, 'x');
      assert.deepEqual(await sqs.done('PurgeQueue', { QueueUrl: q }), {});
      assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
      await sqs.done('DeleteQueue', { QueueUrl: q });
      assert.equal(await sqs.create('q'), q);
    }
  });

  // localstack test_successive_purge_calls_fail, recorded on AWS.
  row(
    'a switch turns the two cool-downs of AWS on',
    async (sqs) => {
      const q = await sqs.create('q');
      await sqs.done('PurgeQueue', { QueueUrl: q });
      const reply = await sqs.call('PurgeQueue', { QueueUrl: q });
      assert.equal(reply.status, 403);
      assert.equal(reply.headers['x-amzn-query-error'], 'AWS.SimpleQueueService.PurgeQueueInProgress;Sender');
      assert.equal(reply.body.message, 'Only one PurgeQueue operation on q is allowed every 60 seconds.');
      await sqs.advance(61);
      await sqs.done('PurgeQueue', { QueueUrl: q });
      await sqs.done('DeleteQueue', { QueueUrl: q });
      assert.deepEqual(await sqs.refused('CreateQueue', { QueueName: 'q' }), [
        'AWS.SimpleQueueService.QueueDeletedRecently',
        'You must wait 60 seconds after deleting a queue before you can create another with the same name.',
      ]);
      await sqs.advance(61);
      assert.equal(await sqs.create('q'), q);
    },
    { cooldowns: true },
  );
});
