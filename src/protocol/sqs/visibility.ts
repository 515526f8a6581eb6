/** Changing visibility, single or in a batch: the range of the timeout and the words of what can go wrong. */
import type { VisibilityEntry, VisibilityEntryOutcome } from '../../engine/queue-api.ts';
import { expiredHandle, invalidValue, malformedHandle, missingParameter, type Refusal } from './errors.ts';

const VISIBILITY_SECONDS_MAX = 43_200;

export function parseVisibilityEntry(fields: {
  readonly ReceiptHandle?: string | undefined;
  readonly VisibilityTimeout?: number | undefined;
}): { readonly kind: 'parsed'; readonly entry: VisibilityEntry } | Refusal {
  const { ReceiptHandle: receiptHandle, VisibilityTimeout: seconds } = fields;
  if (receiptHandle === undefined || receiptHandle === '') return missingParameter('ReceiptHandle');
  if (seconds === undefined) return missingParameter('VisibilityTimeout');
  if (seconds < 0 || seconds > VISIBILITY_SECONDS_MAX) {
    return invalidValue(
      seconds,
      'VisibilityTimeout',
      'VisibilityTimeout must be an integer between 0 and 43200.',
    );
  }
  return { kind: 'parsed', entry: { receiptHandle, visibilityTimeoutSeconds: seconds } };
}

/** Undefined when the change was made. */
export function visibilityRefusal(
  entry: VisibilityEntry,
  outcome: VisibilityEntryOutcome,
): Refusal | undefined {
  switch (outcome.kind) {
    case 'done':
      return undefined;
    case 'malformed-handle':
      return malformedHandle(entry.receiptHandle);
    case 'not-available':
      return invalidValue(
        entry.receiptHandle,
        'ReceiptHandle',
        'Message does not exist or is not available for visibility timeout change.',
      );
    case 'expired':
      return expiredHandle(entry.receiptHandle);
    case 'beyond-limit':
      return invalidValue(
        entry.visibilityTimeoutSeconds,
        'VisibilityTimeout',
        'Total VisibilityTimeout for the message is beyond the limit [43200 seconds]',
      );
  }
}
