/** Deleting, single or in a batch: the words of what can go wrong with a handle. */
import type { DeleteEntryOutcome } from '../../engine/queue-api.ts';
import { expiredHandle, malformedHandle, type Refusal } from './errors.ts';

/** Undefined when there is nothing to complain of. */
export function deletionRefusal(receiptHandle: string, outcome: DeleteEntryOutcome): Refusal | undefined {
  switch (outcome.kind) {
    case 'done':
      return undefined;
    case 'malformed-handle':
      return malformedHandle(receiptHandle);
    case 'expired':
      return expiredHandle(receiptHandle);
  }
}
