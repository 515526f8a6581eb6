/**
 * An ordinary program on aws-sdk-js v3. Endpoint, region and credentials come from the environment alone. The SDK
 * itself checks the MD5 of every body and throws when one is wrong.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  AddPermissionCommand,
  BatchEntryIdsNotDistinct,
  CancelMessageMoveTaskCommand,
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  EmptyBatchRequest,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  InvalidAttributeName,
  InvalidMessageContents,
  ListDeadLetterSourceQueuesCommand,
  ListMessageMoveTasksCommand,
  ListQueuesCommand,
  ListQueueTagsCommand,
  type Message,
  type MessageAttributeValue,
  PurgeQueueCommand,
  paginateListQueues,
  QueueDoesNotExist,
  QueueNameExists,
  ReceiptHandleIsInvalid,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  RemovePermissionCommand,
  ResourceNotFoundException,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
  SetQueueAttributesCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
  TagQueueCommand,
  TooManyEntriesInBatchRequest,
  UntagQueueCommand,
} from '@aws-sdk/client-sqs';
import { check, checkEqual, checkRefused } from './checks.ts';

const sqs = new SQSClient({});
const prefix = `aws-sdk-js-${randomBytes(6).toString('hex')}`;
const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis));
const md5 = (text: string) => createHash('md5').update(text).digest('hex');

async function create(name: string, Attributes: Record<string, string> = {}): Promise<string> {
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: `${prefix}-${name}`, Attributes }));
  check(`create ${name}`, QueueUrl?.endsWith(`/${prefix}-${name}`) === true, QueueUrl);
  return QueueUrl as string;
}

async function attributesOf(QueueUrl: string): Promise<Record<string, string>> {
  return (
    (await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }))).Attributes ?? {}
  );
}

async function counts(QueueUrl: string): Promise<readonly (string | undefined)[]> {
  const seen = await attributesOf(QueueUrl);
  return ['', 'NotVisible', 'Delayed'].map((suffix) => seen[`ApproximateNumberOfMessages${suffix}`]);
}

async function receive(QueueUrl: string, options: Partial<ReceiveMessageCommandInput> = {}) {
  const input = { QueueUrl, WaitTimeSeconds: 5, ...options };
  const answer = await sqs.send(
    new ReceiveMessageCommand({ MessageSystemAttributeNames: ['All'], ...input }),
  );
  return answer.Messages ?? [];
}

async function receiveOne(what: string, QueueUrl: string, options: Partial<ReceiveMessageCommandInput> = {}) {
  const messages = await receive(QueueUrl, options);
  checkEqual(`${what}: one message comes`, messages.length, 1);
  return messages[0] as Message;
}

const send = (QueueUrl: string, MessageBody: string) =>
  sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
const remove = (QueueUrl: string, message: Message) =>
  sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
const setVisibility = (QueueUrl: string, message: Message, VisibilityTimeout: number) =>
  sqs.send(
    new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle, VisibilityTimeout }),
  );
const receiveCount = (message: Message) => message.Attributes?.ApproximateReceiveCount;

async function queues(): Promise<void> {
  const url = await create('queues', { VisibilityTimeout: '45' });
  checkEqual('create again', await create('queues'), url);
  await checkRefused(
    'create with another value',
    create('queues', { VisibilityTimeout: '4' }),
    QueueNameExists,
  );
  const found = await sqs.send(new GetQueueUrlCommand({ QueueName: `${prefix}-queues` }));
  checkEqual('GetQueueUrl', found.QueueUrl, url);
  const missing = sqs.send(new GetQueueUrlCommand({ QueueName: `${prefix}-none` }));
  await checkRefused('GetQueueUrl of a missing queue', missing, QueueDoesNotExist);
  await checkRefused('an unknown attribute', create('bad', { Colour: 'red' }), InvalidAttributeName);

  const made: string[] = [];
  for (const name of ['list-a', 'list-b', 'list-c', 'list-d', 'list-e']) made.push(await create(name));
  const listed: string[] = [];
  for await (const page of paginateListQueues(
    { client: sqs, pageSize: 2 },
    { QueueNamePrefix: `${prefix}-list` },
  ))
    listed.push(...(page.QueueUrls ?? []));
  checkEqual('ListQueues by pages of two', listed, made);
  const none = await sqs.send(new ListQueuesCommand({ QueueNamePrefix: `${prefix}-zzz` }));
  checkEqual('ListQueues of nothing', none.QueueUrls, undefined);

  const changed = { DelaySeconds: '1', VisibilityTimeout: '7' };
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: changed }));
  const seen = await attributesOf(url);
  checkEqual('SetQueueAttributes', [seen.DelaySeconds, seen.VisibilityTimeout], ['1', '7']);
  const stored = {
    KmsMasterKeyId: 'alias/aws/sqs',
    KmsDataKeyReusePeriodSeconds: '60',
    Policy: '{"Version":"2012-10-17","Statement":[]}',
  };
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: stored }));
  const kept = await attributesOf(url);
  checkEqual('a key and a policy are stored and returned', { ...kept, ...stored }, kept);
  checkEqual('a key turns managed encryption off', kept.SqsManagedSseEnabled, 'false');
  const removed = { SqsManagedSseEnabled: 'true', Policy: '' };
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: removed }));
  const { SqsManagedSseEnabled, KmsMasterKeyId, Policy } = await attributesOf(url);
  checkEqual('and on again', [SqsManagedSseEnabled, KmsMasterKeyId, Policy], ['true', undefined, undefined]);
  for (const each of [url, ...made]) await sqs.send(new DeleteQueueCommand({ QueueUrl: each }));
  await checkRefused('a deleted queue is gone', send(url, 'x'), QueueDoesNotExist);
}

async function sending(): Promise<void> {
  const url = await create('sending');
  const attributes: Record<string, MessageAttributeValue> = {
    text: { DataType: 'String', StringValue: 'grüße 😀' },
    count: { DataType: 'Number.int', StringValue: '42' },
    bytes: { DataType: 'Binary', BinaryValue: Uint8Array.from({ length: 256 }, (_, index) => index) },
  };
  for (const body of [
    'plain',
    'tab\tline\nreturn\r\r\n',
    'emoji 😀 👩‍👩‍👧 \u{10ffff}',
    '<&>"\\',
    ' spaces ',
  ]) {
    const sent = await sqs.send(
      new SendMessageCommand({ QueueUrl: url, MessageBody: body, MessageAttributes: attributes }),
    );
    checkEqual('MD5OfMessageBody', sent.MD5OfMessageBody, md5(body));
    const message = await receiveOne('send and receive', url, { MessageAttributeNames: ['All'] });
    checkEqual('the body round trips', message.Body, body);
    checkEqual('MessageId', message.MessageId, sent.MessageId);
    checkEqual(
      'attributes round trip',
      Object.entries(message.MessageAttributes ?? {})
        .map(([name, value]) => [
          name,
          value.StringValue ?? Buffer.from(value.BinaryValue ?? []).toString('hex'),
        ])
        .sort(),
      Object.entries(attributes)
        .map(([name, value]) => [
          name,
          value.StringValue ?? Buffer.from(value.BinaryValue ?? []).toString('hex'),
        ])
        .sort(),
    );
    checkEqual('MD5OfMessageAttributes', message.MD5OfMessageAttributes, sent.MD5OfMessageAttributes);
    await remove(url, message);
  }
  await sqs.send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'x', MessageAttributes: attributes }));
  const filtered = await receiveOne('a filter', url, { MessageAttributeNames: ['cou.*', 'text'] });
  checkEqual('a filter', Object.keys(filtered.MessageAttributes ?? {}).sort(), ['count', 'text']);
  await remove(url, filtered);

  await systemAttributes(url);
  const largest = 'm'.repeat(1048576);
  await send(url, largest);
  const large = await receiveOne('1 MiB', url);
  check('1 MiB round trips', large.Body === largest, large.Body?.length);
  await remove(url, large);
  await checkRefused('a byte more', send(url, `${largest}m`), 'InvalidParameterValue');
  const Entries = Array.from({ length: 10 }, (_, n) => ({ Id: `e${n}`, MessageBody: `${n}`.repeat(104857) }));
  const batch = await sqs.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
  checkEqual(
    'a full batch',
    batch.Successful?.map((entry) => entry.Id),
    Entries.map((entry) => entry.Id),
  );
  checkEqual('nothing failed', batch.Failed, undefined);
  const got = new Map<string, Message>();
  while (got.size < 10) {
    const messages = await receive(url, { MaxNumberOfMessages: 10 });
    check('the batch comes back', messages.length > 0, got.size);
    for (const message of messages) got.set(message.MessageId as string, message);
  }
  const handles = [...got.values()].map((message, n) => ({
    Id: `${n}`,
    ReceiptHandle: message.ReceiptHandle,
  }));
  const deleted = await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries: handles }));
  checkEqual('a batch of deletes', deleted.Successful?.length, 10);
  checkEqual('nothing is left', await counts(url), ['0', '0', '0']);
  await sqs.send(new DeleteQueueCommand({ QueueUrl: url }));
}

async function systemAttributes(QueueUrl: string): Promise<void> {
  const StringValue = 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1';
  const MessageSystemAttributes = { AWSTraceHeader: { DataType: 'String', StringValue } };
  const tenant = { QueueUrl, MessageBody: 'traced', MessageGroupId: 'tenant-1' };
  const sent = await sqs.send(new SendMessageCommand({ ...tenant, MessageSystemAttributes }));
  checkEqual('AWSTraceHeader is no message attribute', sent.MD5OfMessageAttributes, undefined);
  check('it has an MD5 of its own', /^[0-9a-f]{32}$/.test(sent.MD5OfMessageSystemAttributes ?? ''), sent);
  const message = await receiveOne('traced', QueueUrl);
  checkEqual('AWSTraceHeader comes back', message.Attributes?.AWSTraceHeader, StringValue);
  checkEqual('so does MessageGroupId on a standard queue', message.Attributes?.MessageGroupId, 'tenant-1');
  await sqs.send(new SendMessageCommand({ ...tenant, MessageBody: 'of the same tenant' }));
  const other = await receiveOne('a group in flight locks nobody out', QueueUrl);
  for (const each of [message, other]) await remove(QueueUrl, each);
  const wrong = { ...tenant, MessageSystemAttributes: { Other: { DataType: 'String', StringValue } } };
  const refused = sqs.send(new SendMessageCommand(wrong as SendMessageCommandInput));
  await checkRefused('a system attribute that is none', refused, 'InvalidParameterValue');
}

async function mistakes(): Promise<void> {
  const url = await create('mistakes');
  const batch = (...ids: string[]) => {
    const Entries = ids.map((Id) => ({ Id, MessageBody: Id === 'bad' ? '\u0001' : 'x' }));
    return sqs.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
  };
  await checkRefused('a control character', send(url, '\u0001'), InvalidMessageContents);
  await checkRefused('an empty batch', batch(), EmptyBatchRequest);
  await checkRefused('an id twice', batch('a', 'a'), BatchEntryIdsNotDistinct);
  await checkRefused('eleven entries', batch(...'abcdefghijk'), TooManyEntriesInBatchRequest);
  await checkRefused('a bad handle', remove(url, { ReceiptHandle: 'nonsense' }), ReceiptHandleIsInvalid);
  await checkRefused('eleven messages', receive(url, { MaxNumberOfMessages: 11 }), 'InvalidParameterValue');
  const mixed = await batch('good', 'bad', 'fine');
  checkEqual(
    'partial failure: sent',
    mixed.Successful?.map((entry) => entry.Id),
    ['good', 'fine'],
  );
  checkEqual(
    'partial failure: refused',
    mixed.Failed?.map((entry) => [entry.Id, entry.Code]),
    [['bad', 'InvalidMessageContents']],
  );
  const credentials = { accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? '', secretAccessKey: 'wrong' };
  const stranger = new SQSClient({ credentials });
  await checkRefused('a wrong secret', stranger.send(new ListQueuesCommand({})), 'SignatureDoesNotMatch');
  await sqs.send(new DeleteQueueCommand({ QueueUrl: url }));
}

async function deliveries(): Promise<void> {
  const url = await create('deliveries');
  await send(url, 'given back');
  const first = await receiveOne('first delivery', url);
  checkEqual('in flight', await counts(url), ['0', '1', '0']);
  await setVisibility(url, first, 0);
  const second = await receiveOne('visibility 0', url);
  checkEqual('receive count 2', receiveCount(second), '2');
  await remove(url, first);
  checkEqual('a superseded handle deletes nothing', await counts(url), ['0', '1', '0']);
  await setVisibility(url, second, 1);
  await pause(1500);
  await remove(url, second);
  checkEqual('an expired handle deletes', await counts(url), ['0', '0', '0']);
  await remove(url, second);

  await sqs.send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'late', DelaySeconds: 2 }));
  checkEqual('delayed', await counts(url), ['0', '0', '1']);
  const late = await receiveOne('the delay ends', url, { WaitTimeSeconds: 10 });
  const Entries = [
    { Id: 'a', ReceiptHandle: late.ReceiptHandle, VisibilityTimeout: 0 },
    { Id: 'b', ReceiptHandle: 'nonsense', VisibilityTimeout: 0 },
  ];
  const answer = await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
  checkEqual(
    'a batch of visibilities',
    answer.Successful?.map((entry) => entry.Id),
    ['a'],
  );
  checkEqual(
    'and its failure',
    answer.Failed?.map((entry) => entry.Code),
    ['ReceiptHandleIsInvalid'],
  );
  await sqs.send(new PurgeQueueCommand({ QueueUrl: url }));
  checkEqual('purge', await counts(url), ['0', '0', '0']);

  const waiting = receiveOne('a long poll is woken by a send', url, { WaitTimeSeconds: 20 });
  await pause(500);
  await send(url, 'wake up');
  await remove(url, await waiting);

  const gone = new AbortController();
  const abandoned = sqs.send(new ReceiveMessageCommand({ QueueUrl: url, WaitTimeSeconds: 20 }), {
    abortSignal: gone.signal,
  });
  setTimeout(() => gone.abort(), 500);
  const outcome = await abandoned.catch((error: Error) => error.name);
  checkEqual('a client gives up its long poll', outcome, 'AbortError');
  await pause(300);
  await send(url, 'not swallowed');
  checkEqual('and swallows nothing', receiveCount(await receiveOne('afterwards', url)), '1');
  await sqs.send(new DeleteQueueCommand({ QueueUrl: url }));
  checkEqual('recreate at once', await create('deliveries'), url);
  checkEqual('it is empty', await counts(url), ['0', '0', '0']);
  await sqs.send(new DeleteQueueCommand({ QueueUrl: url }));
}

async function deadLetters(): Promise<void> {
  const dead = await create('dead');
  const deadLetterTargetArn = (await attributesOf(dead)).QueueArn;
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: '2' });
  const url = await create('work', { RedrivePolicy });
  const sent = await send(url, 'poison');
  for (const attempt of ['1', '2']) {
    const message = await receiveOne(`attempt ${attempt}`, url);
    checkEqual('its count', receiveCount(message), attempt);
    await setVisibility(url, message, 0);
  }
  checkEqual('the third receive is empty', await receive(url, { WaitTimeSeconds: 1 }), []);
  const message = await receiveOne('dead letter', dead, { WaitTimeSeconds: 10 });
  checkEqual('the same MessageId', message.MessageId, sent.MessageId);
  const source = message.Attributes?.DeadLetterQueueSourceArn;
  checkEqual('DeadLetterQueueSourceArn', source, (await attributesOf(url)).QueueArn);
  checkEqual('its count goes on', receiveCount(message), '3');
  await remove(dead, message);
  const found = await sqs.send(new ListDeadLetterSourceQueuesCommand({ QueueUrl: dead }));
  checkEqual('ListDeadLetterSourceQueues', found.queueUrls, [url]);
  const denyAll = { RedriveAllowPolicy: JSON.stringify({ redrivePermission: 'denyAll' }) };
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl: dead, Attributes: denyAll }));
  const denied = sqs.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { RedrivePolicy } }));
  await checkRefused('a source that is not allowed', denied, 'InvalidParameterValue');
  for (const each of [url, dead]) await sqs.send(new DeleteQueueCommand({ QueueUrl: each }));
}

async function moves(): Promise<void> {
  const dead = await create('moves-dead');
  const other = await create('moves-other');
  const [SourceArn, DestinationArn] = [
    (await attributesOf(dead)).QueueArn,
    (await attributesOf(other)).QueueArn,
  ];
  const start = (rate: number) =>
    sqs.send(
      new StartMessageMoveTaskCommand({ SourceArn, DestinationArn, MaxNumberOfMessagesPerSecond: rate }),
    );
  await checkRefused('a move from no dead-letter queue', start(1), 'InvalidParameterValue');
  const policy = JSON.stringify({ deadLetterTargetArn: SourceArn, maxReceiveCount: 1 });
  const work = await create('moves-work', { RedrivePolicy: policy });
  const newest = async () => (await sqs.send(new ListMessageMoveTasksCommand({ SourceArn }))).Results?.[0];
  checkEqual('no task yet', await newest(), undefined);
  for (let n = 0; n < 10; n += 1) await send(dead, `letter ${n}`);
  const { TaskHandle } = await start(1);
  await checkRefused('a second task', start(1), 'InvalidParameterValue');
  checkEqual('a running task has its handle', (await newest())?.TaskHandle, TaskHandle);
  const cancel = () => sqs.send(new CancelMessageMoveTaskCommand({ TaskHandle }));
  check('cancelled in the middle', ((await cancel()).ApproximateNumberOfMessagesMoved ?? 10) < 10);
  await checkRefused('cancelled twice', cancel(), ResourceNotFoundException);
  while ((await newest())?.Status !== 'CANCELLED') await pause(200);
  await start(500);
  while ((await newest())?.Status === 'RUNNING') await pause(200);
  checkEqual('then all are moved', [await counts(dead), await counts(other)].map(String), [
    '0,0,0',
    '10,0,0',
  ]);
  for (const QueueUrl of [work, dead, other]) await sqs.send(new DeleteQueueCommand({ QueueUrl }));
}

async function tagsOf(QueueUrl: string): Promise<Record<string, string> | undefined> {
  return (await sqs.send(new ListQueueTagsCommand({ QueueUrl }))).Tags;
}

async function tags(): Promise<void> {
  const given = { team: 'blue', 'Kosten stelle': '', 'path/to:x': 'a+b=c@d' };
  const created = await sqs.send(new CreateQueueCommand({ QueueName: `${prefix}-tags`, tags: given }));
  const QueueUrl = created.QueueUrl as string;
  checkEqual('tags of CreateQueue are read back', await tagsOf(QueueUrl), given);
  const Tags = { team: 'red', Team: 'another key' };
  await sqs.send(new TagQueueCommand({ QueueUrl, Tags }));
  checkEqual('TagQueue adds and overwrites', await tagsOf(QueueUrl), { ...given, ...Tags });
  checkEqual('create again leaves them', await create('tags'), QueueUrl);
  const TagKeys = [...Object.keys(given), 'never there'];
  await sqs.send(new UntagQueueCommand({ QueueUrl, TagKeys }));
  checkEqual('UntagQueue removes', await tagsOf(QueueUrl), { Team: 'another key' });
  const reserved = sqs.send(new TagQueueCommand({ QueueUrl, Tags: { 'aws:x': '1' } }));
  await checkRefused('a reserved key', reserved, 'InvalidParameterValue');
  await sqs.send(new UntagQueueCommand({ QueueUrl, TagKeys: ['Team'] }));
  checkEqual('no tags, no key', await tagsOf(QueueUrl), undefined);

  const grant = { QueueUrl, Label: 'one', AWSAccountIds: ['111111111111'], Actions: ['SendMessage'] };
  await sqs.send(new AddPermissionCommand(grant));
  const { Statement } = JSON.parse((await attributesOf(QueueUrl)).Policy ?? '{}');
  checkEqual(
    'AddPermission writes the policy',
    [Statement[0].Sid, Statement[0].Action],
    ['one', 'SQS:SendMessage'],
  );
  const again = sqs.send(new AddPermissionCommand({ ...grant, Actions: ['*'] }));
  await checkRefused('a label once more', again, 'InvalidParameterValue');
  await sqs.send(new RemovePermissionCommand({ QueueUrl, Label: 'one' }));
  checkEqual('RemovePermission removes it', (await attributesOf(QueueUrl)).Policy, undefined);
  await sqs.send(new DeleteQueueCommand({ QueueUrl }));
}

for (const part of [queues, sending, mistakes, deliveries, deadLetters, moves, tags]) await part();
sqs.destroy();
for (const deed of [
  'every action',
  'errors',
  'batches',
  'attributes with MD5',
  'redeliveries',
  'long poll',
  'dead letters',
  'tags and permissions',
  'message move tasks',
])
  console.log(`did ${deed}`);
