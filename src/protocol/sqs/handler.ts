/**
 * The application core of the SQS surface: `(method, target, headers, body) → answer`, on web standards alone. Each
 * runtime feeds it the cheapest way it has; fetch-handler.ts wraps it for everything that speaks `fetch`.
 *
 * - It never throws and never rejects: what a client sent wrongly is a refusal in SQS's form, and our own mistakes are
 *   a 500 InternalFailure in the same form, told to `log` without secrets, signatures or message contents.
 * - Nobody gets past the signature: it is checked before the action is even looked up.
 * - The legacy query protocol will get its own decoder and answers beside json/; the actions serve both.
 */
import { type QueueService, Unavailable } from '../../engine/queue-api.ts';
import type { ActionCall } from './actions/action.ts';
import { actions } from './actions/index.ts';
import type { SqsDigests } from './digests.ts';
import { type Refusal, refusal } from './errors.ts';
import { type JsonAnswer, jsonDone, jsonRefused } from './json/answers.ts';
import { decodeJsonRequest } from './json/decode.ts';
import { queueNameOfPath } from './queue-url.ts';
import { jsonTargetOf, type ParsedRequest, parseRequest, type SqsRequest } from './request.ts';
import { SignatureVerifier } from './sigv4/verify.ts';

export type { SqsRequest } from './request.ts';

/**
 * The largest HTTP body taken, bytes. A batch carries 1 MiB of content and JSON may spell each of its bytes as a
 * six-byte escape; the rest is field names, receipt handles and base64 padding.
 */
export const HTTP_BODY_BYTES_MAX = 8 * 1024 * 1024;

export interface SqsCredential {
  readonly secretAccessKey: string;
  /** What SenderId shows for messages sent with it; default: the account. */
  readonly senderId?: string;
}

export interface SqsHandlerOptions {
  readonly service: QueueService;
  readonly credentialOf: (accessKeyId: string) => SqsCredential | undefined;
  readonly digests: SqsDigests;
  readonly accountId: string;
  /** In ARNs. */
  readonly region: string;
  /** Regions a signature may be scoped to; empty or absent: any. */
  readonly acceptedRegions?: readonly string[];
  /** Scheme and authority for queue URLs; absent: those the caller used. */
  readonly publicUrl?: string;
  /** Believe X-Forwarded-Host, -Port and -Proto. */
  readonly trustProxy: boolean;
  readonly nowMillis: () => number;
  readonly requestId: () => string;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

export interface SqsResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Only names in actions/index.ts, so that metrics stay bounded. */
  readonly action?: string;
  /** For receives: gives the leased messages back when no byte of the answer reached the client. Never rejects. */
  readonly undelivered?: () => Promise<void>;
}

export type SqsHandler = (request: SqsRequest) => Promise<SqsResponse>;

const JSON_TARGET = /^AmazonSQS\.([A-Za-z]+)$/;

const internalFailure: Refusal = refusal(
  'InternalFailure',
  'The request processing has failed because of an unknown error, exception or failure.',
);

export function createSqsHandler(options: SqsHandlerOptions): SqsHandler {
  const verifier = new SignatureVerifier({
    digests: options.digests,
    secretOf: (accessKeyId) => options.credentialOf(accessKeyId)?.secretAccessKey,
    nowMillis: options.nowMillis,
    service: 'sqs',
    regions: options.acceptedRegions ?? [],
  });
  return (request) => handle(request, options, verifier);
}

/** What a failure is told to the log as; a message of ours names no content, a foreign one might. */
function report(
  options: SqsHandlerOptions,
  message: string,
  fields: Readonly<Record<string, unknown>>,
): void {
  try {
    options.log(message, fields);
  } catch {
    // A log that fails must not take the answer with it.
  }
}

function refusalOf(
  error: unknown,
  options: SqsHandlerOptions,
  fields: Readonly<Record<string, unknown>>,
): Refusal {
  if (error instanceof Unavailable) {
    return {
      ...refusal('ServiceUnavailable', 'The service is temporarily unavailable. Please try again.'),
      retryAfterSeconds: error.retryAfterSeconds,
    };
  }
  report(options, 'SQS request failed', { ...fields, error });
  return internalFailure;
}

function newRequestId(options: SqsHandlerOptions): string {
  try {
    return options.requestId();
  } catch {
    return '00000000-0000-0000-0000-000000000000';
  }
}

async function handle(
  request: SqsRequest,
  options: SqsHandlerOptions,
  verifier: SignatureVerifier,
): Promise<SqsResponse> {
  const requestId = newRequestId(options);
  let action: string | undefined;
  try {
    if (request.body.length > HTTP_BODY_BYTES_MAX) return jsonRefused(bodyTooLarge(), requestId);
    const parsed = parseRequest(request, options.trustProxy);
    const verified = await verifier.verify({ ...parsed, body: request.body });
    if (verified.kind === 'fault') return jsonRefused(refusal(verified.type, verified.message), requestId);
    const named = nameAction(parsed.method, jsonTargetOf(parsed.jsonTarget, verified));
    if (typeof named !== 'string') return jsonRefused(named, requestId);
    action = named;
    const call = callOf(parsed, request, verified.accessKeyId, options);
    return { ...(await perform(named, call, request, requestId, options)), action };
  } catch (error) {
    const answer = jsonRefused(refusalOf(error, options, { action, requestId }), requestId);
    return action === undefined ? answer : { ...answer, action };
  }
}

export function bodyTooLarge(maximumBytes = HTTP_BODY_BYTES_MAX): Refusal {
  return refusal('RequestEntityTooLargeException', `HTTP content length exceeded ${maximumBytes} bytes.`);
}

function nameAction(method: string, jsonTarget: string | undefined): string | Refusal {
  if (jsonTarget === undefined) {
    return refusal(
      'UnsupportedOperation',
      'The request names no action in X-Amz-Target. The legacy query protocol is not supported by this version of okuri: use an SDK that speaks AWS JSON 1.0.',
    );
  }
  const name = JSON_TARGET.exec(jsonTarget)?.[1];
  if (name !== undefined && method === 'POST' && actions.has(name)) return name;
  const what = name === undefined ? 'requested action' : `action ${name}`;
  return refusal('UnsupportedOperation', `The ${what} is not supported by this version of okuri.`);
}

function callOf(
  parsed: ParsedRequest,
  request: SqsRequest,
  accessKeyId: string,
  options: SqsHandlerOptions,
): ActionCall {
  return {
    service: options.service,
    accountId: options.accountId,
    region: options.region,
    baseUrl: options.publicUrl?.replace(/\/+$/, '') ?? parsed.baseUrl,
    senderId: options.credentialOf(accessKeyId)?.senderId ?? options.accountId,
    pathQueueName: queueNameOfPath(parsed.path, options.accountId),
    signal: request.signal,
    md5Hex: options.digests.md5Hex,
  };
}

async function perform(
  name: string,
  call: ActionCall,
  request: SqsRequest,
  requestId: string,
  options: SqsHandlerOptions,
): Promise<JsonAnswer & { readonly undelivered?: () => Promise<void> }> {
  const action = actions.get(name);
  if (action === undefined) throw new Error('an action was named that is not in the table');
  const outcome = await action.perform((shape) => decodeJsonRequest(shape, request.body), call);
  if (outcome.kind === 'refused') return jsonRefused(outcome, requestId);
  const { undelivered } = outcome;
  if (undelivered === undefined) return jsonDone(outcome.output, requestId);
  return {
    ...jsonDone(outcome.output, requestId),
    undelivered: () =>
      undelivered().catch((error: unknown) => {
        report(options, 'Undelivered messages were not given back; they come again after their timeout', {
          requestId,
          error,
        });
      }),
  };
}
