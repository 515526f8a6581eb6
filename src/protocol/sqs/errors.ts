/**
 * Every error SQS clients can get from us, in one table: JSON type, legacy query code, HTTP status (SQS.md section 1).
 * Both protocols word their answers from it; nothing else in the surface knows a code or a status.
 */
import type { AttributeProblem } from '../../core/attribute-problem.ts';

interface ErrorRow {
  readonly queryCode: string;
  readonly status: number;
  /** Namespace of the JSON type where it is not SQS's own. */
  readonly namespace?: string;
}

const LEGACY = 'AWS.SimpleQueueService';
const CORAL = 'com.amazon.coral.service';

const ROWS = {
  QueueDoesNotExist: { queryCode: `${LEGACY}.NonExistentQueue`, status: 400 },
  QueueNameExists: { queryCode: 'QueueAlreadyExists', status: 400 },
  QueueDeletedRecently: { queryCode: `${LEGACY}.QueueDeletedRecently`, status: 400 },
  PurgeQueueInProgress: { queryCode: `${LEGACY}.PurgeQueueInProgress`, status: 403 },
  BatchRequestTooLong: { queryCode: `${LEGACY}.BatchRequestTooLong`, status: 400 },
  TooManyEntriesInBatchRequest: { queryCode: `${LEGACY}.TooManyEntriesInBatchRequest`, status: 400 },
  EmptyBatchRequest: { queryCode: `${LEGACY}.EmptyBatchRequest`, status: 400 },
  InvalidBatchEntryId: { queryCode: `${LEGACY}.InvalidBatchEntryId`, status: 400 },
  BatchEntryIdsNotDistinct: { queryCode: `${LEGACY}.BatchEntryIdsNotDistinct`, status: 400 },
  InvalidParameterValueException: { queryCode: 'InvalidParameterValue', status: 400 },
  MissingRequiredParameterException: { queryCode: 'MissingParameter', status: 400 },
  InvalidAttributeName: { queryCode: 'InvalidAttributeName', status: 400 },
  InvalidAttributeValue: { queryCode: 'InvalidAttributeValue', status: 400 },
  InvalidMessageContents: { queryCode: 'InvalidMessageContents', status: 400 },
  ReceiptHandleIsInvalid: { queryCode: 'ReceiptHandleIsInvalid', status: 400 },
  OverLimit: { queryCode: 'OverLimit', status: 403 },
  /** Of message move tasks. */
  ResourceNotFoundException: { queryCode: 'ResourceNotFoundException', status: 404 },
  /** Query protocol only: an action that does not exist there, or not at that address. */
  InvalidAction: { queryCode: 'InvalidAction', status: 400 },
  InvalidAddress: { queryCode: 'InvalidAddress', status: 404 },
  /** What AWS answers when no protocol finds an action in the request; in XML it has a body of its own. */
  UnknownOperationException: { queryCode: 'UnknownOperationException', status: 404, namespace: CORAL },
  UnsupportedOperation: { queryCode: `${LEGACY}.UnsupportedOperation`, status: 400 },
  ServiceUnavailable: { queryCode: 'ServiceUnavailable', status: 503 },
  RequestThrottled: { queryCode: 'RequestThrottled', status: 400 },
  InternalFailure: { queryCode: 'InternalFailure', status: 500 },
  InvalidClientTokenId: { queryCode: 'InvalidClientTokenId', status: 403 },
  SignatureDoesNotMatch: { queryCode: 'SignatureDoesNotMatch', status: 403 },
  IncompleteSignature: { queryCode: 'IncompleteSignature', status: 400 },
  MissingAuthenticationToken: { queryCode: 'MissingAuthenticationToken', status: 403 },
  /** What AWS answers to what it cannot read as the request of the action. */
  SerializationException: { queryCode: 'MalformedInput', status: 400, namespace: CORAL },
  RequestEntityTooLargeException: { queryCode: 'RequestEntityTooLarge', status: 413, namespace: CORAL },
  RequestTimeoutException: { queryCode: 'RequestTimeout', status: 408, namespace: CORAL },
  HeadersTooLargeException: { queryCode: 'RequestHeadersTooLarge', status: 431, namespace: CORAL },
} as const satisfies Record<string, ErrorRow>;

export type ErrorType = keyof typeof ROWS;

/** An answer that is an error. Returned, never thrown: callers tell it by `kind`. */
export interface Refusal {
  readonly kind: 'refused';
  readonly type: ErrorType;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

export function refusal(type: ErrorType, message: string): Refusal {
  return { kind: 'refused', type, message };
}

export function errorRow(type: ErrorType): {
  /** As in `__type`. */
  readonly jsonType: string;
  readonly queryCode: string;
  readonly status: number;
  readonly fault: 'Sender' | 'Receiver';
} {
  const row: ErrorRow = ROWS[type];
  return {
    jsonType: `${row.namespace ?? 'com.amazonaws.sqs'}#${type}`,
    queryCode: row.queryCode,
    status: row.status,
    fault: row.status >= 500 ? 'Receiver' : 'Sender',
  };
}

export const queueDoesNotExist: Refusal = refusal('QueueDoesNotExist', 'The specified queue does not exist.');

export function missingParameter(name: string): Refusal {
  return refusal('MissingRequiredParameterException', `The request must contain the parameter ${name}.`);
}

/** CreateQueue and GetQueueUrl say it in other words than everything else that is missing. */
export const missingQueueName: Refusal = refusal(
  'InvalidParameterValueException',
  'Value for parameter QueueName is invalid. Reason: Must specify a queue name.',
);

export function invalidParameter(message: string): Refusal {
  return refusal('InvalidParameterValueException', message);
}

export function invalidValue(value: string | number, parameter: string, reason: string): Refusal {
  return invalidParameter(`Value ${value} for parameter ${parameter} is invalid. Reason: ${reason}`);
}

export function malformedHandle(receiptHandle: string): Refusal {
  return refusal(
    'ReceiptHandleIsInvalid',
    `The input receipt handle "${receiptHandle}" is not a valid receipt handle.`,
  );
}

export function expiredHandle(receiptHandle: string): Refusal {
  return invalidValue(receiptHandle, 'ReceiptHandle', 'The receipt handle has expired.');
}

export function attributeRefusal(problem: AttributeProblem): Refusal {
  switch (problem.kind) {
    case 'unknown-name':
      return refusal('InvalidAttributeName', problem.message);
    case 'bad-value':
      return refusal('InvalidAttributeValue', problem.message);
    case 'bad-policy':
      return invalidParameter(problem.message);
  }
}
