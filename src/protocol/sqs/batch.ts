/** The rules all batches share (SQS.md section 3): what refuses the whole request, and how one entry fails alone. */
import type { BatchResultErrorEntry } from '@aws-sdk/client-sqs';
import { errorRow, type Refusal, refusal } from './errors.ts';
import type { Answer } from './shape.ts';

export const BATCH_ENTRIES_MAX = 10;

const ENTRY_ID = /^[A-Za-z0-9_-]{1,80}$/;

export type BatchEntryType =
  | 'SendMessageBatchRequestEntry'
  | 'DeleteMessageBatchRequestEntry'
  | 'ChangeMessageVisibilityBatchRequestEntry';

export function checkBatch(
  entries: readonly { readonly Id: string | undefined }[],
  entryType: BatchEntryType,
): Refusal | undefined {
  if (entries.length === 0) {
    return refusal('EmptyBatchRequest', `There should be at least one ${entryType} in the request.`);
  }
  if (entries.length > BATCH_ENTRIES_MAX) {
    return refusal(
      'TooManyEntriesInBatchRequest',
      `Maximum number of entries per request are ${BATCH_ENTRIES_MAX}. You have sent ${entries.length}.`,
    );
  }
  for (const { Id: id } of entries) {
    if (id === undefined || !ENTRY_ID.test(id)) {
      return refusal(
        'InvalidBatchEntryId',
        'A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.',
      );
    }
  }
  const seen = new Set<string>();
  for (const { Id: id } of entries) {
    if (id === undefined) continue;
    if (seen.has(id)) return refusal('BatchEntryIdsNotDistinct', `Id ${id} repeated.`);
    seen.add(id);
  }
  return undefined;
}

/** `Code` is the legacy code also in JSON, which is what clients compare. */
export function failedEntry(id: string | undefined, refused: Refusal): Answer<BatchResultErrorEntry> {
  return {
    Id: id,
    SenderFault: errorRow(refused.type).fault === 'Sender',
    Code: errorRow(refused.type).queryCode,
    Message: refused.message,
  };
}

/** Both lists in request order; an empty one is left out. */
export function batchAnswer<Success, Failure>(
  successful: readonly Success[],
  failed: readonly Failure[],
): { readonly Successful?: readonly Success[]; readonly Failed?: readonly Failure[] } {
  return {
    ...(successful.length === 0 ? {} : { Successful: successful }),
    ...(failed.length === 0 ? {} : { Failed: failed }),
  };
}
