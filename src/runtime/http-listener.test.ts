import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { closeAll, ok, post, RawClient, serve } from '../../test/support/listening.ts';
import type { HttpRequest } from './http-handler.ts';

afterEach(closeAll);

describe('http listener', () => {
  it('hands over method, target, headers as sent and body, and keeps the connection', async () => {
    const seen: HttpRequest[] = [];
    const { port } = await serve(async (request) => {
      seen.push(request);
      return ok(`answer ${seen.length}`);
    });
    const client = new RawClient(port);
    client.send(post('/a/b?c=%20d', 'one', 'X-Twice: 1\r\nX-Twice: 2\r\n'));
    await client.until(() => client.received.endsWith('answer 1'));
    client.send(post('/', 'two'));
    await client.until(() => client.received.endsWith('answer 2'));
    assert.equal(seen[0]!.method, 'POST');
    assert.equal(seen[0]!.target, '/a/b?c=%20d');
    assert.equal(new TextDecoder().decode(seen[0]!.body), 'one');
    assert.deepEqual(
      seen[0]!.headers.filter(([name]) => name === 'x-twice').map(([, value]) => value),
      ['1', '2'],
    );
    assert.equal(client.closed, false);
  });

  // SQS.md section 8: the asynchronous client of the Java SDK opens about fifty.
  it('answers fifty connections of one client side by side, each many times', async () => {
    let together = 0;
    let release: () => void = () => {};
    const all = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { port } = await serve(async () => {
      together += 1;
      if (together === 50) release();
      await all;
      return ok('fine');
    });
    const clients = Array.from({ length: 50 }, () => new RawClient(port));
    for (let times = 1; times <= 3; times += 1) {
      for (const client of clients) client.send(post('/', 'x'));
      await Promise.all(
        clients.map((client) => client.until(() => client.received.split('fine').length > times)),
      );
    }
    assert.equal(together, 150);
  });

  it('asks for the body of a client that expects 100-continue', async () => {
    const { port } = await serve(async (request) => ok(`got ${request.body.length}`));
    const client = new RawClient(port);
    client.send('POST / HTTP/1.1\r\nHost: example\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n');
    await client.until(() => client.received.includes('100 Continue'));
    client.send('12345');
    await client.until(() => client.received.endsWith('got 5'));
    assert.match(client.received, /HTTP\/1\.1 200 OK/);
  });

  it('answers a body over the limit after reading it, by length and by chunks', async () => {
    const { port } = await serve(async () => ok('never'), { bodyBytesMax: 1_000 });
    const byLength = new RawClient(port);
    byLength.send(post('/', 'x'.repeat(300_000)));
    await byLength.until(() => byLength.closed);
    assert.match(byLength.received, /^HTTP\/1\.1 413 [\s\S]*body-too-large$/);
    const byChunks = new RawClient(port);
    byChunks.send('POST / HTTP/1.1\r\nHost: example\r\nTransfer-Encoding: chunked\r\n\r\n');
    for (let turn = 0; turn < 5; turn += 1) byChunks.send(`100\r\n${'x'.repeat(256)}\r\n`);
    byChunks.send('0\r\n\r\n');
    await byChunks.until(() => byChunks.closed);
    assert.match(byChunks.received, /^HTTP\/1\.1 413 /);
  });

  it('takes a body of exactly the limit', async () => {
    const { port } = await serve(async (request) => ok(`got ${request.body.length}`), {
      bodyBytesMax: 1_000,
    });
    const client = new RawClient(port);
    client.send(post('/', 'x'.repeat(1_000)));
    await client.until(() => client.received.endsWith('got 1000'));
    assert.match(client.received, /^HTTP\/1\.1 200 /);
  });

  it('hands the head of a refused request to whoever words the refusal', async () => {
    const { port } = await serve(async () => ok('never'), {
      bodyBytesMax: 10,
      problem: (problem, head) => ({
        status: 413,
        headers: {},
        body: `${problem.kind} ${head?.method} ${head?.target} ${new Map(head?.headers).get('x-kind')}`,
      }),
    });
    const client = new RawClient(port);
    client.send(post('/a?Action=b', 'x'.repeat(11), 'X-Kind: form\r\n'));
    await client.until(() => client.closed);
    assert.match(client.received, /\r\nbody-too-large POST \/a\?Action=b form$/);
  });

  it('lets small requests through while large bodies that never end hold all the room there is', async () => {
    const { port } = await serve(async (request) => ok(`got ${request.body.length}`), {
      bodyBounds: { smallBytes: 100, allSmallBytesMax: 1_000, allLargeBytesMax: 800 },
    });
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 501\r\n\r\n';
    const stalled = [new RawClient(port), new RawClient(port)];
    for (const client of stalled) client.send(`${head}${'x'.repeat(500)}`);
    let large: RawClient;
    do {
      // Until both have come in: what is large then finds no room.
      large = new RawClient(port);
      large.send(post('/', 'x'.repeat(200)));
      await large.until(() => / (200|503) [\s\S]*(got|overloaded)/.test(large.received));
    } while (large.received.includes(' 200 '));
    assert.match(large.received, /^HTTP\/1\.1 503 [\s\S]*overloaded$/);
    for (let turn = 0; turn < 20; turn += 1) {
      const small = new RawClient(port);
      small.send(post('/', 'x'.repeat(100)));
      await small.until(() => small.received.endsWith('got 100') || small.closed);
      assert.match(small.received, /^HTTP\/1\.1 200 /);
    }
    for (const client of stalled) assert.equal(client.closed, false);
  });

  it('refuses what all bodies together leave no room for, and gives the room back', async () => {
    let release = () => {};
    const holding = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { port } = await serve(
      async (request) => {
        if (request.target === '/hold') await holding;
        return ok('done');
      },
      { bodyBounds: { smallBytes: 100, allSmallBytesMax: 1_000, allLargeBytesMax: 900 } },
    );
    const first = new RawClient(port);
    first.send(post('/hold', 'x'.repeat(900)));
    const small = new RawClient(port);
    small.send(post('/', 'x'.repeat(10)));
    await small.until(() => small.received.endsWith('done'));
    const second = new RawClient(port);
    second.send(post('/', 'x'.repeat(900)));
    await second.until(() => second.closed);
    assert.match(second.received, /^HTTP\/1\.1 503 [\s\S]*overloaded$/);
    release();
    await first.until(() => first.received.endsWith('done'));
    const third = new RawClient(port);
    third.send(post('/', 'x'.repeat(900)));
    await third.until(() => third.received.endsWith('done'));
  });

  it('gives back the room of bodies that were cut off', async () => {
    const { port, listener } = await serve(async () => ok('done'), {
      bodyBounds: { smallBytes: 100, allSmallBytesMax: 1_000, allLargeBytesMax: 900 },
    });
    for (let turn = 0; turn < 3; turn += 1) {
      const cut = new RawClient(port);
      cut.send(`POST / HTTP/1.1\r\nHost: example\r\nContent-Length: 900\r\n\r\n${'x'.repeat(800)}`);
      while (listener.connections() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      await new Promise((resolve) => setTimeout(resolve, 50));
      cut.socket.destroy();
      while (listener.connections() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const whole = new RawClient(port);
    whole.send(post('/', 'x'.repeat(900)));
    await whole.until(() => whole.received.endsWith('done') || whole.closed);
    assert.match(whole.received, /^HTTP\/1\.1 200 /);
  });

  it('answers broken HTTP with 400, oversized headers with 431', async () => {
    const { port } = await serve(async () => ok('never'));
    for (const [text, status] of [
      ['NONSENSE\r\n\r\n', 400],
      ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nHost: a\r\nX-Big: ${'x'.repeat(70_000)}\r\n\r\n`, 431],
    ] as const) {
      const client = new RawClient(port);
      client.send(text);
      await client.until(() => client.closed);
      assert.match(client.received, new RegExp(`^HTTP/1\\.1 ${status} `));
    }
  });

  it('answers 500 when the handler fails, and lives on', async () => {
    const { port } = await serve(async (request) => {
      if (request.target === '/fail') throw new Error('our mistake');
      return ok('fine');
    });
    const client = new RawClient(port);
    client.send(post('/fail', ''));
    await client.until(() => client.received.endsWith('failed'));
    assert.match(client.received, /^HTTP\/1\.1 500 /);
    const next = new RawClient(port);
    next.send(post('/', ''));
    await next.until(() => next.received.endsWith('fine'));
  });

  it('refuses sockets over the bound with an answer', async () => {
    const { port, listener } = await serve(async () => ok('fine'), { connectionsMax: 1 });
    const first = new RawClient(port);
    first.send(post('/', ''));
    await first.until(() => first.received.endsWith('fine'));
    const second = new RawClient(port);
    await second.until(() => second.closed);
    assert.match(second.received, /^HTTP\/1\.1 503 [\s\S]*overloaded$/);
    assert.equal(listener.connections(), 1);
  });
});
