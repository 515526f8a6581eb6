/**
 * The legacy query protocol on the whole surface: where an action may be named, what each action answers, how refusals
 * look, and that nothing the signature does not cover can name an action. Over 300 lines, since exact answers are long.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeQueueService } from '../../../../test/protocol-support/fake-queue-service.ts';
import {
  type Fields,
  type QueryOptions,
  query,
  type XmlReply,
} from '../../../../test/protocol-support/query-client.ts';
import { sqsTestClient } from '../../../../test/protocol-support/sqs-client.ts';
import { type QueueService, Unavailable } from '../../../engine/queue-api.ts';
import { HTTP_BODY_BYTES_MAX, type SqsHandlerOptions } from '../handler.ts';

const QUEUE = 'http://localhost:8080/000000000000/q';
const PATH = '/000000000000/q';
const NS = 'xmlns="http://queue.amazonaws.com/doc/2012-11-05/"';

async function withQueue(overrides: Partial<QueueService> = {}, options: Partial<SqsHandlerOptions> = {}) {
  const client = sqsTestClient({ ...fakeQueueService(), ...overrides }, options);
  await client.call('CreateQueue', { QueueName: 'q' });
  const ask = (fields: Fields, how: QueryOptions = {}) => query(client.handler, fields, how);
  return { ...client, ask };
}

function answered(reply: XmlReply, action: string, result: string | undefined): void {
  const id = reply.headers['x-amzn-requestid'];
  const inner =
    result === undefined
      ? ''
      : result === ''
        ? `<${action}Result/>`
        : `<${action}Result>${result}</${action}Result>`;
  assert.equal(
    reply.xml,
    `<?xml version="1.0"?><${action}Response ${NS}>${inner}<ResponseMetadata><RequestId>${id}</RequestId></ResponseMetadata></${action}Response>`,
  );
  assert.equal(reply.status, 200);
  assert.equal(reply.headers['content-type'], 'text/xml');
  assert.equal(reply.raw.action, action);
}

function refused(reply: XmlReply, code: string, status: number, message: string, type = 'Sender'): void {
  const id = reply.headers['x-amzn-requestid'];
  assert.match(id ?? '', /^request-[0-9]+$/);
  assert.equal(
    reply.xml,
    `<?xml version="1.0"?><ErrorResponse ${NS}><Error><Type>${type}</Type><Code>${code}</Code><Message>${message}</Message><Detail/></Error><RequestId>${id}</RequestId></ErrorResponse>`,
  );
  assert.equal(reply.status, status);
  assert.equal(reply.headers['content-type'], 'text/xml');
}

function element(reply: XmlReply, name: string): string {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(reply.xml)?.[1];
  assert.ok(found !== undefined, `no ${name} in ${reply.xml}`);
  return found;
}

const noQueue = 'The specified queue does not exist for this wsdl version.';

describe('row: every action over the query protocol', () => {
  it('CreateQueue, GetQueueUrl, ListQueues, SetQueueAttributes, GetQueueAttributes, PurgeQueue, DeleteQueue', async () => {
    const { ask, logged } = await withQueue();
    const url = `<QueueUrl>${QUEUE}2</QueueUrl>`;
    const attributes = { 'Attribute.1.Name': 'VisibilityTimeout', 'Attribute.1.Value': '45' };
    const tags = { 'Tag.1.Key': 'team', 'Tag.1.Value': 'blue' };
    const create = { Action: 'CreateQueue', Version: '2012-11-05', QueueName: 'q2', ...attributes, ...tags };
    answered(await ask(create), 'CreateQueue', url);
    answered(await ask({ Action: 'GetQueueUrl', QueueName: 'q2' }), 'GetQueueUrl', url);
    answered(await ask({ Action: 'ListQueues', QueueNamePrefix: 'q2' }), 'ListQueues', url);
    answered(await ask({ Action: 'ListQueues', QueueNamePrefix: 'none' }), 'ListQueues', '');
    const set = { 'Attribute.Name': 'DelaySeconds', 'Attribute.Value': '3' };
    answered(
      await ask({ Action: 'SetQueueAttributes', QueueUrl: `${QUEUE}2`, ...set }),
      'SetQueueAttributes',
      undefined,
    );
    const names = { 'AttributeName.1': 'VisibilityTimeout', 'AttributeName.2': 'DelaySeconds' };
    answered(
      await ask({ Action: 'GetQueueAttributes', QueueUrl: `${QUEUE}2`, ...names }),
      'GetQueueAttributes',
      '<Attribute><Name>VisibilityTimeout</Name><Value>45</Value></Attribute><Attribute><Name>DelaySeconds</Name><Value>3</Value></Attribute>',
    );
    answered(await ask({ Action: 'GetQueueAttributes', QueueUrl: `${QUEUE}2` }), 'GetQueueAttributes', '');
    answered(await ask({ Action: 'PurgeQueue', QueueUrl: `${QUEUE}2` }), 'PurgeQueue', undefined);
    answered(await ask({ Action: 'DeleteQueue', QueueUrl: `${QUEUE}2` }), 'DeleteQueue', undefined);
    assert.deepEqual(logged, []);
  });

  it('SendMessage, ReceiveMessage, ChangeMessageVisibility, DeleteMessage', async () => {
    const { ask } = await withQueue();
    const attributes = {
      'MessageAttribute.1.Name': 'timestamp',
      'MessageAttribute.1.Value.DataType': 'Number.java.lang.Long',
      'MessageAttribute.1.Value.StringValue': '1',
      'MessageSystemAttribute.1.Name': 'AWSTraceHeader',
      'MessageSystemAttribute.1.Value.DataType': 'String',
      'MessageSystemAttribute.1.Value.StringValue': 'Root=1',
    };
    const sent = await ask({
      Action: 'SendMessage',
      QueueUrl: QUEUE,
      MessageBody: 'a\r\n\t<🎉>',
      ...attributes,
    });
    const id = element(sent, 'MessageId');
    answered(
      sent,
      'SendMessage',
      `<MD5OfMessageBody>${element(sent, 'MD5OfMessageBody')}</MD5OfMessageBody><MD5OfMessageAttributes>6735a2d7fe7f0e962a51db579c2d92cb</MD5OfMessageAttributes><MD5OfMessageSystemAttributes>${element(sent, 'MD5OfMessageSystemAttributes')}</MD5OfMessageSystemAttributes><MessageId>${id}</MessageId>`,
    );
    const how = { MaxNumberOfMessages: 10, VisibilityTimeout: 60, WaitTimeSeconds: 0 };
    const names = {
      'AttributeName.1': 'ApproximateReceiveCount',
      'MessageSystemAttributeName.1': 'AWSTraceHeader',
      'MessageAttributeName.1': 'All',
    };
    const got = await ask({ Action: 'ReceiveMessage', QueueUrl: QUEUE, ...how, ...names });
    const handle = element(got, 'ReceiptHandle');
    answered(
      got,
      'ReceiveMessage',
      `<Message><MessageId>${id}</MessageId><ReceiptHandle>${handle}</ReceiptHandle><MD5OfBody>${element(sent, 'MD5OfMessageBody')}</MD5OfBody><Body>a&#xd;&#xa;\t&lt;🎉&gt;</Body>` +
        '<Attribute><Name>ApproximateReceiveCount</Name><Value>1</Value></Attribute><Attribute><Name>AWSTraceHeader</Name><Value>Root=1</Value></Attribute>' +
        '<MD5OfMessageAttributes>6735a2d7fe7f0e962a51db579c2d92cb</MD5OfMessageAttributes><MessageAttribute><Name>timestamp</Name><Value><StringValue>1</StringValue><DataType>Number.java.lang.Long</DataType></Value></MessageAttribute></Message>',
    );
    assert.ok(got.raw.undelivered !== undefined);
    const change = {
      Action: 'ChangeMessageVisibility',
      QueueUrl: QUEUE,
      ReceiptHandle: handle,
      VisibilityTimeout: 9,
    };
    answered(await ask(change), 'ChangeMessageVisibility', undefined);
    const remove = { Action: 'DeleteMessage', QueueUrl: QUEUE, ReceiptHandle: handle };
    answered(await ask(remove), 'DeleteMessage', undefined);
    answered(await ask({ Action: 'ReceiveMessage', QueueUrl: QUEUE }), 'ReceiveMessage', '');
  });

  it('SendMessageBatch, ChangeMessageVisibilityBatch, DeleteMessageBatch', async () => {
    const { ask } = await withQueue();
    const entry = (n: number, fields: Fields) =>
      Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [`SendMessageBatchRequestEntry.${n}.${name}`, value]),
      );
    const sent = await ask({
      Action: 'SendMessageBatch',
      QueueUrl: QUEUE,
      ...entry(2, { Id: 'bad', MessageBody: '\u0001' }),
      ...entry(1, {
        Id: 'good',
        MessageBody: 'x',
        'MessageAttribute.1.Name': 'testname',
        'MessageAttribute.1.Value.DataType': 'Binary',
        'MessageAttribute.1.Value.BinaryValue': 'MTIz',
      }),
    });
    answered(
      sent,
      'SendMessageBatch',
      `<SendMessageBatchResultEntry><Id>good</Id><MessageId>${element(sent, 'MessageId')}</MessageId><MD5OfMessageBody>9dd4e461268c8034f5c8564e155c67a6</MD5OfMessageBody><MD5OfMessageAttributes>4969dd151b0a6c8b619ebb802f76e035</MD5OfMessageAttributes></SendMessageBatchResultEntry>` +
        "<BatchResultErrorEntry><Id>bad</Id><SenderFault>true</SenderFault><Code>InvalidMessageContents</Code><Message>Invalid binary character '#x1' was found in the message body, the set of allowed characters is #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF].</Message></BatchResultErrorEntry>",
    );
    const handle = element(await ask({ Action: 'ReceiveMessage', QueueUrl: QUEUE }), 'ReceiptHandle');
    const change = 'ChangeMessageVisibilityBatchRequestEntry.1';
    answered(
      await ask({
        Action: 'ChangeMessageVisibilityBatch',
        QueueUrl: QUEUE,
        [`${change}.Id`]: 'a',
        [`${change}.ReceiptHandle`]: handle,
        [`${change}.VisibilityTimeout`]: 5,
      }),
      'ChangeMessageVisibilityBatch',
      '<ChangeMessageVisibilityBatchResultEntry><Id>a</Id></ChangeMessageVisibilityBatchResultEntry>',
    );
    const remove = 'DeleteMessageBatchRequestEntry.1';
    answered(
      await ask({
        Action: 'DeleteMessageBatch',
        QueueUrl: QUEUE,
        [`${remove}.Id`]: 'a',
        [`${remove}.ReceiptHandle`]: handle,
      }),
      'DeleteMessageBatch',
      '<DeleteMessageBatchResultEntry><Id>a</Id></DeleteMessageBatchResultEntry>',
    );
  });
});

describe('row: where a query request may say what it wants', () => {
  it('in the URL, in the form, or in both', async () => {
    const { ask } = await withQueue();
    const fields = { Action: 'GetQueueUrl', QueueName: 'q', Version: '2012-11-05' };
    const url = `<QueueUrl>${QUEUE}</QueueUrl>`;
    answered(await ask(fields, { method: 'GET' }), 'GetQueueUrl', url);
    answered(await ask({ QueueName: 'q' }, { url: { Action: 'GetQueueUrl' } }), 'GetQueueUrl', url);
    answered(await ask({}, { url: fields }), 'GetQueueUrl', url);
    refused(
      await ask({ Action: 'ListQueues' }, { url: { Action: 'GetQueueUrl' } }),
      'MalformedInput',
      400,
      'The parameter Action is given more than once.',
    );
  });

  it('at the path of a queue, in the place of QueueUrl, which wins over it', async () => {
    const { ask, call } = await withQueue();
    await call('CreateQueue', { QueueName: 'other' });
    const names = { Action: 'GetQueueAttributes', 'AttributeName.1': 'QueueArn' };
    const arn = (name: string) =>
      `<Attribute><Name>QueueArn</Name><Value>arn:aws:sqs:us-east-1:000000000000:${name}</Value></Attribute>`;
    answered(await ask(names, { path: PATH, method: 'GET' }), 'GetQueueAttributes', arn('q'));
    answered(await ask(names, { path: `${PATH}/` }), 'GetQueueAttributes', arn('q'));
    answered(
      await ask({ ...names, QueueUrl: 'http://elsewhere/000000000000/other' }, { path: PATH }),
      'GetQueueAttributes',
      arn('other'),
    );
    answered(
      await ask({ ...names, QueueUrl: QUEUE }, { path: '/behind/some/proxy' }),
      'GetQueueAttributes',
      arn('q'),
    );
    answered(
      await ask({ Action: 'GetQueueUrl', QueueName: 'other' }, { path: PATH }),
      'GetQueueUrl',
      `<QueueUrl>${QUEUE.replace(/q$/, 'other')}</QueueUrl>`,
    );
  });

  it('CreateQueue and ListQueues are no actions of a queue', async () => {
    const { ask } = await withQueue();
    for (const Action of ['CreateQueue', 'ListQueues'])
      refused(
        await ask({ Action, QueueName: 'x' }, { path: PATH, method: 'GET' }),
        'InvalidAction',
        400,
        `The action ${Action} is not valid for this endpoint.`,
      );
  });

  it('another queue, account or path is not found', async () => {
    const { ask } = await withQueue();
    const fields = { Action: 'ReceiveMessage' };
    for (const path of ['/000000000000/none', '/999999999999/q', '/000000000000/no.queue'])
      refused(await ask(fields, { path }), 'AWS.SimpleQueueService.NonExistentQueue', 400, noQueue);
    for (const path of ['/q', '/000000000000/q/x', '/robots.txt'])
      refused(
        await ask(fields, { path }),
        'InvalidAddress',
        404,
        `The address http://localhost:8080${path} is not valid for this endpoint.`,
      );
  });

  it('a request that names no action is an unknown operation', async () => {
    const { ask } = await withQueue();
    for (const reply of [
      await ask({}, { method: 'GET', path: PATH }),
      await ask({}, { method: 'GET', path: PATH, headers: { accept: 'application/json' } }),
      await ask({ QueueName: 'q' }),
      await ask({}, { method: 'PUT', url: { Action: 'ListQueues' } }),
      await ask({}, { body: 'Action=ListQueues', headers: { 'content-type': 'text/plain' } }),
    ])
      assert.deepEqual([reply.status, reply.xml], [404, '<UnknownOperationException/>']);
  });

  it('an action or a version that is not there is an invalid action', async () => {
    const { ask } = await withQueue();
    for (const Action of ['FooBar', 'listQueues', 'constructor', ''])
      refused(
        await ask({ Action, Version: '2012-11-05' }),
        'InvalidAction',
        400,
        `The action ${Action} is not valid for this endpoint.`,
      );
    refused(
      await ask({ Action: 'ListQueues', Version: '2011-10-01' }),
      'InvalidAction',
      400,
      'Could not find operation ListQueues for version 2011-10-01',
    );
  });
});

describe('row: refusals of a query request', () => {
  it('have the legacy code, the status and the text of the JSON refusal', async () => {
    const { ask } = await withQueue();
    const at = { QueueUrl: QUEUE };
    refused(
      await ask({ Action: 'SendMessage', ...at }),
      'MissingParameter',
      400,
      'The request must contain the parameter MessageBody.',
    );
    refused(
      await ask({ Action: 'SendMessage', MessageBody: 'x' }),
      'MissingParameter',
      400,
      'The request must contain the parameter QueueUrl.',
    );
    refused(
      await ask({ Action: 'ReceiveMessage', ...at, MaxNumberOfMessages: 11 }),
      'InvalidParameterValue',
      400,
      'Value 11 for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.',
    );
    refused(
      await ask({ Action: 'ReceiveMessage', ...at, MaxNumberOfMessages: 'ten' }),
      'MalformedInput',
      400,
      'STRING_VALUE can not be converted to an Integer',
    );
    refused(
      await ask({ Action: 'GetQueueAttributes', ...at, AttributeName: 'Foobar' }),
      'InvalidAttributeName',
      400,
      'Unknown Attribute Foobar.',
    );
    refused(
      await ask({ Action: 'DeleteMessage', ...at, ReceiptHandle: 'x' }),
      'ReceiptHandleIsInvalid',
      400,
      'The input receipt handle &quot;x&quot; is not a valid receipt handle.',
    );
    refused(
      await ask({ Action: 'SendMessageBatch', ...at, Entries: '' }),
      'AWS.SimpleQueueService.EmptyBatchRequest',
      400,
      'There should be at least one SendMessageBatchRequestEntry in the request.',
    );
    refused(
      await ask({
        Action: 'CreateQueue',
        QueueName: 'q',
        'Attribute.1.Name': 'DelaySeconds',
        'Attribute.1.Value': 1,
      }),
      'QueueAlreadyExists',
      400,
      'A queue already exists with the same name and a different value for attribute DelaySeconds',
    );
    refused(
      await ask({ Action: 'DeleteQueue', QueueUrl: `${QUEUE}x` }),
      'AWS.SimpleQueueService.NonExistentQueue',
      400,
      noQueue,
    );
  });

  it('PurgeQueueInProgress and OverLimit are 403, an outage is 503 with Retry-After', async () => {
    const { ask, logged } = await withQueue({
      purgeQueue: async () => ({ kind: 'in-progress' }),
      receive: async () => ({ kind: 'over-limit' }),
      send: () => Promise.reject(new Unavailable('the store is down', 3)),
      getQueue: () => Promise.reject(new Error('secret detail')),
    });
    const at = { QueueUrl: QUEUE };
    refused(
      await ask({ Action: 'PurgeQueue', ...at }),
      'AWS.SimpleQueueService.PurgeQueueInProgress',
      403,
      'Only one PurgeQueue operation on q is allowed every 60 seconds.',
    );
    refused(
      await ask({ Action: 'ReceiveMessage', ...at }),
      'OverLimit',
      403,
      'Too many messages in flight: the queue has reached 120000.',
    );
    const down = await ask({ Action: 'SendMessage', ...at, MessageBody: 'x' });
    refused(
      down,
      'ServiceUnavailable',
      503,
      'The service is temporarily unavailable. Please try again.',
      'Receiver',
    );
    assert.equal(down.headers['retry-after'], '3');
    const failed = await ask({ Action: 'GetQueueAttributes', ...at, AttributeName: 'All' });
    assert.deepEqual([failed.status, element(failed, 'Code')], [500, 'InternalFailure']);
    assert.doesNotMatch(failed.xml, /secret/);
    assert.equal(logged.length, 1);
  });

  it('signatures, a broken form and a body too large are refused in XML too', async () => {
    const stranger = await withQueue({}, { credentialOf: () => undefined });
    const unknown = 'The security token included in the request is invalid.';
    for (const method of ['GET', 'POST'] as const)
      refused(await stranger.ask({ Action: 'Nonsense' }, { method }), 'InvalidClientTokenId', 403, unknown);
    const { ask, handler } = await withQueue();
    const broken = 'The request body is not a valid form in UTF-8.';
    refused(await ask({}, { body: 'Action=ListQueues&a=%' }), 'MalformedInput', 400, broken);
    refused(await ask({}, { body: Uint8Array.of(0xff) }), 'MalformedInput', 400, broken);
    const large = new Uint8Array(HTTP_BODY_BYTES_MAX + 1);
    const code = element(await ask({}, { body: large }), 'Code');
    assert.equal(code, 'RequestEntityTooLarge');
    const unsigned = await handler({
      method: 'GET',
      target: '/?Action=ListQueues',
      headers: [['host', 'localhost:8080']],
      body: new Uint8Array(0),
      signal: new AbortController().signal,
    });
    assert.equal(unsigned.status, 403);
    assert.match(String(unsigned.body), /<Code>MissingAuthenticationToken<\/Code>/);
  });

  it('a form body says 1 MiB of content in three times as many bytes', async () => {
    const { ask } = await withQueue();
    const body = `Action=SendMessage&QueueUrl=q&MessageBody=${'%0A'.repeat(1_048_576)}`;
    assert.equal((await ask({}, { body })).status, 200);
    refused(
      await ask({}, { body: `${body}%0A` }),
      'InvalidParameterValue',
      400,
      'One or more parameters are invalid. Reason: Message must be shorter than 1048576 bytes.',
    );
  });
});

describe('row: the signature covers what a query request asks for', () => {
  const counts = { Action: 'GetQueueAttributes', 'AttributeName.1': 'ApproximateNumberOfMessages' };
  const one = '<Attribute><Name>ApproximateNumberOfMessages</Name><Value>1</Value></Attribute>';
  const withMessage = async () => {
    const client = await withQueue();
    await client.call('SendMessage', { QueueUrl: 'q', MessageBody: 'kept' });
    return client;
  };
  const target = { 'x-amz-target': 'AmazonSQS.PurgeQueue' };

  it('a presigned URL does its own action by GET and POST, and no other that a header names', async () => {
    const { ask } = await withMessage();
    for (const method of ['GET', 'POST'] as const) {
      const how = {
        method,
        path: PATH,
        presigned: true,
        ...(method === 'POST' ? { url: counts, body: '' } : {}),
      };
      answered(await ask(counts, how), 'GetQueueAttributes', one);
      for (const unsigned of [target, { ...target, 'content-type': 'application/x-amz-json-1.0' }])
        answered(await ask(counts, { ...how, unsigned }), 'GetQueueAttributes', one);
    }
  });

  it('a presigned URL takes no parameter that was added to it or to its body', async () => {
    const { handler } = await withMessage();
    let seen: { method: string; target: string } | undefined;
    await query(
      async (request) => {
        seen = request;
        return { status: 200, headers: {}, body: '' };
      },
      counts,
      { method: 'POST', path: PATH, presigned: true, url: counts, body: '' },
    );
    assert.ok(seen !== undefined);
    const signal = new AbortController().signal;
    const headers = [['host', 'localhost:8080'] as const];
    const send = (target: string, body: string) =>
      handler({ method: 'POST', target, headers, body: new TextEncoder().encode(body), signal });
    assert.equal((await send(seen.target, '')).status, 200);
    for (const [target, body] of [
      [`${seen.target}&Action=PurgeQueue`, ''],
      [seen.target.replace('Action=GetQueueAttributes', 'Action=PurgeQueue'), ''],
      [seen.target, 'Action=PurgeQueue'],
      [seen.target.replace('&Action=GetQueueAttributes', ''), 'Action=PurgeQueue'],
    ] as const) {
      const answer = await send(target, body);
      assert.equal(answer.status, 403, target);
      assert.match(String(answer.body), /<Code>SignatureDoesNotMatch<\/Code>/);
    }
  });

  it('a header that was not signed names no action for a signed URL, in the header form either', async () => {
    const { ask } = await withMessage();
    const how = { path: PATH, url: counts, body: '' };
    answered(await ask({}, { ...how, unsigned: target }), 'GetQueueAttributes', one);
    answered(await ask(counts, { path: PATH, method: 'GET', unsigned: target }), 'GetQueueAttributes', one);
    // Signed, it is the sender's own word, and the request is JSON.
    const json = await ask({}, { ...how, headers: target });
    assert.deepEqual([json.status, json.xml], [200, '{}']);
  });
});
