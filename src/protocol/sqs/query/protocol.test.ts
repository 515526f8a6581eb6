import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { XMLValidator } from 'fast-xml-parser';
import { FakeQueues, fakeQueueService } from '../../../../test/protocol-support/fake-queue-service.ts';
import { query } from '../../../../test/protocol-support/query-client.ts';
import { NOW_MILLIS, sqsTestClient } from '../../../../test/protocol-support/sqs-client.ts';
import { actions } from '../actions/index.ts';

describe('the query protocol', () => {
  it('answers any form to any action in XML that can be read, without a 500', async () => {
    const part = fc.constantFrom(
      ...[
        'QueueUrl',
        'QueueName',
        'MessageBody',
        'Attribute',
        'AttributeName',
        'MessageAttribute',
        'Name',
        'Value',
      ],
      ...[
        'SendMessageBatchRequestEntry',
        'DeleteMessageBatchRequestEntry',
        'Id',
        'ReceiptHandle',
        'NextToken',
      ],
      ...[
        'MessageAttributeName',
        'VisibilityTimeout',
        'MaxNumberOfMessages',
        'DelaySeconds',
        'DataType',
        'Tag',
      ],
      ...[
        'StringValue',
        'BinaryValue',
        'MaxResults',
        'MessageSystemAttribute',
        '1',
        '2',
        '10',
        'Version',
        '',
        '__proto__',
      ],
    );
    const name = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.'));
    const value = fc.oneof(
      fc.constantFrom('q', 'String', 'Binary', 'AAAAAAAA', 'All', '', '1', '-1', '2012-11-05'),
      fc.string({ unit: 'binary', maxLength: 8 }),
    );
    const { handler, logged, call } = sqsTestClient(fakeQueueService(new FakeQueues(() => NOW_MILLIS)));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...actions.keys()),
        fc.dictionary(name, value, { maxKeys: 10 }),
        fc.boolean(),
        async (Action, fields, inUrl) => {
          await call('CreateQueue', { QueueName: 'q' });
          await call('SendMessage', { QueueUrl: 'q', MessageBody: 'x' });
          const reply = await query(
            handler,
            { QueueUrl: 'q', ...fields, Action },
            inUrl ? { method: 'GET' } : {},
          );
          assert.ok(reply.status === 200 || /<Type>Sender<\/Type>/.test(reply.xml), reply.xml);
          assert.equal(XMLValidator.validate(reply.xml), true);
          assert.doesNotMatch(reply.xml, /[^\t\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u);
        },
      ),
      { numRuns: 150 },
    );
    assert.deepEqual(logged, []);
  });

  it('reads no parameters out of a JSON body whose target and type were taken away', async () => {
    const { handler, call } = sqsTestClient(fakeQueueService(new FakeQueues(() => NOW_MILLIS)));
    await call('CreateQueue', { QueueName: 'q' });
    const body = JSON.stringify({ MessageBody: '&Action=PurgeQueue&QueueUrl=q&' });
    const reply = await query(handler, {}, { body });
    assert.deepEqual([reply.status, reply.xml], [404, '<UnknownOperationException/>']);
  });
});
