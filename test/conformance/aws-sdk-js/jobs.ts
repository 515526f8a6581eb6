/** Jobs on aws-sdk-js v3, for worker-trial.ts: ten at a time. The SDK itself checks the MD5 of every body. */
import { deepStrictEqual } from 'node:assert';
import { createHash } from 'node:crypto';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueUrlCommand,
  type Message,
  type MessageAttributeValue,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { attributesOf, queueName, run } from '../job-records.ts';

const sqs = new SQSClient({});
const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: queueName }));

/** Of attributes in the order of their names. */
function md5Of(attributes: Readonly<Record<string, MessageAttributeValue>>): string {
  const hash = createHash('md5');
  const update = (data: Uint8Array) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    hash.update(length).update(data);
  };
  for (const [name, { DataType = '', StringValue = '', BinaryValue }] of Object.entries(attributes)) {
    update(Buffer.from(name));
    update(Buffer.from(DataType));
    hash.update(Uint8Array.of(BinaryValue === undefined ? 1 : 2));
    update(BinaryValue ?? Buffer.from(StringValue));
  }
  return hash.digest('hex');
}

async function send(from: number, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => `${from + index}`);
  while (numbers.length > 0) {
    const Entries = numbers
      .splice(0, 10)
      .map((number) => ({ Id: number, MessageBody: number, MessageAttributes: attributesOf(number) }));
    const { Successful = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    deepStrictEqual(
      Successful.map(({ MD5OfMessageAttributes }) => MD5OfMessageAttributes),
      Entries.map(({ MessageAttributes }) => md5Of(MessageAttributes)),
    );
  }
  console.log('did batches\ndid attributes with MD5');
}

async function job({ Body = '', ReceiptHandle, ...message }: Message): Promise<void> {
  deepStrictEqual(message.MessageAttributes, attributesOf(Body));
  deepStrictEqual(message.MD5OfMessageAttributes, md5Of(attributesOf(Body)));
  try {
    await run(Body);
  } catch {
    await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
    return;
  }
  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
}

async function work(): Promise<void> {
  const stop = new AbortController();
  process.on('SIGTERM', () => stop.abort());
  const poll = { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 20, MessageAttributeNames: ['All'] };
  while (!stop.signal.aborted) {
    const { Messages = [] } = await sqs
      .send(new ReceiveMessageCommand(poll), { abortSignal: stop.signal })
      .catch((error: unknown) => {
        if (stop.signal.aborted) return { Messages: [] };
        throw error;
      });
    await Promise.all(Messages.map(job));
  }
}

const [mode, from, count] = process.argv.slice(2);
await (mode === 'send' ? send(Number(from), Number(count)) : work());
