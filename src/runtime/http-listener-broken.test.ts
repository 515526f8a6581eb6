import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { closeAll, ok, post, RawClient, serve } from '../../test/support/listening.ts';

const head = 'POST / HTTP/1.1\r\nHost: a\r\n';
const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;

async function answerTo(port: number, ...parts: readonly string[]): Promise<string> {
  const client = new RawClient(port);
  for (const part of parts) {
    client.send(part);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await client.until(() => client.closed);
  return client.received;
}

afterEach(closeAll);

describe('http listener and broken requests', () => {
  it('refuses HTTP/1.1 without a Host in its own words, and asks for no body then', async () => {
    const { port } = await serve(async () => ok('never'));
    for (const more of ['\r\n', 'Expect: 100-continue\r\nContent-Length: 2\r\n\r\n'])
      assert.match(await answerTo(port, `POST / HTTP/1.1\r\n${more}`), /^HTTP\/1\.1 400 [\s\S]*broken$/);
  });

  it('ignores expectations it does not know', async () => {
    const { port } = await serve(async (request) => ok(`got ${request.body.length}`));
    const client = new RawClient(port);
    client.send(post('/', '{}', 'Expect: 999\r\n'));
    await client.until(() => client.received.endsWith('got 2') || client.closed);
    assert.match(client.received, /^HTTP\/1\.1 200 /);
  });

  it('answers a body whose framing breaks, at once and after some chunks', async () => {
    const { port } = await serve(async () => ok('never'));
    for (const parts of [
      [`${chunked}zz\r\n`],
      [chunked, '3\r\nabc\r\n', 'zz\r\n'],
      [chunked, '2\r\nabc\r\n'],
    ])
      assert.match(await answerTo(port, ...parts), /^HTTP\/1\.1 400 [\s\S]*broken$/);
  });

  it('answers CONNECT', async () => {
    const { port } = await serve(async () => ok('never'));
    assert.match(
      await answerTo(port, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'),
      /^HTTP\/1\.1 400 [\s\S]*broken$/,
    );
  });

  it('writes nothing into the answer of an earlier request of the same connection', async () => {
    let release = () => {};
    const holding = new Promise<void>((resolve) => {
      release = resolve;
    });
    let entered = () => {};
    const working = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const { port } = await serve(async () => {
      entered();
      await holding;
      return ok('first');
    });
    const client = new RawClient(port);
    client.send(post('/', ''));
    await working;
    client.send(`${chunked}zz\r\n`);
    await client.until(() => client.closed);
    release();
    assert.equal(client.received, '');
  });

  it('closes on a client that ends its side inside a body, and gives back what it held', async () => {
    const { port } = await serve(async (request) => ok(`got ${request.body.length}`), {
      bodyBounds: { smallBytes: 100, allSmallBytesMax: 100, allLargeBytesMax: 0 },
    });
    const client = new RawClient(port);
    client.socket.end(`${head}Content-Length: 100\r\n\r\n${'x'.repeat(90)}`);
    await client.until(() => client.closed);
    assert.doesNotMatch(client.received, / 200 /);
    const next = new RawClient(port);
    next.send(post('/', 'x'.repeat(100)));
    await next.until(() => next.received.endsWith('got 100') || next.closed);
    assert.match(next.received, /^HTTP\/1\.1 200 /);
  });
});
