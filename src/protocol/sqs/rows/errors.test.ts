/**
 * SQS.md section 1, row by row: JSON type, query code, status, and what "empty means absent" means.
 * Over 300 lines, since a section has as many rows and they are looked up by it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeQueueService } from '../../../../test/protocol-support/fake-queue-service.ts';
import { ACCESS_KEY_ID, type Reply, sqsTestClient } from '../../../../test/protocol-support/sqs-client.ts';
import { type QueueService, Unavailable } from '../../../engine/queue-api.ts';
import { refusal } from '../errors.ts';
import { jsonProtocol } from '../json/protocol.ts';

const QUEUE = 'http://localhost:8080/000000000000/q';

async function withQueue(overrides: Partial<QueueService> = {}) {
  const client = sqsTestClient({ ...fakeQueueService(), ...overrides });
  await client.call('CreateQueue', { QueueName: 'q' });
  return client;
}

interface Expected {
  readonly type: string;
  readonly code: string;
  readonly status: number;
  readonly message?: string;
}

function refusedAs(reply: Reply, expected: Expected): void {
  const type = expected.type.includes('#') ? expected.type : `com.amazonaws.sqs#${expected.type}`;
  assert.equal(reply.body.__type, type);
  assert.equal(reply.status, expected.status);
  const fault = expected.status >= 500 ? 'Receiver' : 'Sender';
  assert.equal(reply.headers['x-amzn-query-error'], `${expected.code};${fault}`);
  assert.equal(reply.headers['content-type'], 'application/x-amz-json-1.0');
  assert.match(reply.headers['x-amzn-requestid'] ?? '', /^request-[0-9]+$/);
  if (expected.message !== undefined) assert.equal(reply.body.message, expected.message);
}

describe('row: errors as JSON', () => {
  it('QueueDoesNotExist, AWS.SimpleQueueService.NonExistentQueue, 400, from every action on a queue', async () => {
    const { call } = sqsTestClient(fakeQueueService());
    const bodies: readonly (readonly [string, object])[] = [
      ['GetQueueUrl', { QueueName: 'q' }],
      ['DeleteQueue', {}],
      ['PurgeQueue', {}],
      ['GetQueueAttributes', { AttributeNames: ['All'] }],
      ['SetQueueAttributes', { Attributes: { DelaySeconds: '1' } }],
      ['SendMessage', { MessageBody: 'x' }],
      ['SendMessageBatch', { Entries: [{ Id: 'a', MessageBody: 'x' }] }],
      ['ReceiveMessage', {}],
      ['DeleteMessage', { ReceiptHandle: 'AAAAAAAA' }],
      ['DeleteMessageBatch', { Entries: [{ Id: 'a', ReceiptHandle: 'AAAAAAAA' }] }],
      ['ChangeMessageVisibility', { ReceiptHandle: 'AAAAAAAA', VisibilityTimeout: 1 }],
      [
        'ChangeMessageVisibilityBatch',
        { Entries: [{ Id: 'a', ReceiptHandle: 'AAAAAAAA', VisibilityTimeout: 1 }] },
      ],
    ];
    for (const [action, body] of bodies) {
      refusedAs(await call(action, { QueueUrl: QUEUE, ...body }), {
        type: 'QueueDoesNotExist',
        code: 'AWS.SimpleQueueService.NonExistentQueue',
        status: 400,
        message: 'The specified queue does not exist.',
      });
    }
  });

  it('QueueNameExists, QueueAlreadyExists, 400, names the attribute that differs', async () => {
    const { call } = await withQueue();
    refusedAs(await call('CreateQueue', { QueueName: 'q', Attributes: { DelaySeconds: '1' } }), {
      type: 'QueueNameExists',
      code: 'QueueAlreadyExists',
      status: 400,
      message: 'A queue already exists with the same name and a different value for attribute DelaySeconds',
    });
  });

  it('QueueDeletedRecently, 400', async () => {
    const { call } = await withQueue({ createQueue: async () => ({ kind: 'deleted-recently' }) });
    refusedAs(await call('CreateQueue', { QueueName: 'q' }), {
      type: 'QueueDeletedRecently',
      code: 'AWS.SimpleQueueService.QueueDeletedRecently',
      status: 400,
      message:
        'You must wait 60 seconds after deleting a queue before you can create another with the same name.',
    });
  });

  it('PurgeQueueInProgress, 403', async () => {
    const { call } = await withQueue({ purgeQueue: async () => ({ kind: 'in-progress' }) });
    refusedAs(await call('PurgeQueue', { QueueUrl: QUEUE }), {
      type: 'PurgeQueueInProgress',
      code: 'AWS.SimpleQueueService.PurgeQueueInProgress',
      status: 403,
      message: 'Only one PurgeQueue operation on q is allowed every 60 seconds.',
    });
  });

  it('BatchRequestTooLong, TooManyEntriesInBatchRequest, EmptyBatchRequest, InvalidBatchEntryId, BatchEntryIdsNotDistinct, 400', async () => {
    const { call } = await withQueue();
    const entry = (Id: string, MessageBody = 'x') => ({ Id, MessageBody });
    const cases: readonly (readonly [string, readonly object[]])[] = [
      ['BatchRequestTooLong', [entry('a', 'x'.repeat(600_000)), entry('b', 'x'.repeat(600_000))]],
      ['TooManyEntriesInBatchRequest', Array.from({ length: 11 }, (_, i) => entry(`a${i}`))],
      ['EmptyBatchRequest', []],
      ['InvalidBatchEntryId', [entry('a.b')]],
      ['BatchEntryIdsNotDistinct', [entry('a'), entry('a')]],
    ];
    for (const [type, Entries] of cases) {
      const reply = await call('SendMessageBatch', { QueueUrl: QUEUE, Entries });
      refusedAs(reply, { type, code: `AWS.SimpleQueueService.${type}`, status: 400 });
    }
  });

  it('InvalidParameterValueException, InvalidParameterValue, 400', async () => {
    const { call } = await withQueue();
    refusedAs(await call('ReceiveMessage', { QueueUrl: QUEUE, MaxNumberOfMessages: 11 }), {
      type: 'InvalidParameterValueException',
      code: 'InvalidParameterValue',
      status: 400,
    });
  });

  it('MissingRequiredParameterException, MissingParameter, 400', async () => {
    const { call } = await withQueue();
    const cases: readonly (readonly [string, object, string])[] = [
      ['SendMessage', { MessageBody: 'x' }, 'QueueUrl'],
      ['SendMessage', { QueueUrl: QUEUE }, 'MessageBody'],
      // hashicorp/terraform-provider-aws#47998, pulumi/pulumi-aws#5677: SDKs that speak JSON were told so too.
      ['SetQueueAttributes', { QueueUrl: QUEUE }, 'Attribute.Name'],
      ['SetQueueAttributes', { QueueUrl: QUEUE, Attributes: {} }, 'Attribute.Name'],
      ['DeleteMessage', { QueueUrl: QUEUE }, 'ReceiptHandle'],
      ['ChangeMessageVisibility', { QueueUrl: QUEUE, VisibilityTimeout: 1 }, 'ReceiptHandle'],
      ['ChangeMessageVisibility', { QueueUrl: QUEUE, ReceiptHandle: 'AAAAAAAA' }, 'VisibilityTimeout'],
    ];
    for (const [action, body, parameter] of cases) {
      refusedAs(await call(action, body), {
        type: 'MissingRequiredParameterException',
        code: 'MissingParameter',
        status: 400,
        message: `The request must contain the parameter ${parameter}.`,
      });
    }
  });

  // localstack tests/aws/test_validate.py, validated on AWS.
  it('no QueueName is an InvalidParameterValue of its own', async () => {
    const { call } = await withQueue();
    for (const action of ['CreateQueue', 'GetQueueUrl']) {
      refusedAs(await call(action, {}), {
        type: 'InvalidParameterValueException',
        code: 'InvalidParameterValue',
        status: 400,
        message: 'Value for parameter QueueName is invalid. Reason: Must specify a queue name.',
      });
    }
  });

  it('InvalidAttributeName, InvalidAttributeValue, InvalidMessageContents, 400', async () => {
    const { call } = await withQueue();
    const set = (Attributes: object) => call('SetQueueAttributes', { QueueUrl: QUEUE, Attributes });
    const name = { type: 'InvalidAttributeName', code: 'InvalidAttributeName', status: 400 };
    refusedAs(await set({ X: '1' }), { ...name, message: 'Unknown Attribute X.' });
    refusedAs(await set({ DelaySeconds: '901' }), {
      type: 'InvalidAttributeValue',
      code: 'InvalidAttributeValue',
      status: 400,
      message: 'Invalid value for the parameter DelaySeconds.',
    });
    refusedAs(await call('SendMessage', { QueueUrl: QUEUE, MessageBody: '\u0000' }), {
      type: 'InvalidMessageContents',
      code: 'InvalidMessageContents',
      status: 400,
    });
  });

  it('ReceiptHandleIsInvalid, 400', async () => {
    const { call } = await withQueue();
    refusedAs(await call('DeleteMessage', { QueueUrl: QUEUE, ReceiptHandle: 'x' }), {
      type: 'ReceiptHandleIsInvalid',
      code: 'ReceiptHandleIsInvalid',
      status: 400,
    });
  });

  it('OverLimit, 403', async () => {
    const { call } = await withQueue({ receive: async () => ({ kind: 'over-limit' }) });
    refusedAs(await call('ReceiveMessage', { QueueUrl: QUEUE }), {
      type: 'OverLimit',
      code: 'OverLimit',
      status: 403,
    });
  });

  it('UnsupportedOperation for any action we do not have', async () => {
    const { call } = await withQueue();
    const expected = {
      type: 'UnsupportedOperation',
      code: 'AWS.SimpleQueueService.UnsupportedOperation',
      status: 400,
    };
    for (const action of ['Nonsense', 'listQueues', 'constructor', '']) {
      refusedAs(await call(action, { QueueUrl: QUEUE }), expected);
    }
    refusedAs(await call('x', {}, { target: 'DynamoDB_20120810.ListTables' }), expected);
  });

  it('ServiceUnavailable, 503, with Retry-After', async () => {
    const { call, logged } = await withQueue({
      send: () => Promise.reject(new Unavailable('the store is down', 3)),
    });
    const reply = await call('SendMessage', { QueueUrl: QUEUE, MessageBody: 'x' });
    refusedAs(reply, { type: 'ServiceUnavailable', code: 'ServiceUnavailable', status: 503 });
    assert.equal(reply.headers['retry-after'], '3');
    assert.equal(reply.raw.action, 'SendMessage');
    assert.deepEqual(logged, []);
  });

  it('RequestThrottled, 400', () => {
    const raw = jsonProtocol.refused(refusal('RequestThrottled', 'x'), 'request-1');
    const reply = { status: raw.status, headers: raw.headers, body: JSON.parse(String(raw.body)), raw };
    refusedAs(reply, { type: 'RequestThrottled', code: 'RequestThrottled', status: 400, message: 'x' });
  });

  it('our own mistake is InternalFailure, 500, told to the log and not to the client', async () => {
    const error = new Error('secret detail');
    for (const send of [
      () => Promise.reject(error),
      () => {
        throw error;
      },
    ]) {
      const { call, logged } = await withQueue({ send });
      const reply = await call('SendMessage', { QueueUrl: QUEUE, MessageBody: 'x' });
      refusedAs(reply, { type: 'InternalFailure', code: 'InternalFailure', status: 500 });
      assert.doesNotMatch(String(reply.raw.body), /secret/);
      assert.deepEqual(
        logged.map((line) => line.error),
        [error],
      );
    }
  });

  it('a log or an id source that fails does not take the answer with it', async () => {
    const broken = () => {
      throw new Error('broken');
    };
    const { call } = sqsTestClient(
      { ...fakeQueueService(), listQueues: () => Promise.reject(new Error('x')) },
      { log: broken, requestId: broken },
    );
    const reply = await call('ListQueues', {});
    assert.equal(reply.status, 500);
    assert.equal(reply.body.__type, 'com.amazonaws.sqs#InternalFailure');
  });

  it('signatures: 403 or 400 in the same form, before the action is looked up', async () => {
    const client = sqsTestClient(fakeQueueService(), { credentialOf: () => undefined });
    refusedAs(await client.call('Nonsense', {}), {
      type: 'InvalidClientTokenId',
      code: 'InvalidClientTokenId',
      status: 403,
      message: 'The security token included in the request is invalid.',
    });
    const other = sqsTestClient(fakeQueueService(), { credentialOf: () => ({ secretAccessKey: 'other' }) });
    refusedAs(await other.call('ListQueues', {}), {
      type: 'SignatureDoesNotMatch',
      code: 'SignatureDoesNotMatch',
      status: 403,
    });
    const late = sqsTestClient(fakeQueueService(), { nowMillis: () => 0 });
    refusedAs(await late.call('ListQueues', {}), {
      type: 'SignatureDoesNotMatch',
      code: 'SignatureDoesNotMatch',
      status: 403,
      message:
        'Signature not yet current: 20260830T123600Z is still later than 19700101T001500Z (19700101T000000Z + 15 min.)',
    });
  });

  it('no refusal of a signature repeats the key, the signature or the Authorization header', async () => {
    const { handler } = await withQueue();
    const credential = `${ACCESS_KEY_ID}/20260830/us-east-1/sqs/aws4_request`;
    const signature = '5d'.repeat(32);
    const claims = [
      `Credential=${credential}, SignedHeaders=host;x-amz-date, Signature=${signature}`,
      `Credential=OTHER${credential}, SignedHeaders=host;x-amz-date, Signature=${signature}`,
      `Credential=${credential}/more, SignedHeaders=host, Signature=${signature}`,
      `Credential=${credential.replace('sqs', 'sns')}, SignedHeaders=host, Signature=${signature}`,
      `Credential=${credential}, Signature=${signature}`,
      `Credential=${credential}`,
    ];
    for (const type of ['application/x-amz-json-1.0', 'application/x-www-form-urlencoded']) {
      for (const claim of claims) {
        for (const authorization of [`AWS4-HMAC-SHA256 ${claim}`, `AWS2 ${claim}`]) {
          const reply = await handler({
            method: 'POST',
            target: '/',
            headers: Object.entries({
              host: 'localhost:8080',
              'content-type': type,
              'x-amz-date': '20260830T123600Z',
              authorization,
            }),
            body: new Uint8Array(),
            signal: new AbortController().signal,
          });
          const said = `${JSON.stringify(reply.headers)}${reply.body}`;
          assert.ok(reply.status === 403 || reply.status === 400, said);
          for (const secret of [ACCESS_KEY_ID, signature, authorization])
            assert.ok(!said.includes(secret), said);
        }
      }
    }
  });

  it('broken JSON, wrong JSON types and a body too large are JSON errors too', async () => {
    const { call } = await withQueue();
    const expected = {
      type: 'com.amazon.coral.service#SerializationException',
      code: 'MalformedInput',
      status: 400,
    };
    for (const body of [
      '{',
      '[]',
      'null',
      '"x"',
      '7',
      '{"a":}',
      '['.repeat(200_000),
      Uint8Array.of(0x7b, 0xff, 0x7d),
    ]) {
      refusedAs(await call('ListQueues', body), expected);
    }
    const wrong: readonly (readonly [string, object, string])[] = [
      ['SendMessage', { MessageBody: {} }, 'Start of structure or map found where not expected.'],
      ['SendMessage', { MessageBody: [] }, 'Start of list found where not expected'],
      ['SendMessage', { MessageBody: 5 }, 'NUMBER_VALUE can not be converted to a String'],
      ['SendMessage', { MessageBody: true }, 'TRUE_VALUE can not be converted to a String'],
      [
        'SendMessage',
        { MessageBody: 'x', DelaySeconds: 'x' },
        'STRING_VALUE can not be converted to an Integer',
      ],
      ['ReceiveMessage', { WaitTimeSeconds: '5' }, 'STRING_VALUE can not be converted to an Integer'],
      ['ReceiveMessage', { WaitTimeSeconds: 0.5 }, 'DECIMAL_VALUE can not be converted to an Integer'],
    ];
    for (const [action, body, message] of wrong) {
      refusedAs(await call(action, { QueueUrl: QUEUE, ...body }), { ...expected, message });
    }
    for (const Entries of [{}, 'x', [1], [[]]]) {
      refusedAs(await call('SendMessageBatch', { QueueUrl: QUEUE, Entries }), expected);
    }
    refusedAs(await call('ListQueues', ' '.repeat(8 * 1024 * 1024 + 1)), {
      type: 'com.amazon.coral.service#RequestEntityTooLargeException',
      code: 'RequestEntityTooLarge',
      status: 413,
    });
  });
});

describe('row: empty means absent', () => {
  it('an empty answer is {}', async () => {
    const { call } = await withQueue();
    const bodies: readonly (readonly [string, object])[] = [
      ['ReceiveMessage', {}],
      ['GetQueueAttributes', {}],
      ['GetQueueAttributes', { AttributeNames: [] }],
      ['GetQueueAttributes', { AttributeNames: ['Policy'] }],
      ['SetQueueAttributes', { Attributes: { DelaySeconds: '0' } }],
      ['PurgeQueue', {}],
      ['DeleteQueue', {}],
    ];
    for (const [action, body] of bodies) {
      assert.equal((await call(action, { QueueUrl: QUEUE, ...body })).raw.body, '{}', action);
    }
    assert.equal((await call('ListQueues', {})).raw.body, '{}');
    assert.equal((await call('ListQueues', '')).raw.body, '{}');
  });

  it('unknown members and nulls of a request are ignored', async () => {
    const { call } = await withQueue();
    const reply = await call('SendMessage', {
      QueueUrl: QUEUE,
      MessageBody: 'x',
      Nonsense: [{}],
      DelaySeconds: null,
    });
    assert.equal(reply.status, 200);
  });
});
