import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FakeQueues, fakeQueueService } from '../../../test/protocol-support/fake-queue-service.ts';
import { NOW_MILLIS, sqsTestClient } from '../../../test/protocol-support/sqs-client.ts';
import { actions } from './actions/index.ts';
import { createSqsHandler } from './handler.ts';
import { jsonTargetOf, parseRequest } from './request.ts';
import { webCryptoDigests } from './web-crypto-digest.ts';

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

  it('does no other action for the holder of a presigned URL, whatever headers come with it', async () => {
    const { call, callPresigned } = sqsTestClient(fakeQueueService());
    await call('CreateQueue', { QueueName: 'q' });
    await call('SendMessage', { QueueUrl: 'q', MessageBody: 'kept' });
    const body = { QueueUrl: 'q', AttributeNames: ['ApproximateNumberOfMessages'] };
    const headers = { 'x-amz-target': 'AmazonSQS.PurgeQueue' };
    const reply = await callPresigned('GetQueueAttributes', body, headers);
    assert.deepEqual(reply.body, { Attributes: { ApproximateNumberOfMessages: '1' } });
    const after = await callPresigned('GetQueueAttributes', body);
    assert.deepEqual(after.body, { Attributes: { ApproximateNumberOfMessages: '1' } });
  });

  it('has all actions of SQS', () => {
    assert.equal(actions.size, 23);
  });

  it('shows the sender of the credential, or else the account', async () => {
    const { call } = sqsTestClient(fakeQueueService(), {
      credentialOf: () => ({ secretAccessKey: 'b2t1cmkvdGVzdCtzZWNyZXQ=', senderId: 'AIDAWORKER' }),
    });
    await call('CreateQueue', { QueueName: 'q' });
    await call('SendMessage', { QueueUrl: 'q', MessageBody: 'x' });
    const received = await call('ReceiveMessage', { QueueUrl: 'q', AttributeNames: ['SenderId'] });
    const [message] = received.body.Messages as { Attributes: object }[];
    assert.deepEqual(message?.Attributes, { SenderId: 'AIDAWORKER' });
  });

  it('gives back quietly: a failure to do so is told to the log and not thrown', async () => {
    const fake = fakeQueueService(new FakeQueues(() => NOW_MILLIS));
    const error = new Error('store down');
    const { call, logged } = sqsTestClient({
      ...fake,
      receive: async (name, request) => {
        const outcome = await fake.receive(name, request);
        return outcome.kind === 'done' ? { ...outcome, undelivered: () => Promise.reject(error) } : outcome;
      },
    });
    await call('CreateQueue', { QueueName: 'q' });
    await call('SendMessage', { QueueUrl: 'q', MessageBody: 'x' });
    await (await call('ReceiveMessage', { QueueUrl: 'q' })).raw.undelivered?.();
    assert.deepEqual(
      logged.map((line) => line.error),
      [error],
    );
  });

  it('refuses bytes of any kind without a 500 and without throwing', async () => {
    const logged: unknown[] = [];
    const handler = createSqsHandler({
      service: fakeQueueService(),
      credentialOf: () => ({ secretAccessKey: 'x' }),
      digests: webCryptoDigests,
      accountId: '000000000000',
      region: 'us-east-1',
      trustProxy: true,
      nowMillis: () => NOW_MILLIS,
      requestId: () => 'r',
      log: (_message, fields) => logged.push(fields),
    });
    const names = ['host', 'authorization', 'x-amz-date', 'date', 'x-amz-target', 'x-forwarded-host', 'x'];
    const credential =
      'AWS4-HMAC-SHA256 Credential=a/20260830/r/sqs/aws4_request, SignedHeaders=host, Signature=0';
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('20260830T123600Z', credential));
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          method: fc.string(),
          target: fc.oneof(
            fc.string({ unit: 'binary' }),
            fc.webPath({ size: 'small' }),
            fc.constant('/?X-Amz-Algorithm=%'),
          ),
          headers: fc.array(fc.tuple(fc.constantFrom(...names), text)),
          body: fc.uint8Array(),
        }),
        async (request) => {
          const answer = await handler({ ...request, signal: new AbortController().signal });
          assert.ok(answer.status >= 400 && answer.status < 500);
        },
      ),
    );
    assert.deepEqual(logged, []);
  });

  it('answers any JSON to any action without a 500', async () => {
    const members = [
      ...[
        'QueueUrl',
        'QueueName',
        'MessageBody',
        'Entries',
        'Attributes',
        'AttributeNames',
        'MessageAttributes',
      ],
      ...[
        'MessageAttributeNames',
        'ReceiptHandle',
        'VisibilityTimeout',
        'MaxNumberOfMessages',
        'DelaySeconds',
      ],
      ...[
        'Id',
        'StringValue',
        'BinaryValue',
        'DataType',
        'NextToken',
        'MaxResults',
        'MessageSystemAttributes',
        'a',
      ],
      ...['Tags', 'tags', 'TagKeys', 'Label', 'AWSAccountIds', 'Actions'],
    ];
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(
          'q',
          'String',
          'Number',
          'Binary',
          'AAAAAAAA',
          'All',
          null,
          true,
          1,
          -1,
          1.5,
          1e300,
        ),
        fc.string({ unit: 'binary', maxLength: 10 }),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...members), tie('value'), { maxKeys: 6 }),
      ),
    }));
    const body = fc.dictionary(fc.constantFrom(...members), value, { maxKeys: 8 });
    const { call, logged } = sqsTestClient(fakeQueueService(new FakeQueues(() => NOW_MILLIS)));
    const setUp = async () => {
      await call('CreateQueue', { QueueName: 'q' });
      await call('SendMessage', { QueueUrl: 'q', MessageBody: 'x' });
    };
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...actions.keys()), body, async (action, request) => {
        await setUp();
        const reply = await call(action, { QueueUrl: 'q', ...request });
        assert.ok(reply.status === 200 || reply.headers['x-amzn-query-error']?.endsWith(';Sender'));
      }),
      { numRuns: 400 },
    );
    assert.deepEqual(logged, []);
  });
});

describe('the head of a request', () => {
  const head = (headers: Record<string, string>, trustProxy: boolean, target = '/') =>
    parseRequest(
      {
        method: 'POST',
        target,
        headers: Object.entries(headers),
      },
      trustProxy,
    );

  it('tells URLs by the forwarded scheme and host, of a trusted proxy only', () => {
    const headers = {
      host: 'inner:8080',
      'x-forwarded-host': 'sqs.example.org',
      'x-forwarded-proto': 'https, http',
    };
    assert.equal(head(headers, true).baseUrl, 'https://sqs.example.org');
    assert.equal(head(headers, false).baseUrl, 'http://inner:8080');
    assert.deepEqual(head(headers, false).hosts, ['inner:8080']);
  });

  it('finds the target in the header and in the query', () => {
    const both = head({ 'x-amz-target': 'AmazonSQS.A' }, false, '/?X-Amz-Target=AmazonSQS.B&x=1');
    assert.deepEqual(both.jsonTarget, { header: 'AmazonSQS.A', query: 'AmazonSQS.B' });
    assert.deepEqual(head({}, false, '?').jsonTarget, { header: undefined, query: undefined });
  });

  it('lets only a signed target of a presigned URL count', () => {
    const target = { header: 'AmazonSQS.A', query: 'AmazonSQS.B' };
    const alone = { header: 'AmazonSQS.A', query: undefined };
    const unsigned = { presigned: true, signedHeaders: ['host'], namesAction: false };
    const signed = { ...unsigned, signedHeaders: ['host', 'x-amz-target'] };
    assert.equal(jsonTargetOf(target, unsigned), 'AmazonSQS.B');
    assert.equal(jsonTargetOf(alone, unsigned), undefined);
    assert.equal(jsonTargetOf(alone, signed), 'AmazonSQS.A');
    assert.equal(jsonTargetOf(target, { ...unsigned, presigned: false }), 'AmazonSQS.A');
  });

  it('lets no unsigned target stand against an action in the signed URL', () => {
    const alone = { header: 'AmazonSQS.A', query: undefined };
    const bare = { presigned: false, signedHeaders: ['host'], namesAction: true };
    assert.equal(jsonTargetOf(alone, bare), undefined);
    assert.equal(jsonTargetOf(alone, { ...bare, signedHeaders: ['host', 'x-amz-target'] }), 'AmazonSQS.A');
  });
});
