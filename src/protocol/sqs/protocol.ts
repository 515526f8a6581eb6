/**
 * The protocols the surface speaks, json/ and query/, and which of them a request is in. The handler knows no more of
 * them than this: `open` finds the action and a decoder for its request, `done` and `refused` word the answer.
 */
import type { RequestDecoder } from './actions/action.ts';
import type { Refusal } from './errors.ts';
import { jsonProtocol } from './json/protocol.ts';
import { queryProtocol } from './query/protocol.ts';
import { jsonTargetOf, namesActionInQuery, type ParsedRequest } from './request.ts';
import type { WireAnswer } from './wire-answer.ts';

export interface Opened {
  readonly kind: 'opened';
  /** A name in actions/index.ts. */
  readonly action: string;
  readonly decode: RequestDecoder;
}

/** A request whose signature has been verified. */
export interface VerifiedRequest extends ParsedRequest {
  readonly body: Uint8Array;
  /** What X-Amz-Target says where it counts. */
  readonly target: string | undefined;
  readonly accountId: string;
}

export interface Protocol {
  open(request: VerifiedRequest): Opened | Refusal;
  done(action: string, output: object, requestId: string): WireAnswer;
  refused(refusal: Refusal, requestId: string): WireAnswer;
}

const JSON_TYPE = /^\s*application\/(?:x-amz-)?json/i;

function protocolFor(request: ParsedRequest, target: string | undefined): Protocol {
  if (target !== undefined) return jsonProtocol;
  if (namesActionInQuery(request.query)) return queryProtocol;
  return JSON_TYPE.test(request.header('content-type') ?? '') ? jsonProtocol : queryProtocol;
}

/** By what the head says, before anyone knows who sent it: good for wording refusals alone. */
export function apparentProtocol(request: ParsedRequest): Protocol {
  return protocolFor(request, request.jsonTarget.header ?? request.jsonTarget.query);
}

/** By what the signature covers. */
export function protocolOf(
  request: ParsedRequest,
  signed: { readonly presigned: boolean; readonly signedHeaders: readonly string[] },
): { readonly protocol: Protocol; readonly target: string | undefined } {
  const target = jsonTargetOf(request.jsonTarget, {
    ...signed,
    namesAction: namesActionInQuery(request.query),
  });
  return { protocol: protocolFor(request, target), target };
}
