/**
 * The application core of the SQS surface: `(method, target, headers, body) → answer`, on web standards alone. Each
 * runtime feeds it the cheapest way it has; fetch-handler.ts wraps it for everything that speaks `fetch`.
 *
 * - It never throws and never rejects: what a client sent wrongly is a refusal in the protocol it spoke, and our own
 *   mistakes are a 500 InternalFailure in the same form, told to `log` without secrets, signatures or message contents.
 * - Nobody gets past the signature: it is checked before the action is even looked up, and what it covers decides which
 *   protocol is spoken and which action is meant.
 */
import { type QueueService, Unavailable } from '../../engine/queue-api.ts';
import type { ActionCall } from './actions/action.ts';
import { actions } from './actions/index.ts';
import type { SqsDigests } from './digests.ts';
import { type Refusal, refusal } from './errors.ts';
import { jsonProtocol } from './json/protocol.ts';
import { apparentProtocol, type Opened, type Protocol, protocolOf } from './protocol.ts';
import { queueNameOfPath } from './queue-url.ts';
import { type ParsedRequest, parseRequest, type RequestHead, type SqsRequest } from './request.ts';
import { SignatureVerifier } from './sigv4/verify.ts';
import type { WireAnswer } from './wire-answer.ts';

export type { RequestHead, SqsRequest } from './request.ts';

/**
 * The largest HTTP body taken, bytes. A batch carries 1 MiB of content and JSON may spell each of its bytes as a
 * six-byte escape (a form as three bytes); the rest is field names, receipt handles and base64 padding.
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
  let protocol: Protocol = jsonProtocol;
  let action: string | undefined;
  try {
    const parsed = parseRequest(request, options.trustProxy);
    protocol = apparentProtocol(parsed);
    if (request.body.length > HTTP_BODY_BYTES_MAX) return protocol.refused(bodyTooLarge(), requestId);
    const verified = await verifier.verify({ ...parsed, body: request.body });
    if (verified.kind === 'fault') {
      return protocol.refused(refusal(verified.type, verified.message), requestId);
    }
    const spoken = protocolOf(parsed, verified);
    protocol = spoken.protocol;
    const { accountId } = options;
    const opened = protocol.open({ ...parsed, body: request.body, target: spoken.target, accountId });
    if (opened.kind === 'refused') return protocol.refused(opened, requestId);
    action = opened.action;
    const call = callOf(parsed, request, verified.accessKeyId, options);
    return { ...(await perform(protocol, opened, call, requestId, options)), action };
  } catch (error) {
    const answer = protocol.refused(refusalOf(error, options, { action, requestId }), requestId);
    return action === undefined ? answer : { ...answer, action };
  }
}

export function bodyTooLarge(maximumBytes = HTTP_BODY_BYTES_MAX): Refusal {
  return refusal('RequestEntityTooLargeException', `HTTP content length exceeded ${maximumBytes} bytes.`);
}

/** For who must refuse a request before the handler sees it: worded by its head, or in JSON when there is none. */
export function refusedByHead(
  head: RequestHead | undefined,
  refused: Refusal,
  requestId: string,
): WireAnswer {
  const protocol = head === undefined ? jsonProtocol : apparentProtocol(parseRequest(head, false));
  return protocol.refused(refused, requestId);
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
    traceId: parsed.header('x-amzn-trace-id'),
    signal: request.signal,
    md5Hex: options.digests.md5Hex,
    sha256Hex: options.digests.sha256Hex,
  };
}

async function perform(
  protocol: Protocol,
  opened: Opened,
  call: ActionCall,
  requestId: string,
  options: SqsHandlerOptions,
): Promise<WireAnswer & { readonly undelivered?: () => Promise<void> }> {
  const action = actions.get(opened.action);
  if (action === undefined) throw new Error('an action was named that is not in the table');
  const outcome = await action.perform(opened.decode, call);
  if (outcome.kind === 'refused') return protocol.refused(outcome, requestId);
  const { undelivered } = outcome;
  let answer: WireAnswer;
  try {
    answer = protocol.done(opened.action, outcome.output, requestId);
  } catch (error) {
    // Nobody will have what was leased for it.
    await undelivered?.();
    throw error;
  }
  if (undelivered === undefined) return answer;
  return {
    ...answer,
    undelivered: () =>
      undelivered().catch((error: unknown) => {
        report(options, 'Undelivered messages were not given back; they come again after their timeout', {
          requestId,
          error,
        });
      }),
  };
}
