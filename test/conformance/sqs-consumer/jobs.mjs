/**
 * Jobs on sqs-consumer and its partner sqs-producer, for worker-trial.ts. A job that fails is given back at once
 * (`terminateVisibilityTimeout`). The SDK below checks the MD5 of every body.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { Consumer } from 'sqs-consumer';
import { Producer } from 'sqs-producer';

const { JOB_QUEUE, JOB_RECORDS, JOB_WORKER, JOB_FAILS, JOB_HANGS } = process.env;
const sqs = new SQSClient({});
const { QueueUrl: queueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: JOB_QUEUE }));

const fileOf = (event, number) => join(JOB_RECORDS, `${event}-${number}.${JOB_WORKER}`);
const record = (event, number) => writeFileSync(fileOf(event, number), '');
const happened = (event, number) =>
  readdirSync(JOB_RECORDS).some((name) => name.startsWith(`${event}-${number}.`));

async function send(from, count) {
  const producer = Producer.create({ queueUrl, sqs });
  const messages = Array.from({ length: count }, (_, index) => ({
    id: `job-${from + index}`,
    body: `${from + index}`,
    messageAttributes: {
      kind: { DataType: 'String', StringValue: 'größe 😀' },
      number: { DataType: 'Number', StringValue: `${from + index}` },
      bytes: { DataType: 'Binary', BinaryValue: Uint8Array.of(0, 255) },
    },
  }));
  const sent = await producer.send(messages);
  if (sent.length !== count) throw new Error(`sent ${sent.length} of ${count}`);
  console.log('did batches');
}

async function job(message) {
  const { kind, number, bytes } = message.MessageAttributes;
  const attributes = [kind.StringValue, number.StringValue, Buffer.from(bytes.BinaryValue).toString('hex')];
  if (`${attributes}` !== `größe 😀,${message.Body},00ff`) throw new Error(`wrong attributes ${attributes}`);
  if (message.Body === JOB_FAILS && !happened('failed', message.Body)) {
    record('failed', message.Body);
    throw new Error('fails once');
  }
  if (message.Body === JOB_HANGS) {
    const elsewhere = happened('started', message.Body) && !existsSync(fileOf('started', message.Body));
    record('started', message.Body);
    if (!elsewhere) await new Promise((resolve) => setTimeout(resolve, 300_000));
  }
  record('done', message.Body);
  return message;
}

function work() {
  const consumer = Consumer.create({
    queueUrl,
    sqs,
    batchSize: 10,
    waitTimeSeconds: 20,
    messageAttributeNames: ['All'],
    terminateVisibilityTimeout: true,
    handleMessage: job,
  });
  for (const event of ['error', 'processing_error'])
    consumer.on(event, (error) => console.log(error.message));
  consumer.on('stopped', () => process.exit(0));
  process.on('SIGTERM', () => consumer.stop({ abort: true }));
  if (!existsSync(JOB_RECORDS)) throw new Error(`no folder ${JOB_RECORDS}`);
  consumer.start();
}

const [mode, from, count] = process.argv.slice(2);
if (mode === 'send') {
  await send(Number(from), Number(count));
  console.log('did attributes');
} else work();
