/**
 * Jobs on sqs-consumer and its partner sqs-producer, for worker-trial.ts. A job that fails is given back at once
 * (`terminateVisibilityTimeout`). The SDK below checks the MD5 of every body.
 */
import { deepStrictEqual } from 'node:assert';
import { GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { Consumer } from 'sqs-consumer';
import { Producer } from 'sqs-producer';
import { attributesOf, queueName, run } from '../job-records.ts';

const sqs = new SQSClient({});
const { QueueUrl: queueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: queueName }));

async function send(from, count) {
  const producer = Producer.create({ queueUrl, sqs });
  const messages = Array.from({ length: count }, (_, index) => ({
    id: `job-${from + index}`,
    body: `${from + index}`,
    messageAttributes: attributesOf(`${from + index}`),
  }));
  const sent = await producer.send(messages);
  if (sent.length !== count) throw new Error(`sent ${sent.length} of ${count}`);
  console.log('did batches');
}

async function job(message) {
  deepStrictEqual(message.MessageAttributes, attributesOf(message.Body));
  await run(message.Body);
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
  consumer.start();
}

const [mode, from, count] = process.argv.slice(2);
if (mode === 'send') {
  await send(Number(from), Number(count));
  console.log('did attributes');
} else work();
