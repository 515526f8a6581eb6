/** What SQS.md sections 2 and 5 promise on every node and after restarts, on the engine. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { bodies, reproduction as row, Sqs } from '../../../../test/reports/reproduction.ts';

describe('row: on every node', () => {
  row('reads after a write see it: six equal reads in a row, as Terraform wants them', async (sqs) => {
    const nodes = [sqs, new Sqs(sqs.world), new Sqs(sqs.world)];
    const q = await sqs.create('q');
    for (const node of nodes) await node.attributes(q, 'All');
    for (const [index, DelaySeconds] of ['7', '0', '900'].entries()) {
      const Attributes = { DelaySeconds, Policy: `{"Id":"${index}"}` };
      await nodes[index]!.done('SetQueueAttributes', { QueueUrl: q, Attributes });
      const reads = await Promise.all([...nodes, ...nodes].map((node) => node.attributes(q, 'All')));
      for (const { LastModifiedTimestamp, ...read } of reads) {
        assert.deepEqual({ LastModifiedTimestamp, ...read }, reads[0]);
        assert.deepEqual({ DelaySeconds: read.DelaySeconds, Policy: read.Policy }, Attributes);
      }
    }
  });

  row(
    'ListQueues and GetQueueUrl know a queue right after CreateQueue, and none that was deleted',
    async (sqs) => {
      const other = new Sqs(sqs.world);
      assert.deepEqual(await other.done('ListQueues', {}), {});
      const q = await sqs.create('q');
      assert.deepEqual(await other.done('ListQueues', {}), { QueueUrls: [q] });
      assert.deepEqual(await other.done('GetQueueUrl', { QueueName: 'q' }), { QueueUrl: q });
      await sqs.done('DeleteQueue', { QueueUrl: q });
      assert.deepEqual(await other.done('ListQueues', {}), {});
      const [code] = await other.refused('GetQueueUrl', { QueueName: 'q' });
      assert.equal(code, 'AWS.SimpleQueueService.NonExistentQueue');
    },
  );

  row('concurrent creates with equal attributes answer the same URL', async (sqs) => {
    const nodes = [sqs, new Sqs(sqs.world), new Sqs(sqs.world)];
    const body = { QueueName: 'q', Attributes: { VisibilityTimeout: '7' }, tags: { team: 'blue' } };
    const replies = await sqs.world.run(Promise.all(nodes.map((node) => node.calling('CreateQueue', body))));
    assert.deepEqual(
      replies.map(({ status, body }) => [status, body.QueueUrl]),
      nodes.map(() => [200, replies[0]?.body.QueueUrl]),
    );
  });

  row('counts are exact at the last commit', async (sqs) => {
    const other = new Sqs(sqs.world);
    const q = await sqs.create('q');
    for (const body of ['a', 'b', 'c']) await sqs.send(q, body);
    await sqs.send(q, 'd', { DelaySeconds: 9 });
    const held = await other.receiveOne(q);
    assert.deepEqual(await sqs.counts(q), ['2', '1', '1']);
    await sqs.delete(q, held);
    assert.deepEqual(await other.counts(q), ['2', '0', '1']);
  });

  row('a handle is valid, also after its node has ended', async (sqs) => {
    const q = await sqs.create('q', { VisibilityTimeout: '60' });
    for (const body of ['deleted', 'given back']) await sqs.send(q, body);
    const [first, second] = await sqs.receive(q, { MaxNumberOfMessages: 2 });
    sqs.node.kill();
    const later = new Sqs(sqs.world);
    await later.delete(q, first!);
    assert.equal((await later.changeVisibility(q, second!, 0)).status, 200);
    assert.deepEqual(bodies(await later.receive(q, { MaxNumberOfMessages: 10 })), [second!.Body]);
  });
});

describe('row: the shape of handles', () => {
  row('their + / = survive JSON, XML, forms and URLs', async (sqs) => {
    const QueueUrl = await sqs.create('q');
    const seen = new Set<string>();
    for (let number = 0; seen.size < 3; number += 1) {
      assert.ok(number < 200, 'no handle with all of them');
      await sqs.send(QueueUrl, 'x');
      const { xml } = await sqs.query({ Action: 'ReceiveMessage', QueueUrl });
      const ReceiptHandle = /<ReceiptHandle>([^<]*)<\/ReceiptHandle>/.exec(xml)?.[1] ?? '';
      assert.match(ReceiptHandle, /^[A-Za-z0-9+/]+=*$/);
      for (const character of '+/=') if (ReceiptHandle.includes(character)) seen.add(character);
      const method = number % 2 === 0 ? 'GET' : 'POST';
      const reply = await sqs.query({ Action: 'DeleteMessage', QueueUrl, ReceiptHandle }, { method });
      assert.equal(reply.status, 200, reply.xml);
      assert.deepEqual(await sqs.counts(QueueUrl), ['0', '0', '0']);
    }
  });
});

describe('row: a queue deleted and created again', () => {
  row('is another one: handles of the old one never touch it', async (sqs) => {
    const q = await sqs.create('q');
    await sqs.send(q, 'old');
    const old = await sqs.receiveOne(q);
    await sqs.done('DeleteQueue', { QueueUrl: q });
    assert.equal(await sqs.create('q', { VisibilityTimeout: '5' }), q);
    await sqs.send(q, 'new');
    const held = await sqs.receiveOne(q);
    await sqs.delete(q, old);
    const [code, message] = await sqs.refused('ChangeMessageVisibility', {
      QueueUrl: q,
      ReceiptHandle: old.ReceiptHandle,
      VisibilityTimeout: 0,
    });
    assert.equal(code, 'InvalidParameterValue');
    assert.match(String(message), /not available for visibility timeout change\.$/);
    assert.deepEqual(await sqs.counts(q), ['0', '1', '0']);
    await sqs.delete(q, held);
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
  });
});
