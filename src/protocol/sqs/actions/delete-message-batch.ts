/** DeleteMessageBatch: one commit for all good entries. */
import type {
  BatchResultErrorEntry,
  DeleteMessageBatchRequest,
  DeleteMessageBatchResult,
  DeleteMessageBatchResultEntry,
} from '@aws-sdk/client-sqs';
import { batchAnswer, checkBatch, failedEntry } from '../batch.ts';
import { deletionRefusal } from '../deletion.ts';
import { missingParameter, queueDoesNotExist } from '../errors.ts';
import type { Answer } from '../shape.ts';
import { action, targetQueue } from './action.ts';

export const deleteMessageBatch = action<DeleteMessageBatchRequest, DeleteMessageBatchResult>({
  shape: {
    members: {
      QueueUrl: 'string',
      Entries: { list: { members: { Id: 'string', ReceiptHandle: 'string' } } },
    },
  },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const entries = request.Entries ?? [];
    const refused = checkBatch(entries, 'DeleteMessageBatchRequestEntry');
    if (refused !== undefined) return refused;
    const handles = entries.flatMap(({ ReceiptHandle: handle }) => (handle ? [handle] : []));
    const outcome = await call.service.deleteMessages(name, handles);
    if (outcome.kind === 'queue-missing') return queueDoesNotExist;
    const successful: Answer<DeleteMessageBatchResultEntry>[] = [];
    const failed: Answer<BatchResultErrorEntry>[] = [];
    let next = 0;
    for (const { Id: id, ReceiptHandle: handle } of entries) {
      if (!handle) {
        failed.push(failedEntry(id, missingParameter('ReceiptHandle')));
        continue;
      }
      const entry = outcome.entries[next];
      next += 1;
      if (entry === undefined) throw new Error('a batch was answered for fewer entries than it deleted');
      const refusedAlone = deletionRefusal(handle, entry);
      if (refusedAlone === undefined) successful.push({ Id: id });
      else failed.push(failedEntry(id, refusedAlone));
    }
    return { kind: 'done', output: batchAnswer(successful, failed) };
  },
});
