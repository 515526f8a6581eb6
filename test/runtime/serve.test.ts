import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, describe, it } from 'node:test';
import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { DEVELOPMENT_CREDENTIAL } from '../../src/runtime/credentials.ts';
import { currentPlatform } from '../../src/runtime/current-platform.ts';
import { type CarelessS3, startCarelessS3 } from './careless-s3.ts';
import { launch, type Served, untilReady } from './served.ts';
import { smoke } from './smoke.ts';

const { name } = await currentPlatform();
const SERVE = {
  node: ['--import', 'tsx', 'src/cli/main.ts', 'serve'],
  bun: ['src/cli/main.ts', 'serve'],
  deno: ['run', '--allow-all', 'src/cli/main.ts', 'serve'],
}[name];
const command = [process.execPath, ...SERVE];
const folder = mkdtempSync(join(tmpdir(), 'okuri-serve-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function client(served: Served): SQSClient {
  return new SQSClient({
    endpoint: `http://127.0.0.1:${served.apiPort}`,
    region: 'us-east-1',
    credentials: DEVELOPMENT_CREDENTIAL,
    maxAttempts: 1,
  });
}

const status = async (served: Served, path: string) => {
  const answer = await fetch(`http://127.0.0.1:${served.healthPort}${path}`);
  await answer.arrayBuffer();
  return answer.status;
};

function onBucket({ endpoint, bucket }: CarelessS3): Readonly<Record<string, string>> {
  return {
    OKURI_S3_ENDPOINT: endpoint,
    OKURI_S3_BUCKET: bucket,
    OKURI_S3_REGION: 'us-east-1',
    OKURI_S3_FORCE_PATH_STYLE: 'on',
    OKURI_S3_ACCESS_KEY_ID: 'AKIDBUCKET',
    OKURI_S3_SECRET_ACCESS_KEY: 'secret-of-the-bucket',
    OKURI_LINGER_MS: '0',
  };
}

describe('okuri serve', () => {
  it('keeps a message over kill -9, answers a waiting receive at SIGTERM and ends with 0', async () => {
    await smoke(command);
  });

  it('ends with 2 and names every mistake of the configuration', async () => {
    const served = await launch(command, { OKURI_ACCOUNT_ID: '1', OKURI_REGOIN: 'x' });
    assert.equal(await served.ended, 2);
    assert.match(served.output(), /2 mistakes/);
    assert.match(served.output(), /OKURI_ACCOUNT_ID must be twelve digits/);
    assert.match(served.output(), /did you mean OKURI_REGION\?/);
  });

  it('refuses other addresses than loopback with the development pair', async () => {
    const served = await launch(command, { OKURI_LISTEN: '0.0.0.0:0' });
    assert.equal(await served.ended, 2);
    assert.match(served.output(), /development pair is for loopback only/);
  });

  it('ends with 1 and names the address that is taken', async () => {
    const taken = net.createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as net.AddressInfo;
    for (const variable of ['OKURI_LISTEN', 'OKURI_HEALTH_LISTEN']) {
      const served = await launch(command, { [variable]: `127.0.0.1:${port}`, OKURI_DATA_DIR: 'memory:' });
      assert.equal(await served.ended, 1);
      assert.match(served.output(), new RegExp(`${variable} 127.0.0.1:${port} is already in use`));
    }
    await new Promise((resolve) => taken.close(resolve));
  });

  it('ends with 1 when another process has the folder, and names it', async () => {
    const environment = { OKURI_DATA_DIR: join(folder, 'shared') };
    const first = await launch(command, environment);
    await untilReady(first);
    const second = await launch(command, environment);
    assert.equal(await second.ended, 1);
    assert.match(second.output(), /OKURI_DATA_DIR .*shared.* in use by process \d+/);
    assert.equal(await status(first, '/readyz'), 200);
    first.signal('SIGTERM');
    assert.equal(await first.ended, 0);
  });

  it('ends with 1 on a store that ignores If-Match, and names the probe', async () => {
    const bucket = await startCarelessS3();
    bucket.ignoresIfMatch = true;
    const served = await launch(command, onBucket(bucket));
    assert.equal(await served.ended, 1);
    assert.match(served.output(), /bucket careless at http.* failed the probe .*swap with a wrong tag/);
    assert.ok(!served.output().includes('secret-of-the-bucket'));
    await bucket.stop();
  });

  it('says in its log why a store fails that was good at start, and loses nothing', async () => {
    const bucket = await startCarelessS3();
    const served = await launch(command, onBucket(bucket));
    await untilReady(served);
    const sqs = client(served);
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: 'refused' }));
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'before' }));
    bucket.deniesAccess = true;
    const refused = sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'while refused' }));
    await assert.rejects(refused, { name: 'ServiceUnavailable' });
    bucket.deniesAccess = false;
    const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 10 }));
    assert.equal(Messages?.[0]?.Body, 'before');
    sqs.destroy();
    served.signal('SIGTERM');
    assert.equal(await served.ended, 0);
    const log = served.output();
    assert.match(log, /"level":"WARN","message":"The store fails".*denies access.*403 AccessDenied/);
    assert.ok(log.indexOf('The store fails') > log.indexOf('okuri is ready'));
    await bucket.stop();
  });

  it('listens on IPv6, takes pairs from a file, and keeps every secret out of its log', async () => {
    const secret = 'secret-of-the-file-0123456789';
    const path = join(folder, 'credentials.json');
    writeFileSync(
      path,
      JSON.stringify({ credentials: [{ accessKeyId: 'AKIDFILE', secretAccessKey: secret }] }),
      {
        mode: 0o644,
      },
    );
    const served = await launch(command, {
      OKURI_LISTEN: '[::1]:0',
      OKURI_CREDENTIALS_FILE: path,
      OKURI_DATA_DIR: 'memory:',
      OKURI_LOG_LEVEL: 'debug',
    });
    await untilReady(served);
    const port = /"api":"http:\/\/\[::1\]:(\d+)"/.exec(served.output())?.[1];
    const own = new SQSClient({
      endpoint: `http://[::1]:${port}`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'AKIDFILE', secretAccessKey: secret },
      maxAttempts: 1,
    });
    const { QueueUrl } = await own.send(new CreateQueueCommand({ QueueName: 'file' }));
    assert.equal(QueueUrl, `http://[::1]:${port}/000000000000/file`);
    const stranger = new SQSClient({
      endpoint: `http://[::1]:${port}`,
      region: 'us-east-1',
      credentials: DEVELOPMENT_CREDENTIAL,
      maxAttempts: 1,
    });
    await assert.rejects(stranger.send(new CreateQueueCommand({ QueueName: 'no' })));
    own.destroy();
    stranger.destroy();
    served.signal('SIGINT');
    assert.equal(await served.ended, 0);
    assert.match(served.output(), /can be read by every user/);
    assert.ok(!served.output().includes(secret));
  });

  it('releases what a client that went away was waiting for', async () => {
    const served = await launch(command, { OKURI_DATA_DIR: 'memory:' });
    await untilReady(served);
    const sqs = client(served);
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: 'gone' }));
    const leaving = client(served);
    const abandoned = assert.rejects(
      leaving.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 })),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    // Destroys the socket; an abort signal alone leaves it open on Deno.
    leaving.destroy();
    await abandoned;
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'for another' }));
    const next = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 10, MessageSystemAttributeNames: ['All'] }),
    );
    assert.equal(next.Messages?.[0]?.Body, 'for another');
    assert.equal(next.Messages?.[0]?.Attributes?.ApproximateReceiveCount, '1');
    sqs.destroy();
    served.signal('SIGTERM');
    assert.equal(await served.ended, 0);
  });
});
