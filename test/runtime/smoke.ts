/**
 * What must hold of `okuri serve` under every runtime, asked by the AWS SDK: a message survives kill -9, a waiting
 * receive is answered empty at SIGTERM, the exit code is 0 and no secret is in the log.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { DEVELOPMENT_CREDENTIAL } from '../../src/runtime/credentials.ts';
import { launch, type Served, untilReady } from './served.ts';

function clientOf(served: Served): SQSClient {
  return new SQSClient({
    endpoint: `http://127.0.0.1:${served.apiPort}`,
    region: 'us-east-1',
    credentials: DEVELOPMENT_CREDENTIAL,
    maxAttempts: 1,
  });
}

/** @throws Error with what did not hold. */
export async function smoke(command: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'okuri-smoke-'));
  const environment = { OKURI_DATA_DIR: join(folder, 'data'), OKURI_LOG_LEVEL: 'debug' };
  try {
    const body = `survives kill -9 \u{1F680} ${Date.now()}`;
    const first = await launch(command, environment);
    await untilReady(first);
    const sender = clientOf(first);
    const { QueueUrl } = await sender.send(new CreateQueueCommand({ QueueName: 'smoke' }));
    await sender.send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
    await sender.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x'.repeat(1_048_576) }));
    sender.destroy();
    first.signal('SIGKILL');
    await first.ended;
    const second = await launch(command, environment);
    await untilReady(second);
    await receiveAndStop(second, body);
    for (const output of [first.output(), second.output()]) {
      assert.ok(!output.includes(DEVELOPMENT_CREDENTIAL.secretAccessKey), 'the secret is in the log');
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function receiveAndStop(served: Served, body: string): Promise<void> {
  const receiver = clientOf(served);
  const QueueUrl = `http://127.0.0.1:${served.apiPort}/000000000000/smoke`;
  const bodies = new Set<string>();
  while (bodies.size < 2) {
    const received = await receiver.send(
      new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 10, MaxNumberOfMessages: 10 }),
    );
    assert.ok(received.Messages !== undefined, `a message is gone after kill -9:\n${served.output()}`);
    for (const message of received.Messages) {
      bodies.add(message.Body ?? '');
      await receiver.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
    }
  }
  assert.ok(bodies.has(body));
  const waiting = receiver.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }));
  // Nothing tells from outside that a receive waits; should the signal be first, the receive is refused and this fails.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  served.signal('SIGTERM');
  const empty = await waiting;
  assert.equal(empty.Messages, undefined);
  assert.equal(await served.ended, 0, served.output());
  receiver.destroy();
}
