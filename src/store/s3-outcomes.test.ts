import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { failureOf, type S3Operation, verdict } from './s3-outcomes.ts';

const READS: S3Operation[] = ['get', 'list'];
const CONDITIONAL: S3Operation[] = ['put-if-absent', 'put-if-match', 'delete-if-match'];
const WRITES: S3Operation[] = ['put', 'delete', ...CONDITIONAL];
const ALL: S3Operation[] = [...READS, ...WRITES];

/** `error` with what can be done about it, or the kind of the outcome. */
function told(operation: S3Operation, status: number | undefined, code: string): string {
  const result = verdict(operation, { status, code, message: '' });
  if (result.kind === 'error') {
    return `error${result.error.retryable ? ' retryable' : ''}${result.error.throttled ? ' throttled' : ''}`;
  }
  return result.kind === 'unknown' && result.throttled ? 'unknown throttled' : result.kind;
}

describe('S3 outcomes', () => {
  const rows: [S3Operation[], number | undefined, string, string][] = [
    [CONDITIONAL, 412, 'PreconditionFailed', 'conflict'],
    [CONDITIONAL, 409, 'ConditionalRequestConflict', 'conflict'],
    [CONDITIONAL, 409, 'OperationAborted', 'error retryable'],
    [['put', 'delete', ...READS], 412, 'PreconditionFailed', 'error'],
    [['get', 'put-if-match', 'delete-if-match', 'delete'], 404, 'NoSuchKey', 'missing'],
    [['put', 'put-if-absent', 'list'], 404, 'NoSuchKey', 'error'],
    [ALL, 404, 'NoSuchBucket', 'error'],
    [ALL, 404, 'Unknown', 'error'],
    [['get'], 304, 'Unknown', 'unchanged'],
    [WRITES, 503, 'SlowDown', 'unknown throttled'],
    [READS, 503, 'SlowDown', 'error retryable throttled'],
    [WRITES, 429, 'TooManyRequests', 'unknown throttled'],
    [READS, 429, 'TooManyRequests', 'error retryable throttled'],
    [WRITES, 500, 'InternalError', 'unknown'],
    [READS, 500, 'InternalError', 'error retryable'],
    [WRITES, 502, 'Unknown', 'unknown'],
    [WRITES, 504, 'Unknown', 'unknown'],
    [WRITES, 400, 'RequestTimeout', 'unknown'],
    [WRITES, 200, 'SyntaxError', 'unknown'],
    [READS, 200, 'SyntaxError', 'error retryable'],
    [ALL, 403, 'AccessDenied', 'error'],
    [ALL, 403, 'InvalidAccessKeyId', 'error'],
    [ALL, 403, 'SignatureDoesNotMatch', 'error'],
    [ALL, 401, 'Unauthorized', 'error'],
    [ALL, 400, 'ExpiredToken', 'error retryable'],
    [ALL, 400, 'InvalidRequest', 'error'],
    [ALL, 301, 'PermanentRedirect', 'error'],
    [ALL, 403, 'RequestTimeTooSkewed', 'skewed'],
    [ALL, undefined, 'ECONNREFUSED', 'error retryable'],
    [ALL, undefined, 'ENOTFOUND', 'error retryable'],
    [ALL, undefined, 'EAI_AGAIN', 'error retryable'],
    [ALL, undefined, 'CredentialsProviderError', 'error retryable'],
    [WRITES, undefined, 'ECONNRESET', 'unknown'],
    [WRITES, undefined, 'EPIPE', 'unknown'],
    [WRITES, undefined, 'ETIMEDOUT', 'unknown'],
    [WRITES, undefined, 'TimeoutError', 'unknown'],
    [WRITES, undefined, 'AbortError', 'unknown'],
    [READS, undefined, 'ECONNRESET', 'error retryable'],
  ];
  for (const [operations, status, code, expected] of rows) {
    it(`answers ${status ?? 'no response'} ${code} with ${expected} (${operations.join(', ')})`, () => {
      for (const operation of operations) assert.equal(told(operation, status, code), expected, operation);
    });
  }

  it('never calls a write done, and never a read unknown, whatever comes', () => {
    const status = fc.option(fc.integer({ min: 100, max: 599 }), { nil: undefined });
    fc.assert(
      fc.property(fc.constantFrom(...ALL), status, fc.string(), (operation, code, name) => {
        const { kind } = verdict(operation, { status: code, code: name, message: '' });
        if (READS.includes(operation)) assert.notEqual(kind, 'unknown');
        if (code !== undefined && code >= 500 && WRITES.includes(operation)) assert.equal(kind, 'unknown');
        if (!CONDITIONAL.includes(operation)) assert.notEqual(kind, 'conflict');
      }),
    );
  });

  it('reads status and code from what the SDK throws', () => {
    const service = Object.assign(new Error('no'), { name: 'SlowDown', $metadata: { httpStatusCode: 503 } });
    assert.deepEqual(failureOf(service), { status: 503, code: 'SlowDown', message: 'no' });
    const network = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    assert.deepEqual(failureOf(network), { status: undefined, code: 'ECONNREFUSED', message: 'connect' });
    const unreadable = Object.assign(new SyntaxError('<'), { $response: { statusCode: 502 } });
    assert.deepEqual(failureOf(unreadable), { status: 502, code: 'SyntaxError', message: '<' });
    assert.deepEqual(failureOf('thrown'), { status: undefined, code: 'Unknown', message: 'thrown' });
  });
});
