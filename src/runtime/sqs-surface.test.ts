import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeQueueService } from '../../test/protocol-support/fake-queue-service.ts';
import { webCryptoDigests } from '../protocol/sqs/web-crypto-digest.ts';
import type { HttpHead } from './http-handler.ts';
import { createSqsSurface } from './sqs-surface.ts';

const surface = createSqsSurface({
  service: fakeQueueService(),
  credentialOf: () => undefined,
  digests: webCryptoDigests,
  accountId: '000000000000',
  region: 'us-east-1',
  trustProxy: false,
  nowMillis: () => 0,
  requestId: () => 'r',
  log: () => {},
});

function head(headers: Readonly<Record<string, string>>, target = '/'): HttpHead {
  return { method: 'POST', target, headers: Object.entries(headers) };
}

describe("the listener's own answers", () => {
  it('are in the protocol of the request, and in JSON when there is none', () => {
    const json = 'application/x-amz-json-1.0';
    const form = 'application/x-www-form-urlencoded; charset=utf-8';
    const cases: readonly (readonly [HttpHead | undefined, string])[] = [
      [undefined, json],
      [head({ 'x-amz-target': 'AmazonSQS.SendMessage' }), json],
      [head({ 'content-type': json }), json],
      [head({}, '/?X-Amz-Target=AmazonSQS.SendMessage&X-Amz-Signature=0'), json],
      [head({ 'content-type': form }), 'text/xml'],
      [head({}, '/?Action=SendMessage&X-Amz-Signature=0'), 'text/xml'],
    ];
    for (const [from, type] of cases) {
      const answer = surface.problem({ kind: 'overloaded' }, from);
      assert.equal(answer.headers['content-type'], type);
      assert.deepEqual([answer.status, answer.headers['retry-after']], [503, '1']);
      assert.match(String(answer.body), /ServiceUnavailable/);
    }
  });
});
