/**
 * The one table from what an S3 server or the network answered to the outcomes of the store port. Pure.
 *
 * The rule behind it: a write is `unknown` unless the answer proves that nothing was and nothing will be written. A
 * 4xx is such a proof, and so is a connection that never came to be; a 5xx, a reset and a timeout are not.
 */
import { StoreError, type UnknownOutcome } from './object-store.ts';

export type S3Operation =
  | 'get'
  | 'list'
  | 'put'
  | 'put-if-absent'
  | 'put-if-match'
  | 'delete'
  | 'delete-if-match';

/** What is left of an exception of the SDK. */
export interface S3Failure {
  /** Of the HTTP response; undefined when there was none. */
  readonly status: number | undefined;
  /** The S3 error code, or the code of the network error, or the name of the exception. */
  readonly code: string;
  readonly message: string;
}

export type S3Verdict =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'conflict' }
  | UnknownOutcome
  /** Our clock is off by minutes: the request was refused for its signature's date; nothing landed. */
  | { readonly kind: 'skewed' }
  | { readonly kind: 'error'; readonly error: StoreError };

/** Names that mean the request never left this machine (Node and Deno; then Bun). */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ConnectionRefused',
  'FailedToOpenSocket',
]);
/** The SDK found no credentials, or the place where it asks for them is away: nothing was signed, nothing sent. */
const NO_CREDENTIALS = new Set(['CredentialsProviderError', 'TokenProviderError', 'ProviderError']);
const THROTTLED = new Set([
  'SlowDown',
  'TooManyRequests',
  'Throttling',
  'ThrottlingException',
  'RequestLimitExceeded',
]);
const MISSING = new Set(['NoSuchKey', 'NotFound', 'NoSuchVersion']);
/** 4xx that another try, with fresh credentials, may pass. */
const RETRYABLE_REFUSALS = new Set(['ExpiredToken', 'TokenRefreshRequired', 'OperationAborted']);

export function verdict(operation: S3Operation, failure: S3Failure): S3Verdict {
  const { status, code } = failure;
  if (status === undefined) return withoutResponse(operation, failure);
  if (status === 304 && operation === 'get') return { kind: 'unchanged' };
  if (code === 'RequestTimeTooSkewed') return { kind: 'skewed' };
  if (status === 503 || status === 429 || THROTTLED.has(code)) return undecided(operation, failure, true);
  // RequestTimeout is a 400 of AWS for a request that it read only in part.
  if (status >= 500 || status === 408 || code === 'RequestTimeout')
    return undecided(operation, failure, false);
  if (isConditional(operation) && (status === 412 || (status === 409 && code !== 'OperationAborted'))) {
    return { kind: 'conflict' };
  }
  if (status === 404 && MISSING.has(code) && mayBeMissing(operation)) return { kind: 'missing' };
  // A success that couldn't be read: the write stands.
  if (status < 300) return undecided(operation, failure, false);
  return refused(operation, failure);
}

function withoutResponse(operation: S3Operation, failure: S3Failure): S3Verdict {
  if (NEVER_SENT.has(failure.code)) {
    return error(`the object store can't be reached for a ${operation}: ${describe(failure)}`, true);
  }
  if (NO_CREDENTIALS.has(failure.code)) {
    return error(`no credentials for the object store: ${describe(failure)}`, true);
  }
  return undecided(operation, failure, false);
}

function undecided(operation: S3Operation, failure: S3Failure, throttled: boolean): S3Verdict {
  if (operation !== 'get' && operation !== 'list') {
    return { kind: 'unknown', throttled, reason: `${operation}: ${describe(failure)}` };
  }
  return error(`the object store failed a ${operation}: ${describe(failure)}`, true, throttled);
}

function refused(operation: S3Operation, failure: S3Failure): S3Verdict {
  return error(
    `${explanation(failure)} (${operation}: ${describe(failure)})`,
    RETRYABLE_REFUSALS.has(failure.code),
  );
}

function explanation({ status, code }: S3Failure): string {
  if (code === 'NoSuchBucket') return 'the bucket does not exist';
  if (code === 'InvalidAccessKeyId' || code === 'SignatureDoesNotMatch')
    return 'the object store rejects the credentials';
  if (status === 401 || status === 403)
    return 'the object store denies access: check the credentials and the bucket policy';
  if (status === 301 || status === 307 || status === 308)
    return 'the bucket is in another region or at another endpoint';
  if (status === 404) return 'the endpoint does not answer as an object store';
  return 'the object store refuses the request';
}

function isConditional(operation: S3Operation): boolean {
  return operation === 'put-if-absent' || operation === 'put-if-match' || operation === 'delete-if-match';
}

function mayBeMissing(operation: S3Operation): boolean {
  return operation !== 'put' && operation !== 'put-if-absent' && operation !== 'list';
}

function describe({ status, code, message }: S3Failure): string {
  return [status, code, message].filter((part) => part !== undefined && part !== '').join(' ');
}

function error(message: string, retryable: boolean, throttled = false): S3Verdict {
  return { kind: 'error', error: new StoreError(message, { retryable, throttled }) };
}

/** Reads the exceptions of the SDK: service errors, network errors (also gathered ones), aborts. */
export function failureOf(thrown: unknown): S3Failure {
  if (!(thrown instanceof Error)) return { status: undefined, code: 'Unknown', message: String(thrown) };
  const seen = thrown as Error & {
    readonly code?: unknown;
    readonly Code?: unknown;
    readonly $metadata?: { readonly httpStatusCode?: number };
    readonly $response?: { readonly statusCode?: number };
  };
  const status = seen.$metadata?.httpStatusCode ?? seen.$response?.statusCode;
  // A network error's code says more than its name, "Error"; a service error's name is its code.
  const code = status === undefined && typeof seen.code === 'string' ? seen.code : seen.name;
  return { status, code, message: seen.message };
}
