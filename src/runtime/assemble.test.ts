import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { Log } from '../engine/environment.ts';
import { type RunningNode, startNode } from './assemble.ts';
import { readConfig } from './config.ts';
import { DEVELOPMENT_CREDENTIAL } from './credentials.ts';
import { currentPlatform } from './current-platform.ts';

const platform = await currentPlatform();
const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

async function node(listen = '127.0.0.1:0'): Promise<RunningNode> {
  const outcome = await readConfig(
    { OKURI_DATA_DIR: 'memory:', OKURI_LISTEN: listen, OKURI_HEALTH_LISTEN: '127.0.0.1:0' },
    async () => ({ content: '', worldReadable: false }),
  );
  assert.equal(outcome.kind, 'done');
  const { config } = outcome as Extract<typeof outcome, { kind: 'done' }>;
  return startNode({ config, platform, log: silent, onLost: () => {} });
}

/** Sends bytes as they are and reads until the other side closes. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(text));
    let received = '';
    socket.on('data', (chunk: Uint8Array) => {
      received += new TextDecoder().decode(chunk);
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}

function bodyOf(answer: string) {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as { __type: string; message: string };
}

describe('a node', () => {
  it('answers an SQS client, tells metrics of it, and lets a waiting receive end empty when it stops', async () => {
    const running = await node();
    const sqs = new SQSClient({
      endpoint: `http://127.0.0.1:${running.api.port}`,
      region: 'us-east-1',
      credentials: DEVELOPMENT_CREDENTIAL,
      maxAttempts: 1,
    });
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: 'assembled' }));
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'one' }));
    const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 5 }));
    assert.equal(Messages?.[0]?.Body, 'one');
    const health = `http://127.0.0.1:${running.health.port}`;
    const metrics = await (await fetch(`${health}/metrics`)).text();
    assert.match(metrics, /okuri_requests_total\{action="SendMessage",status="200"\} 1\n/);
    assert.match(metrics, /okuri_commits_total [1-9]/);
    assert.match(metrics, /okuri_store_requests_total\{class="conditional_put"\} [1-9]/);
    assert.equal((await fetch(`${health}/readyz`)).status, 200);
    const waiting = sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }));
    const [received] = await Promise.all([waiting, stopAfterTheReceive(running)]);
    assert.equal(received.Messages, undefined);
    sqs.destroy();
    await assert.rejects(fetch(`${health}/healthz`));
  });

  it("words the listener's own answers as SQS does", async () => {
    const running = await node();
    const { port } = running.api;
    const broken = await raw(port, 'NONSENSE\r\n\r\n');
    assert.match(broken, /^HTTP\/1\.1 400 /);
    assert.match(bodyOf(broken).__type, /#SerializationException$/);
    const headers = await raw(port, `POST / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`);
    assert.match(headers, /^HTTP\/1\.1 431 /);
    const body = 'x'.repeat(8 * 1024 * 1024 + 1);
    const tooLarge = (kind: string) =>
      raw(port, `POST / HTTP/1.1\r\nHost: a\r\n${kind}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    const form = await tooLarge('Content-Type: application/x-www-form-urlencoded');
    assert.match(form, /^HTTP\/1\.1 413 [\s\S]*<Code>RequestEntityTooLarge<\/Code>/);
    const large = await tooLarge('X-Amz-Target: AmazonSQS.SendMessage');
    assert.match(large, /^HTTP\/1\.1 413 /);
    assert.match(large, /x-amzn-query-error: RequestEntityTooLarge;Sender/i);
    assert.match(bodyOf(large).__type, /#RequestEntityTooLargeException$/);
    await running.stop();
  });

  it('leaves nothing open when it cannot start', async () => {
    // An address that no connection of another program is given a port of in between.
    const first = await node('[::1]:0');
    await assert.rejects(node(`[::1]:${first.api.port}`), /already in use/);
    assert.equal((await fetch(`http://127.0.0.1:${first.health.port}/readyz`)).status, 200);
    await first.stop();
    const again = await node(`[::1]:${first.api.port}`);
    await again.stop();
  });
});

/** Waits until the receive is one of the connections that are worked for. */
async function stopAfterTheReceive(running: RunningNode): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 200));
  await running.stop();
}
