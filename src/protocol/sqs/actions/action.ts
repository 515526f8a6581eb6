/**
 * What an action is: the shape of its request and a function from the decoded request to an answer or a refusal. An
 * action knows no wire format; it gets the SDK's request type and says the SDK's response type.
 */
import type { Md5Hex } from '../../../core/md5.ts';
import type { QueueService } from '../../../engine/queue-api.ts';
import type { SqsDigests } from '../digests.ts';
import { missingParameter, queueDoesNotExist, type Refusal } from '../errors.ts';
import { queueNameOfUrl } from '../queue-url.ts';
import type { Answer, StructureShape } from '../shape.ts';

/** One call: who asks, and what everything it answers is named by. */
export interface ActionCall {
  readonly service: QueueService;
  readonly accountId: string;
  readonly region: string;
  /** Scheme and authority of the URLs we return, without a slash at the end. */
  readonly baseUrl: string;
  /** The caller, as SenderId shows it to consumers. */
  readonly senderId: string;
  /** The queue whose path the request was posted to, if it was. */
  readonly pathQueueName: string | undefined;
  /** X-Amzn-Trace-Id of the request, which messages without an AWSTraceHeader of their own take over. */
  readonly traceId: string | undefined;
  /** Fires when the client has gone. */
  readonly signal: AbortSignal;
  readonly md5Hex: Md5Hex;
  readonly sha256Hex: SqsDigests['sha256Hex'];
}

export interface ActionDone<Response> {
  readonly kind: 'done';
  readonly output: Answer<Response>;
  /** Gives back what the answer leased, when no byte of it reached the client. */
  readonly undelivered?: () => Promise<void>;
}

export type ActionOutcome<Response> = ActionDone<Response> | Refusal;

export interface ActionDefinition<Request, Response> {
  readonly shape: StructureShape<Request>;
  run(request: Request, call: ActionCall): Promise<ActionOutcome<Response>>;
}

/** Reads the request of a call by a shape, from whichever protocol it came. */
export type RequestDecoder = <Request>(
  shape: StructureShape<Request>,
) => { readonly kind: 'decoded'; readonly value: Request } | Refusal;

/** An action with its types folded away, so that all fit one table. */
export interface Action {
  perform(decode: RequestDecoder, call: ActionCall): Promise<ActionOutcome<object>>;
}

export function action<Request, Response extends object>(
  definition: ActionDefinition<Request, Response>,
): Action {
  return {
    async perform(decode, call) {
      const request = decode(definition.shape);
      return request.kind === 'refused' ? request : definition.run(request.value, call);
    },
  };
}

/** The answer without content. */
export const doneEmpty: ActionDone<object> = { kind: 'done', output: {} };

/** The queue a request is about: its QueueUrl, or else the path it was posted to. */
export function targetQueue(url: string | undefined, call: ActionCall): string | Refusal {
  if (url === undefined || url === '') return call.pathQueueName ?? missingParameter('QueueUrl');
  return queueNameOfUrl(url, call.accountId) ?? queueDoesNotExist;
}
