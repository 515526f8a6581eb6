/** Clients of the listener that are slow or go away, and what it does with them when it stops. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { closeAll, ok, post, RawClient, serve } from '../../test/support/listening.ts';
import type { Deadlines } from './connections.ts';

afterEach(closeAll);

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
