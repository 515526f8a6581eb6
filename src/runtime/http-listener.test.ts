import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { closeAll, ok, post, RawClient, serve } from '../../test/support/listening.ts';
import type { Deadlines } from './connections.ts';
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

const fast: Deadlines = { headers: 60, body: 60, answering: 60, idle: 60 };
const patient: Deadlines = { headers: 600_000, body: 600_000, answering: 600_000, idle: 600_000 };

describe('http listener and slow clients', () => {
  it('tells a client that never finishes its headers, although bytes keep coming', async () => {
    const { port } = await serve(async () => ok('never'), {
      deadlinesMillis: { ...patient, headers: 60 },
      sweepEveryMillis: 10,
    });
    const client = new RawClient(port);
    client.send('POST / HTTP/1.1\r\nHost: example\r\n');
    const dripping = setInterval(() => client.send('X-Drip: 1\r\n'), 10);
    await client.until(() => client.closed);
    clearInterval(dripping);
    assert.match(client.received, /^HTTP\/1\.1 408 /);
  });

  it('also on the second request of a connection', async () => {
    const { port } = await serve(async () => ok('fine'), {
      deadlinesMillis: { ...patient, headers: 60 },
      sweepEveryMillis: 10,
    });
    const client = new RawClient(port);
    client.send(post('/', ''));
    await client.until(() => client.received.endsWith('fine'));
    client.send('POST / HTTP/1.1\r\n');
    await client.until(() => client.closed);
    assert.match(client.received, /HTTP\/1\.1 408 /);
  });

  it('does not wait for the rest of a body for ever', async () => {
    const { port } = await serve(async () => ok('never'), { deadlinesMillis: fast, sweepEveryMillis: 10 });
    const client = new RawClient(port);
    client.send('POST / HTTP/1.1\r\nHost: example\r\nContent-Length: 100\r\n\r\nabc');
    await client.until(() => client.closed);
    assert.match(client.received, /^HTTP\/1\.1 408 /);
  });

  it('does not wait for a body that drips after it came fast', async () => {
    const { port } = await serve(async () => ok('never'), {
      deadlinesMillis: { ...patient, body: 60 },
      bodyBytesPerSecondMin: 1_000,
      sweepEveryMillis: 10,
    });
    const client = new RawClient(port);
    client.send(`POST / HTTP/1.1\r\nHost: example\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(900_000)}`);
    const dripping = setInterval(() => client.send('x'), 10);
    await client.until(() => client.closed);
    clearInterval(dripping);
    assert.match(client.received, /^HTTP\/1\.1 408 /);
  });

  it('closes a connection that stays idle, and leaves alone one that is being worked for', async () => {
    let release = () => {};
    const holding = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { port } = await serve(
      async (request) => {
        if (request.target === '/hold') await holding;
        return ok('fine');
      },
      { deadlinesMillis: fast, sweepEveryMillis: 10 },
    );
    const waiting = new RawClient(port);
    waiting.send(post('/hold', ''));
    const idle = new RawClient(port);
    idle.send(post('/', ''));
    await idle.until(() => idle.closed);
    assert.match(idle.received, /^HTTP\/1\.1 200 [\s\S]*fine$/);
    release();
    await waiting.until(() => waiting.received.endsWith('fine'));
  });
});

describe('http listener and clients that go away', () => {
  it('aborts the signal of a waiting request and reports its answer as undelivered', async () => {
    let entered = () => {};
    const waiting = new Promise<void>((resolve) => {
      entered = resolve;
    });
    let released = () => {};
    const undelivered = new Promise<void>((resolve) => {
      released = resolve;
    });
    const { port } = await serve(async (request) => {
      entered();
      await new Promise((resolve) => request.signal.addEventListener('abort', resolve));
      return { ...ok('a message'), undelivered: async () => released() };
    });
    const client = new RawClient(port);
    client.send(post('/', '{}'));
    await waiting;
    client.socket.destroy();
    await undelivered;
    assert.equal(client.received, '');
  });

  it('never reports an answer as undelivered that was read', async () => {
    let reports = 0;
    const { port } = await serve(async () => ({
      ...ok('a message'),
      undelivered: async () => {
        reports += 1;
      },
    }));
    for (let turn = 0; turn < 20; turn += 1) {
      const client = new RawClient(port);
      client.send(post('/', ''));
      await client.until(() => client.received.endsWith('a message'));
      client.socket.destroy();
      await client.until(() => client.closed);
    }
    assert.equal(reports, 0);
  });
});

describe('http listener when it stops', () => {
  it('ends what waits with an answer, closes idle sockets and takes no new ones', async () => {
    let entered = () => {};
    const waiting = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const { port, listener } = await serve(async (request) => {
      if (request.target === '/') return ok('fine');
      entered();
      await new Promise((resolve) => request.signal.addEventListener('abort', resolve));
      return ok('empty');
    });
    const idle = new RawClient(port);
    idle.send(post('/', ''));
    await idle.until(() => idle.received.endsWith('fine'));
    const poll = new RawClient(port);
    poll.send(post('/poll', ''));
    await waiting;
    await listener.stop(600_000);
    await poll.until(() => poll.closed);
    await idle.until(() => idle.closed);
    assert.match(poll.received, /^HTTP\/1\.1 200 [\s\S]*empty$/);
    assert.match(poll.received.toLowerCase(), /connection: close/);
    const late = new RawClient(port);
    await late.until(() => late.closed);
    assert.equal(late.received, '');
  });

  it('answers 503 to new requests while an earlier one is being finished', async () => {
    let release = () => {};
    const holding = new Promise<void>((resolve) => {
      release = resolve;
    });
    let entered = () => {};
    const working = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const { port, listener } = await serve(async (request) => {
      if (request.target !== '/hold') return ok('fine');
      entered();
      await holding;
      return ok('held');
    });
    const holder = new RawClient(port);
    holder.send(post('/hold', ''));
    const late = new RawClient(port);
    late.send('POST / HTTP/1.1\r\n');
    await working;
    while (listener.connections() < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    const stopped = listener.stop(600_000);
    late.send('Host: example\r\nContent-Length: 0\r\n\r\n');
    await late.until(() => late.closed);
    assert.match(late.received, /^HTTP\/1\.1 503 [\s\S]*stopping$/);
    release();
    await stopped;
    await holder.until(() => holder.closed);
    assert.match(holder.received, /held$/);
  });

  it('gives up on a request that does not end', async () => {
    let entered = () => {};
    const working = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const { port, listener } = await serve(async () => {
      entered();
      await new Promise(() => {});
      return ok('never');
    });
    const client = new RawClient(port);
    client.send(post('/', ''));
    await working;
    await listener.stop(20);
    await client.until(() => client.closed);
    assert.equal(client.received, '');
  });
});
