/**
 * SQS.md sections 4, 5 and 8, as far as the surface decides them, row by row.
 * Over 300 lines, since a section has as many rows and they are looked up by it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeQueues, fakeQueueService } from '../../../../test/protocol-support/fake-queue-service.ts';
import { NOW_MILLIS, type Reply, sqsTestClient } from '../../../../test/protocol-support/sqs-client.ts';
import type { QueueService, ReceiveRequest, VisibilityEntryOutcome } from '../../../engine/queue-api.ts';

interface WireMessage {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  readonly Body: string;
  readonly MD5OfBody: string;
  readonly Attributes?: Record<string, string>;
  readonly MD5OfMessageAttributes?: string;
  readonly MessageAttributes?: Record<
    string,
    { DataType: string; StringValue?: string; BinaryValue?: string }
  >;
}

async function queue(overrides: Partial<QueueService> = {}) {
  const fake = new FakeQueues(() => NOW_MILLIS);
  const { call } = sqsTestClient({ ...fakeQueueService(fake), ...overrides });
  await call('CreateQueue', { QueueName: 'q', Attributes: { VisibilityTimeout: '0' } });
  const send = (body: object) => call('SendMessage', { QueueUrl: 'q', MessageBody: 'msg', ...body });
  const receive = (body: object = {}, signal?: AbortSignal) =>
    call('ReceiveMessage', { QueueUrl: 'q', ...body }, signal === undefined ? {} : { signal });
  const receiveOne = async (body: object = {}) => {
    const [message] = (await receive(body)).body.Messages as WireMessage[];
    return message ?? assert.fail('no message');
  };
  return { call, send, receive, receiveOne, held: () => fake.queues.get('q')?.messages ?? [] };
}

function invalid(reply: Reply, message: string): void {
  assert.deepEqual(reply.body, { __type: 'com.amazonaws.sqs#InvalidParameterValueException', message });
}

const text = (StringValue: string) => ({ DataType: 'String', StringValue });

describe('row: ranges of a receive', () => {
  it('MaxNumberOfMessages 1–10, WaitTimeSeconds 0–20, VisibilityTimeout 0–43200', async () => {
    const { receive } = await queue();
    for (const max of [0, 11]) {
      const reason = 'Must be between 1 and 10, if provided.';
      invalid(
        await receive({ MaxNumberOfMessages: max }),
        `Value ${max} for parameter MaxNumberOfMessages is invalid. Reason: ${reason}`,
      );
    }
    for (const wait of [-1, 21]) {
      const reason = 'Must be >= 0 and <= 20, if provided.';
      invalid(
        await receive({ WaitTimeSeconds: wait }),
        `Value ${wait} for parameter WaitTimeSeconds is invalid. Reason: ${reason}`,
      );
    }
    for (const timeout of [-1, 43_201]) {
      const reason = 'Must be >= 0 and <= 43200, if provided.';
      invalid(
        await receive({ VisibilityTimeout: timeout }),
        `Value ${timeout} for parameter VisibilityTimeout is invalid. Reason: ${reason}`,
      );
    }
  });

  it('absent values are the queue’s own, explicit zeros are zeros', async () => {
    const seen: Omit<ReceiveRequest, 'signal'>[] = [];
    const { receive } = await queue({
      receive: async (_name, { signal: _signal, ...request }) => {
        seen.push(request);
        return { kind: 'done', messages: [], undelivered: async () => {} };
      },
    });
    await receive();
    await receive({ MaxNumberOfMessages: 10, WaitTimeSeconds: 0, VisibilityTimeout: 0 });
    assert.deepEqual(seen, [
      { maxMessages: 1, waitSeconds: undefined, visibilityTimeoutSeconds: undefined, attemptId: undefined },
      { maxMessages: 10, waitSeconds: 0, visibilityTimeoutSeconds: 0, attemptId: undefined },
    ]);
  });
});

describe('row: a long poll', () => {
  it('answers with the first message', async () => {
    const { send, receive } = await queue();
    const waiting = receive({ WaitTimeSeconds: 20, MaxNumberOfMessages: 10 });
    await send({});
    assert.equal(((await waiting).body.Messages as WireMessage[]).length, 1);
  });

  it('whose client has gone ends empty and leases nothing', async () => {
    const { send, receive, held } = await queue();
    const gone = new AbortController();
    const waiting = receive({ WaitTimeSeconds: 20 }, gone.signal);
    gone.abort();
    assert.deepEqual((await waiting).body, {});
    await send({});
    assert.equal(held()[0]?.receiveCount, 0);
  });
});

describe('row: filters for message attributes', () => {
  const sent = {
    MessageAttributes: { Hello: text('There'), General: text('Kenobi'), 'Help.Me': text('Me') },
  };
  const cases: readonly (readonly [readonly string[] | undefined, string | undefined, readonly string[]])[] =
    [
      [undefined, undefined, []],
      [[], undefined, []],
      [['All'], '4c360f3fdafd970e05fae2f149d997f5', ['General', 'Hello', 'Help.Me']],
      [['*'], '4c360f3fdafd970e05fae2f149d997f5', ['General', 'Hello', 'Help.Me']],
      [['.*'], '4c360f3fdafd970e05fae2f149d997f5', ['General', 'Hello', 'Help.Me']],
      [['Foo', 'Help'], undefined, []],
      [['Hello', 'General'], 'fca026605781cb4126a1e9044df24232', ['General', 'Hello']],
      [['Foo', 'Hello'], 'a311262e065454b75da111d535b8dacd', ['Hello']],
      [['Hel.*'], '83fee93c1bcd8b9a5a923ffacdc636c7', ['Hello', 'Help.Me']],
      [['AWS.', '..foo', 'hello', '', '**'], undefined, []],
    ];
  for (const [MessageAttributeNames, digest, names] of cases) {
    it(`${JSON.stringify(MessageAttributeNames)} returns ${JSON.stringify(names)} with the MD5 of that subset`, async () => {
      const { send, receiveOne } = await queue();
      await send(sent);
      const message = await receiveOne({ MessageAttributeNames });
      assert.equal(message.MD5OfMessageAttributes, digest);
      assert.deepEqual(Object.keys(message.MessageAttributes ?? {}).sort(), names);
      assert.equal('MessageAttributes' in message, names.length > 0);
      assert.equal(message.MD5OfBody, '6e2baaf3b97dbeef01c0043275f9a0e7');
    });
  }

  it('binary values come back in base64', async () => {
    const { send, receiveOne } = await queue();
    const b = { DataType: 'Binary', BinaryValue: btoa(String.fromCharCode(...Array(256).keys())) };
    await send({ MessageAttributes: { b } });
    assert.deepEqual((await receiveOne({ MessageAttributeNames: ['b'] })).MessageAttributes, { b });
  });
});

describe('row: system attributes', () => {
  const all = {
    SenderId: '000000000000',
    ApproximateFirstReceiveTimestamp: String(NOW_MILLIS),
    ApproximateReceiveCount: '1',
    SentTimestamp: String(NOW_MILLIS),
  };

  it('All under either name; AWSTraceHeader and MessageGroupId when set', async () => {
    for (const member of ['AttributeNames', 'MessageSystemAttributeNames']) {
      const { send, receiveOne } = await queue();
      await send({});
      assert.deepEqual((await receiveOne({ [member]: ['All'] })).Attributes, all);
    }
    const { send, receiveOne } = await queue();
    await send({ MessageGroupId: 'g', MessageSystemAttributes: { AWSTraceHeader: text('Root=1') } });
    const message = await receiveOne({ AttributeNames: ['All'] });
    assert.deepEqual(message.Attributes, { ...all, AWSTraceHeader: 'Root=1', MessageGroupId: 'g' });
  });

  it('the two lists are united and unknown names ignored', async () => {
    const { send, receiveOne } = await queue();
    await send({});
    const message = await receiveOne({
      AttributeNames: ['SenderId', 'Nope', 'VisibilityTimeout'],
      MessageSystemAttributeNames: ['ApproximateReceiveCount', 'SenderId'],
    });
    assert.deepEqual(message.Attributes, { SenderId: '000000000000', ApproximateReceiveCount: '1' });
    const none = await receiveOne({ AttributeNames: ['Nope'] });
    assert.equal('Attributes' in none, false);
  });

  it('DeadLetterQueueSourceArn when the message was dead-lettered', async () => {
    const arn = 'arn:aws:sqs:us-east-1:000000000000:source';
    const { send, receiveOne, held } = await queue();
    await send({});
    const [message] = held();
    Object.assign(message?.stored ?? {}, { deadLetterSourceArn: arn });
    const received = await receiveOne({ AttributeNames: ['DeadLetterQueueSourceArn'] });
    assert.deepEqual(received.Attributes, { DeadLetterQueueSourceArn: arn });
  });

  it('the receive count rises one by one', async () => {
    const { send, receiveOne } = await queue();
    await send({});
    for (const count of ['1', '2', '3']) {
      assert.deepEqual((await receiveOne({ AttributeNames: ['ApproximateReceiveCount'] })).Attributes, {
        ApproximateReceiveCount: count,
      });
    }
  });
});

describe('row: handles', () => {
  it('malformed is ReceiptHandleIsInvalid, single and in a batch', async () => {
    const { call } = await queue();
    const message = 'The input receipt handle "x" is not a valid receipt handle.';
    const bodies: readonly (readonly [string, object])[] = [
      ['DeleteMessage', { ReceiptHandle: 'x' }],
      ['ChangeMessageVisibility', { ReceiptHandle: 'x', VisibilityTimeout: 1 }],
    ];
    for (const [action, body] of bodies) {
      const single = await call(action, { QueueUrl: 'q', ...body });
      assert.deepEqual(single.body, { __type: 'com.amazonaws.sqs#ReceiptHandleIsInvalid', message });
      const batch = await call(`${action}Batch`, { QueueUrl: 'q', Entries: [{ Id: 'a', ...body }] });
      assert.deepEqual(batch.body, {
        Failed: [{ Id: 'a', SenderFault: true, Code: 'ReceiptHandleIsInvalid', Message: message }],
      });
    }
  });

  it('deleting twice succeeds', async () => {
    const { call, send, receiveOne } = await queue();
    await send({});
    const { ReceiptHandle } = await receiveOne();
    for (let i = 0; i < 2; i += 1) {
      assert.deepEqual((await call('DeleteMessage', { QueueUrl: 'q', ReceiptHandle })).body, {});
      const Entries = [{ Id: 'a', ReceiptHandle }];
      const batch = await call('DeleteMessageBatch', { QueueUrl: 'q', Entries });
      assert.deepEqual(batch.body, { Successful: [{ Id: 'a' }] });
    }
  });

  it('a missing handle fails its entry alone, and both lists keep the order', async () => {
    const { call } = await queue();
    const ReceiptHandle = 'AAAAAAAA';
    const Entries = [
      { Id: 'a', ReceiptHandle },
      { Id: 'b' },
      { Id: 'c', ReceiptHandle: 'x' },
      { Id: 'd', ReceiptHandle },
    ];
    const reply = await call('DeleteMessageBatch', { QueueUrl: 'q', Entries });
    assert.deepEqual(reply.body.Successful, [{ Id: 'a' }, { Id: 'd' }]);
    assert.deepEqual(
      (reply.body.Failed as { Id: string; Code: string }[]).map(({ Id, Code }) => [Id, Code]),
      [
        ['b', 'MissingParameter'],
        ['c', 'ReceiptHandleIsInvalid'],
      ],
    );
  });
});

describe('row: ChangeMessageVisibility', () => {
  const ReceiptHandle = 'AAAAAAAA';
  const answering = (outcome: VisibilityEntryOutcome) =>
    queue({
      changeVisibility: async (_name, entries) => ({ kind: 'done', entries: entries.map(() => outcome) }),
    });
  const cases: readonly (readonly [VisibilityEntryOutcome, number, string])[] = [
    [
      { kind: 'not-available' },
      10,
      `Value ${ReceiptHandle} for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.`,
    ],
    [
      { kind: 'beyond-limit' },
      43_200,
      'Value 43200 for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [43200 seconds]',
    ],
    [
      { kind: 'done' },
      43_201,
      'Value 43201 for parameter VisibilityTimeout is invalid. Reason: VisibilityTimeout must be an integer between 0 and 43200.',
    ],
    [
      { kind: 'done' },
      -1,
      'Value -1 for parameter VisibilityTimeout is invalid. Reason: VisibilityTimeout must be an integer between 0 and 43200.',
    ],
  ];
  for (const [outcome, VisibilityTimeout, message] of cases) {
    it(`${outcome.kind} with ${VisibilityTimeout}: ${message.slice(0, 60)}…`, async () => {
      const { call } = await answering(outcome);
      invalid(
        await call('ChangeMessageVisibility', { QueueUrl: 'q', ReceiptHandle, VisibilityTimeout }),
        message,
      );
      const Entries = [{ Id: 'a', ReceiptHandle, VisibilityTimeout }];
      assert.deepEqual((await call('ChangeMessageVisibilityBatch', { QueueUrl: 'q', Entries })).body, {
        Failed: [{ Id: 'a', SenderFault: true, Code: 'InvalidParameterValue', Message: message }],
      });
    });
  }

  it('0–43200 is {} alone, and Successful in a batch', async () => {
    const { call } = await answering({ kind: 'done' });
    for (const VisibilityTimeout of [0, 43_200]) {
      const entry = { ReceiptHandle, VisibilityTimeout };
      assert.deepEqual((await call('ChangeMessageVisibility', { QueueUrl: 'q', ...entry })).body, {});
      const Entries = [{ Id: 'a', ...entry }];
      assert.deepEqual((await call('ChangeMessageVisibilityBatch', { QueueUrl: 'q', Entries })).body, {
        Successful: [{ Id: 'a' }],
      });
    }
  });
});

describe('row: what clients lean on', () => {
  it('x-amzn-query-error is there without the query-mode header, and only on errors', async () => {
    const { receive } = await queue();
    assert.equal('x-amzn-query-error' in (await receive()).headers, false);
    const refused = await receive({ MaxNumberOfMessages: 0 });
    assert.equal(refused.headers['x-amzn-query-error'], 'InvalidParameterValue;Sender');
  });

  it('an answer that did not reach its client gives the messages back, receive count not raised', async () => {
    const { send, receive, held } = await queue();
    await send({});
    const reply = await receive({ VisibilityTimeout: 100 });
    assert.equal(held()[0]?.receiveCount, 1);
    await reply.raw.undelivered?.();
    await reply.raw.undelivered?.();
    assert.deepEqual([held()[0]?.receiveCount, held()[0]?.visibleAtMillis], [0, NOW_MILLIS]);
    assert.equal((await receive({ VisibilityTimeout: 100 })).raw.undelivered === undefined, false);
    assert.equal((await receive()).raw.undelivered, undefined);
  });

  it('the action and the status are there for the metrics, and only names we have', async () => {
    const { call } = await queue();
    assert.deepEqual(
      [(await call('ListQueues', {})).raw.action, (await call('Nonsense', {})).raw.action],
      ['ListQueues', undefined],
    );
    assert.equal((await call('ListQueues', { MaxResults: 0 })).raw.action, 'ListQueues');
  });
});
