import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeQueueService } from '../../../test/protocol-support/fake-queue-service.ts';
import { sqsTestClient } from '../../../test/protocol-support/sqs-client.ts';

describe('the SQS handler', () => {
  it('carries a message from send to delete', async () => {
    const { call, logged } = sqsTestClient(fakeQueueService());
    const created = await call('CreateQueue', { QueueName: 'q' });
    assert.deepEqual(created.body, { QueueUrl: 'http://localhost:8080/000000000000/q' });
    const QueueUrl = created.body.QueueUrl;
    const sent = await call('SendMessage', { QueueUrl, MessageBody: 'hello 🎉' });
    assert.equal(sent.status, 200);
    const received = await call('ReceiveMessage', { QueueUrl });
    const [message] = received.body.Messages as Record<string, string>[];
    assert.equal(message?.Body, 'hello 🎉');
    assert.equal(message?.MessageId, sent.body.MessageId);
    const deleted = await call('DeleteMessage', { QueueUrl, ReceiptHandle: message?.ReceiptHandle });
    assert.equal(deleted.raw.body, '{}');
    assert.deepEqual(logged, []);
  });
});
