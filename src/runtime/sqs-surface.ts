/** The SQS surface as the listener wants it: the handler itself, and the listener's own answers in SQS's words. */
import { refusal } from '../protocol/sqs/errors.ts';
import {
  bodyTooLarge,
  createSqsHandler,
  refusedByHead,
  type SqsHandlerOptions,
} from '../protocol/sqs/handler.ts';
import type { HttpHandler, HttpProblem, ProblemAnswer } from './http-handler.ts';

export interface Surface {
  readonly handler: HttpHandler;
  readonly problem: ProblemAnswer;
}

export function createSqsSurface(options: SqsHandlerOptions): Surface {
  return {
    handler: createSqsHandler(options),
    problem: (problem, head) => refusedByHead(head, refusalFor(problem), options.requestId()),
  };
}

function refusalFor(problem: HttpProblem) {
  switch (problem.kind) {
    case 'broken':
      return refusal('SerializationException', 'The request is not well-formed HTTP.');
    case 'headers-too-large':
      return refusal('HeadersTooLargeException', `Request headers exceeded ${problem.maximumBytes} bytes.`);
    case 'body-too-large':
      return bodyTooLarge(problem.maximumBytes);
    case 'too-slow':
      return refusal('RequestTimeoutException', 'The request was not sent in time.');
    case 'overloaded':
    case 'stopping':
      return {
        ...refusal('ServiceUnavailable', 'The service is temporarily unavailable. Please try again.'),
        retryAfterSeconds: 1,
      };
    case 'failed':
      return refusal('InternalFailure', 'The request processing has failed because of an unknown error.');
  }
}
