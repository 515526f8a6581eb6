import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFetchHandler } from './fetch-handler.ts';
import type { SqsHandler, SqsRequest, SqsResponse } from './handler.ts';

const OK: SqsResponse = {
  status: 200,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: '{"a":1}',
};

function fetchOf(handler: SqsHandler) {
  return createFetchHandler(handler, () => 'r');
}

describe('the SQS surface as a fetch handler', () => {
  it('hands over method, target, Host, body and signal, and gives back what the core answers', async () => {
    const seen: SqsRequest[] = [];
    const handle = fetchOf(async (request) => {
      seen.push(request);
      return OK;
    });
    const request = new Request('https://sqs.example.org:444/000000000000/q?a=b%20c', {
      method: 'POST',
      headers: { 'X-Amz-Target': 'AmazonSQS.ListQueues' },
      body: '{}',
    });
    const response = await handle(request);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/x-amz-json-1.0');
    assert.equal(await response.text(), '{"a":1}');
    const [first] = seen;
    assert.equal(first?.target, '/000000000000/q?a=b%20c');
    assert.equal(new Map(first?.headers).get('host'), 'sqs.example.org:444');
    assert.equal(new Map(first?.headers).get('x-amz-target'), 'AmazonSQS.ListQueues');
    assert.deepEqual([first?.secure, new TextDecoder().decode(first?.body)], [true, '{}']);
  });

  it('refuses a body that is too large while it reads it', async () => {
    const handle = fetchOf(() => assert.fail('must not be asked'));
    const body = new Uint8Array(8 * 1024 * 1024 + 1);
    const response = await handle(new Request('http://localhost/', { method: 'POST', body }));
    assert.equal(response.status, 413);
    assert.match(await response.text(), /^<[\s\S]*RequestEntityTooLarge/);
    const headers = { 'x-amz-target': 'AmazonSQS.SendMessage' };
    const json = await handle(new Request('http://localhost/', { method: 'POST', headers, body }));
    assert.match(await json.text(), /^\{[\s\S]*RequestEntityTooLarge/);
  });

  it('gives messages back when the client has gone before the answer, or drops it unread', async () => {
    let givenBack = 0;
    const undelivered = async () => {
      givenBack += 1;
    };
    const handle = fetchOf(async () => ({ ...OK, undelivered }));
    const gone = new AbortController();
    const request = new Request('http://localhost/', { method: 'POST', body: '{}', signal: gone.signal });
    const handled = createFetchHandler(
      async () => {
        gone.abort();
        return { ...OK, undelivered };
      },
      () => 'r',
    )(request);
    await handled;
    assert.equal(givenBack, 1);
    const dropped = await handle(new Request('http://localhost/', { method: 'POST', body: '{}' }));
    await dropped.body?.cancel();
    assert.equal(givenBack, 2);
    const read = await handle(new Request('http://localhost/', { method: 'POST', body: '{}' }));
    assert.equal(await read.text(), '{"a":1}');
    assert.equal(givenBack, 2);
  });
});
