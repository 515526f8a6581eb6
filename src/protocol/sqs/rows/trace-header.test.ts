/** SQS.md sections 3 and 4 on AWSTraceHeader, over both protocols, on the engine. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { redrive, reproduction as row, type Sqs, text } from '../../../../test/reports/reproduction.ts';

const TRACE = 'Root=1-3152b799-8954dae64eda91bc9a23a7e8;Parent=7fa8c0f79203be72;Sampled=1';
const OTHER = 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=0';
const HEADER = { unsigned: { 'X-Amzn-Trace-Id': TRACE } };
const attribute = (trace: string) => ({ MessageSystemAttributes: { AWSTraceHeader: text(trace) } });

/** By body. */
async function traces(sqs: Sqs, QueueUrl: string, names: object = { AttributeNames: ['All'] }) {
  const messages = await sqs.receive(QueueUrl, { MaxNumberOfMessages: 10, ...names });
  return Object.fromEntries(messages.map(({ Body, Attributes }) => [Body, Attributes?.AWSTraceHeader]));
}

describe('row: AWSTraceHeader', () => {
  row(
    'is returned when it is asked for, under either name, and goes along to the dead letters',
    async (sqs) => {
      await sqs.create('dead');
      const q = await sqs.create('q', { VisibilityTimeout: '0', ...redrive('dead', 3) });
      await sqs.send(q, 'm', attribute(TRACE));
      for (const name of ['AWSTraceHeader', 'All', 'SentTimestamp'] as const) {
        const key = name === 'All' ? 'MessageSystemAttributeNames' : 'AttributeNames';
        const expected = name === 'SentTimestamp' ? undefined : TRACE;
        assert.deepEqual(await traces(sqs, q, { [key]: [name] }), { m: expected });
      }
      await sqs.receive(q);
      await sqs.advance(1);
      assert.deepEqual(await traces(sqs, 'dead'), { m: TRACE });
    },
  );

  row('does not count towards the size of the message', async (sqs) => {
    const q = await sqs.create('q', { MaximumMessageSize: '1024' });
    await sqs.send(q, 'x'.repeat(1024), attribute(TRACE));
  });

  // localstack test_aws_trace_header_propagation, recorded on AWS.
  row('is the header X-Amzn-Trace-Id of a request whose message has none', async (sqs) => {
    const q = await sqs.create('q');
    const sent = await sqs.done('SendMessage', { QueueUrl: q, MessageBody: 'by header' }, HEADER);
    assert.equal('MD5OfMessageSystemAttributes' in sent, false);
    await sqs.done('SendMessage', { QueueUrl: q, MessageBody: 'own', ...attribute(OTHER) }, HEADER);
    const Entries = [
      { Id: 'a', MessageBody: 'batch' },
      { Id: 'b', MessageBody: 'batch, own', ...attribute(OTHER) },
    ];
    await sqs.done('SendMessageBatch', { QueueUrl: q, Entries }, HEADER);
    const fields = { Action: 'SendMessage', QueueUrl: q, MessageBody: 'query' };
    assert.equal((await sqs.query(fields, HEADER)).status, 200);
    assert.deepEqual(await traces(sqs, q), {
      'by header': TRACE,
      own: OTHER,
      batch: TRACE,
      'batch, own': OTHER,
      query: TRACE,
    });
  });

  row('is not whatever stands in that header', async (sqs) => {
    const q = await sqs.create('q');
    const headers = ['', 'nonsense', `Root=${'1'.repeat(5_000)}`, 'Root=\u00ff', 'Root=1\u0001'];
    for (const [index, header] of headers.entries()) {
      const options = { unsigned: { 'X-Amzn-Trace-Id': header } };
      await sqs.done('SendMessage', { QueueUrl: q, MessageBody: String(index) }, options);
    }
    const found = await traces(sqs, q);
    assert.equal(Object.keys(found).length, 5);
    assert.deepEqual([...new Set(Object.values(found))], [undefined]);
  });
});
