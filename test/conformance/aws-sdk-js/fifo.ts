/**
 * FIFO queues as a program on aws-sdk-js v3 uses them: a producer that sends everything twice, and four consumers of ten
 * groups, one in seven of whose messages fails once. The SDK itself checks the MD5 of every body.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  ChangeMessageVisibilityBatchCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { check, checkEqual, checkRefused } from './checks.ts';

const GROUPS = Array.from({ length: 10 }, (_, number) => `group-${number}`);
const NUMBERS = Array.from({ length: 12 }, (_, number) => number);
const CONSUMERS = 4;

const sqs = new SQSClient({});
const prefix = `aws-sdk-js-fifo-${randomBytes(6).toString('hex')}`;
const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis));

async function create(name: string, attributes: Record<string, string> = {}): Promise<string> {
  const QueueName = `${prefix}-${name}.fifo`;
  const Attributes = { FifoQueue: 'true', ...attributes };
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
  check(`create ${name}`, QueueUrl?.endsWith(`/${QueueName}`) === true, QueueUrl);
  return QueueUrl as string;
}

const remove = (QueueUrl: string) => sqs.send(new DeleteQueueCommand({ QueueUrl }));

async function receive(QueueUrl: string, options: Partial<ReceiveMessageCommandInput> = {}) {
  const input = { QueueUrl, WaitTimeSeconds: 5, ...options };
  const all = { MessageSystemAttributeNames: ['All' as const], MessageAttributeNames: ['All'] };
  return (await sqs.send(new ReceiveMessageCommand({ ...all, ...input }))).Messages ?? [];
}

const jobOf = ({ Body = '' }: Message) => JSON.parse(Body) as { group: string; number: number };
const entriesOf = (messages: readonly Message[]) =>
  messages.map(({ ReceiptHandle }, n) => ({ Id: `${n}`, ReceiptHandle }));

/** Message id → sequence number. */
async function produce(QueueUrl: string): Promise<ReadonlyMap<string, string>> {
  const sent = new Map<string, string>();
  for (const number of NUMBERS) {
    const Entries = GROUPS.map((group) => ({
      Id: group,
      MessageBody: JSON.stringify({ group, number }),
      MessageGroupId: group,
      MessageDeduplicationId: `${group}/${number}`,
      MessageAttributes: { number: { DataType: 'Number', StringValue: `${number}` } },
    }));
    const first = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    const again = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    checkEqual(`round ${number}: duplicates are answered like the first`, again.Successful, first.Successful);
    for (const { MessageId, SequenceNumber } of first.Successful ?? [])
      sent.set(MessageId ?? '', SequenceNumber ?? '');
  }
  checkEqual('as many messages as were meant', sent.size, GROUPS.length * NUMBERS.length);
  check(
    'numbers of 20 digits',
    [...sent.values()].every((number) => /^[0-9]{20}$/.test(number)),
    sent,
  );
  checkEqual('rising numbers', [...sent.values()], [...sent.values()].sort());
  return sent;
}

class Consumers {
  readonly done = new Map<string, number[]>(GROUPS.map((group) => [group, []]));
  readonly #queueUrl: string;
  readonly #sent: ReadonlyMap<string, string>;
  readonly #held = new Set<string>();
  readonly #failed = new Set<string>();

  constructor(queueUrl: string, sent: ReadonlyMap<string, string>) {
    this.#queueUrl = queueUrl;
    this.#sent = sent;
  }

  async work(): Promise<void> {
    while ([...this.done.values()].some(({ length }) => length < NUMBERS.length)) {
      const messages = await receive(this.#queueUrl, { WaitTimeSeconds: 2, MaxNumberOfMessages: 10 });
      const groups = new Set(messages.map((message) => jobOf(message).group));
      for (const group of groups) {
        if (this.#held.has(group)) check('a group in one hand', false, group);
        this.#held.add(group);
      }
      for (const message of messages) this.#look(message);
      await pause(10);
      for (const group of groups) this.#held.delete(group);
      if (messages.length > 0) await this.#finish(messages);
    }
  }

  #look(message: Message): void {
    const { group, number } = jobOf(message);
    const { MessageGroupId, MessageDeduplicationId, SequenceNumber } = message.Attributes ?? {};
    const right =
      MessageGroupId === group &&
      MessageDeduplicationId === `${group}/${number}` &&
      SequenceNumber === this.#sent.get(message.MessageId ?? '') &&
      message.MessageAttributes?.number?.StringValue === `${number}`;
    if (!right) check('what a message says of itself', false, message);
  }

  /** What fails goes back with everything behind it in its group, by one request. */
  async #finish(messages: readonly Message[]): Promise<void> {
    const back: Message[] = [];
    const keep: Message[] = [];
    for (const message of messages) {
      const { group, number } = jobOf(message);
      const fails = number % 7 === 3 && !this.#failed.has(`${group}/${number}`);
      if (fails) this.#failed.add(`${group}/${number}`);
      if (fails || back.some((other) => jobOf(other).group === group)) back.push(message);
      else {
        keep.push(message);
        this.done.get(group)?.push(number);
      }
    }
    const QueueUrl = this.#queueUrl;
    if (keep.length > 0) {
      const { Failed } = await sqs.send(
        new DeleteMessageBatchCommand({ QueueUrl, Entries: entriesOf(keep) }),
      );
      if (Failed !== undefined) check('a batch of deletes', false, Failed);
    }
    if (back.length > 0) {
      const Entries = entriesOf(back).map((entry) => ({ ...entry, VisibilityTimeout: 0 }));
      const { Failed } = await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
      if (Failed !== undefined) check('a batch of visibilities', false, Failed);
    }
  }
}

async function groups(): Promise<void> {
  const url = await create('groups', { VisibilityTimeout: '60' });
  const sent = await produce(url);
  const consumers = new Consumers(url, sent);
  await Promise.all(Array.from({ length: CONSUMERS }, () => consumers.work()));
  for (const [group, numbers] of consumers.done) checkEqual(`${group} in order`, numbers, NUMBERS);
  const again = { MessageBody: 'late', MessageGroupId: 'any', MessageDeduplicationId: `${GROUPS[0]}/0` };
  const duplicate = await sqs.send(new SendMessageCommand({ QueueUrl: url, ...again }));
  check('a duplicate of what was deleted', sent.has(duplicate.MessageId ?? ''), duplicate);
  checkEqual('is not there', await receive(url, { WaitTimeSeconds: 1 }), []);
  await remove(url);
}

async function locks(): Promise<void> {
  const url = await create('locks', { ContentBasedDeduplication: 'true' });
  const send = (MessageBody: string, more: object = {}) =>
    sqs.send(new SendMessageCommand({ QueueUrl: url, MessageBody, MessageGroupId: 'g', ...more }));
  for (const body of ['1', '2', '3']) await send(body);
  const [first] = await receive(url, { VisibilityTimeout: 2 });
  const hash = createHash('sha256').update('1').digest('hex');
  checkEqual('deduplicated by content', first?.Attributes?.MessageDeduplicationId, hash);
  checkEqual('a group in flight yields nothing', await receive(url, { WaitTimeSeconds: 0 }), []);
  const messages = await receive(url, { WaitTimeSeconds: 10, MaxNumberOfMessages: 2 });
  checkEqual(
    'after its timeout it comes from its head',
    messages.map(({ Body }) => Body),
    ['1', '2'],
  );
  const { ReceiptHandle } = first as Message;
  const late = sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
  await checkRefused('an expired handle', late, 'InvalidParameterValue');
  await checkRefused('DelaySeconds', send('4', { DelaySeconds: 1 }), 'InvalidParameterValue');
  await checkRefused('no group', send('4', { MessageGroupId: undefined }), 'MissingParameter');
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }),
  );
  checkEqual('FifoQueue', Attributes?.FifoQueue, 'true');
  await remove(url);
  const byId = await create('by-id');
  const bare = { QueueUrl: byId, MessageBody: 'x', MessageGroupId: 'g' };
  await checkRefused('no deduplication id', sqs.send(new SendMessageCommand(bare)), 'InvalidParameterValue');
  await remove(byId);
}

for (const part of [groups, locks]) await part();
sqs.destroy();
for (const deed of ['10 groups in order', 'deduplication', 'expired handles', 'attributes with MD5'])
  console.log(`did ${deed}`);
