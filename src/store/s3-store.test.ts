/**
 * The adapter against a server that misbehaves on purpose; well-behaved servers are in test/contract/real-stores.ts.
 * Long, because each fault is a case of its own over one fake server.
 */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, it } from 'node:test';
import { type ETag, StoreError } from './object-store.ts';
import { S3Store } from './s3-store.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}
type Answer = (response: ServerResponse, request: Seen, count: number) => void;

const BODY = new TextEncoder().encode('body');
const TAG = '"0123456789abcdef0123456789abcdef"' as ETag;
/** Short enough for a test, long enough for a busy machine to answer what is answered. */
const TIMEOUT_MILLIS = 1_000;

/** Runs `use` with a store whose every request is read whole and then answered by `answer`. */
async function against<Result>(
  answer: Answer,
  use: (store: S3Store, seen: readonly Seen[], openSockets: ReadonlySet<Socket>) => Promise<Result>,
  options: { readonly prefix?: string } = {},
): Promise<Result> {
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const whole = { method, url, headers, body: Buffer.concat(chunks) };
      seen.push(whole);
      answer(response, whole, seen.length);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  const store = storeAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, options);
  try {
    return await use(store, seen, sockets);
  } finally {
    store.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((settle) => server.close(settle));
  }
}

function storeAt(endpoint: string, options: { readonly prefix?: string } = {}): S3Store {
  return new S3Store({
    bucket: 'bucket',
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'test', secretAccessKey: 'secret' },
    requestTimeoutMillis: TIMEOUT_MILLIS,
    ...options,
  });
}

function refusing(status: number, code: string, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/xml', ...headers });
    response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>told so</Message></Error>`);
  };
}

function accepting(headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(200, { etag: TAG, ...headers });
    response.end();
  };
}

const putIfMatch = (store: S3Store) => store.putIfMatch('key', BODY, TAG);
const putIfAbsent = (store: S3Store) => store.putIfAbsent('key', BODY);
const put = (store: S3Store) => store.put('key', BODY);
const get = (store: S3Store) => store.get('key');
const list = (store: S3Store) => store.list({ prefix: '' });
const writes = [put, putIfAbsent, putIfMatch, (store: S3Store) => store.delete('key')];

async function storeErrorOf(request: Promise<unknown>): Promise<StoreError> {
  const error: unknown = await request.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof StoreError, `no StoreError but ${String(error)}`);
  return error;
}

describe('S3 store: answers of the server', () => {
  it('takes 412 and 409 for a conflict, and 404 of a swap for missing', async () => {
    for (const [status, code] of [
      [412, 'PreconditionFailed'],
      [409, 'ConditionalRequestConflict'],
    ] as const) {
      await against(refusing(status, code), async (store) => {
        assert.deepEqual(await putIfMatch(store), { kind: 'conflict' });
        assert.deepEqual(await putIfAbsent(store), { kind: 'conflict' });
        assert.deepEqual(await store.deleteIfMatch('key', TAG), { kind: 'conflict' });
      });
    }
    await against(refusing(404, 'NoSuchKey'), async (store) => {
      assert.deepEqual(await putIfMatch(store), { kind: 'missing' });
      assert.deepEqual(await store.get('key'), { kind: 'missing' });
      assert.deepEqual(await store.delete('key'), { kind: 'done' });
    });
  });

  it('takes a 304 for unchanged', async () => {
    const answer: Answer = (response) => {
      response.writeHead(304, { etag: TAG });
      response.end();
    };
    await against(answer, async (store, seen) => {
      assert.deepEqual(await store.get('key', { ifNoneMatch: TAG }), { kind: 'unchanged' });
      assert.equal(seen[0]?.headers['if-none-match'], TAG);
    });
  });

  it('sends each request once, and calls a write unknown after a 5xx', async () => {
    for (const [status, code, throttled] of [
      [500, 'InternalError', false],
      [503, 'SlowDown', true],
      [429, 'TooManyRequests', true],
    ] as const) {
      await against(refusing(status, code), async (store, seen) => {
        for (const write of writes) {
          const outcome = await write(store);
          assert.ok(outcome.kind === 'unknown');
          assert.equal(outcome.throttled, throttled);
        }
        const error = await storeErrorOf(store.get('key'));
        assert.deepEqual([error.retryable, error.throttled], [true, throttled]);
        assert.equal(seen.length, writes.length + 1);
      });
    }
  });

  it('explains a refusal that no repetition mends', async () => {
    for (const [status, code, message] of [
      [403, 'AccessDenied', /denies access/],
      [403, 'InvalidAccessKeyId', /rejects the credentials/],
      [404, 'NoSuchBucket', /bucket does not exist/],
      [400, 'InvalidArgument', /refuses the request/],
      [301, 'PermanentRedirect', /another region/],
    ] as const) {
      await against(refusing(status, code), async (store) => {
        for (const request of [put, putIfMatch, get, list]) {
          const error = await storeErrorOf(request(store));
          assert.equal(error.retryable, false);
          assert.match(error.message, message);
        }
      });
    }
  });

  it('calls a write unknown when something else than S3 answers', async () => {
    const answer: Answer = (response) => {
      response.writeHead(502, { 'content-type': 'text/html' });
      response.end('<html><body>bad gateway');
    };
    await against(answer, async (store) => {
      assert.equal((await putIfMatch(store)).kind, 'unknown');
      assert.equal((await storeErrorOf(store.get('key'))).retryable, true);
    });
  });

  it('corrects its clock once after RequestTimeTooSkewed, and the write counts', async () => {
    const skewMillis = 3_600_000;
    const date = () => new Date(Date.now() + skewMillis).toUTCString();
    const answer: Answer = (response, request, count) =>
      count === 1
        ? refusing(403, 'RequestTimeTooSkewed', { date: date() })(response, request, count)
        : accepting({ date: date() })(response, request, count);
    await against(answer, async (store, seen) => {
      assert.equal((await putIfMatch(store)).kind, 'done');
      const signedMillis = seen.map(({ headers }) => amzDateMillis(String(headers['x-amz-date'])));
      assert.equal(signedMillis.length, 2);
      assert.ok(Math.abs(signedMillis[0]! - Date.now()) < 60_000);
      assert.ok(Math.abs(signedMillis[1]! - Date.now() - skewMillis) < 60_000);
    });
    await against(refusing(403, 'RequestTimeTooSkewed'), async (store, seen) => {
      assert.match((await storeErrorOf(putIfMatch(store))).message, /clock/);
      assert.equal(seen.length, 2);
    });
  });
});

describe('S3 store: the network', () => {
  it('says that nothing was written when no connection came to be', async () => {
    const host = await against(accepting(), async (store, seen) => {
      await put(store);
      return seen[0]!.headers.host;
    });
    // The server that was there has gone.
    const store = storeAt(`http://${host}`);
    for (const write of writes) assert.equal((await storeErrorOf(write(store))).retryable, true);
    assert.equal((await storeErrorOf(store.get('key'))).retryable, true);
    store.close();
  });

  it('calls a write unknown when the connection ends after the body was received', async () => {
    await against(
      (response) => response.socket?.destroy(),
      async (store, seen) => {
        for (const write of writes) assert.equal((await write(store)).kind, 'unknown');
        assert.equal((await storeErrorOf(store.get('key'))).retryable, true);
        assert.equal(seen.length, writes.length + 1);
        assert.deepEqual(new Uint8Array(seen[0]!.body), BODY);
      },
    );
  });

  it('gives up an answer that does not come, and closes its connection', async () => {
    await against(
      () => {},
      async (store, _, sockets) => {
        assert.equal((await putIfMatch(store)).kind, 'unknown');
        assert.equal((await storeErrorOf(store.get('key'))).retryable, true);
        await emptied(sockets);
      },
    );
  });

  it('gives up a body that stalls after the headers, and closes its connection', async () => {
    const answer: Answer = (response) => {
      response.writeHead(200, {
        etag: TAG,
        'content-length': '1000',
        'last-modified': new Date(0).toUTCString(),
      });
      response.write('x');
    };
    await against(answer, async (store, _, sockets) => {
      assert.equal((await storeErrorOf(store.get('key'))).retryable, true);
      assert.equal((await storeErrorOf(store.list({ prefix: '' }))).retryable, true);
      await emptied(sockets);
    });
  });

  it('does not take a part of a body for the whole', async () => {
    const answer: Answer = (response) => {
      response.writeHead(200, {
        etag: TAG,
        'content-length': '1000',
        'last-modified': new Date(0).toUTCString(),
      });
      response.write('x', () => response.socket?.destroy());
    };
    await against(answer, async (store) => {
      assert.equal((await storeErrorOf(store.get('key'))).retryable, true);
    });
  });
});

describe('S3 store: requests', () => {
  it('puts the prefix before each key and takes it away again', async () => {
    const listing = `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a/b/m/q</Key>
      <LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>&quot;tag&quot;</ETag><Size>7</Size></Contents></ListBucketResult>`;
    const answer: Answer = (response, request) => {
      response.writeHead(200, { etag: TAG });
      response.end(request.method === 'GET' ? listing : undefined);
    };
    await against(
      answer,
      async (store, seen) => {
        await put(store);
        assert.match(seen[0]!.url, /^\/bucket\/a\/b\/key(\?|$)/);
        const page = await store.list({ prefix: 'm/', startAfter: 'm/p', limit: 5 });
        const lastModified = { millis: Date.parse('2026-01-02T03:04:05Z'), resolutionMillis: 1_000 };
        assert.deepEqual(page, {
          truncated: false,
          objects: [{ key: 'm/q', bytes: 7, etag: '"tag"', lastModified }],
        });
        const query = new URL(seen[1]!.url, 'http://store').searchParams;
        assert.deepEqual(
          ['prefix', 'start-after', 'max-keys'].map((name) => query.get(name)),
          ['a/b/m/', 'a/b/m/p', '5'],
        );
      },
      { prefix: '/a/b/' },
    );
  });

  it('sends a tag as it came, or in the form that the probe found', async () => {
    await against(accepting(), async (store, seen) => {
      const weak = 'W/"abc"' as ETag;
      for (const form of ['as-received', 'strong', 'unquoted'] as const) {
        store.ifMatchForm = form;
        await store.putIfMatch('key', BODY, weak);
        await store.deleteIfMatch('key', weak);
      }
      const sent = seen.map(({ headers }) => headers['if-match']);
      assert.deepEqual(sent, ['W/"abc"', 'W/"abc"', '"abc"', '"abc"', 'abc', 'abc']);
    });
  });

  it('sends no checksum, no trailer, no Expect, and If-None-Match: * to create', async () => {
    await against(accepting(), async (store, seen) => {
      await store.putIfAbsent('key', new Uint8Array(3 * 1024 * 1024));
      const { headers, body } = seen[0]!;
      assert.equal(headers['if-none-match'], '*');
      assert.equal(headers.expect, undefined);
      const unwanted = Object.keys(headers).filter((name) => /checksum|trailer|content-encoding/.test(name));
      assert.deepEqual(unwanted, []);
      assert.equal(body.length, 3 * 1024 * 1024);
    });
  });

  it("tells the store's time from the Date of a write, but not from a cache's answer", async () => {
    const date = 'Mon, 30 Nov 2026 01:02:03 GMT';
    await against(accepting({ date }), async (store) => {
      const outcome = await put(store);
      assert.ok(outcome.kind === 'done');
      assert.deepEqual(outcome.time, { millis: Date.parse(date), resolutionMillis: 1_000 });
    });
    await against(accepting({ date, age: '7' }), async (store) => {
      const outcome = await put(store);
      assert.ok(outcome.kind === 'done');
      assert.equal(outcome.time, undefined);
    });
  });

  it('calls a write unknown that is answered without a tag', async () => {
    const answer: Answer = (response) => response.writeHead(200).end();
    await against(answer, async (store) => assert.equal((await put(store)).kind, 'unknown'));
  });

  it('is content when the bucket to create is already there and ours, and only then', async () => {
    await against(refusing(409, 'BucketAlreadyOwnedByYou'), (store) => store.createBucket());
    await against(refusing(409, 'BucketAlreadyExists'), async (store) => {
      assert.equal((await storeErrorOf(store.createBucket())).retryable, false);
    });
  });

  it('tells versioning, and unknown where it may not ask', async () => {
    const versioned = (status: string): Answer => {
      const xml = `<VersioningConfiguration>${status}</VersioningConfiguration>`;
      return (response) => response.writeHead(200, { 'content-type': 'application/xml' }).end(xml);
    };
    const told = (answer: Answer) => against(answer, (store) => store.versioning());
    assert.equal(await told(versioned('<Status>Enabled</Status>')), 'enabled');
    assert.equal(await told(versioned('<Status>Suspended</Status>')), 'suspended');
    assert.equal(await told(versioned('')), 'off');
    assert.equal(await told(refusing(403, 'AccessDenied')), 'unknown');
  });
});

/** Waits for what must come to pass; the test runner's own limit is the only clock. */
async function emptied(sockets: ReadonlySet<Socket>): Promise<void> {
  while (sockets.size > 0) await new Promise((wake) => setTimeout(wake, 10));
}

function amzDateMillis(value: string): number {
  return Date.parse(value.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
}
