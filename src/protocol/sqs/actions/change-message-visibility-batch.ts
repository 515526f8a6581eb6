/** ChangeMessageVisibilityBatch: one commit for all good entries. */
import type {
  BatchResultErrorEntry,
  ChangeMessageVisibilityBatchRequest,
  ChangeMessageVisibilityBatchResult,
  ChangeMessageVisibilityBatchResultEntry,
} from '@aws-sdk/client-sqs';
import type { VisibilityEntryOutcome } from '../../../engine/queue-api.ts';
import { batchAnswer, checkBatch, failedEntry } from '../batch.ts';
import { queueDoesNotExist } from '../errors.ts';
import type { Answer } from '../shape.ts';
import { parseVisibilityEntry, visibilityRefusal } from '../visibility.ts';
import { action, targetQueue } from './action.ts';

interface BatchEntry {
  readonly id: string | undefined;
  readonly change: ReturnType<typeof parseVisibilityEntry>;
}

function answerOf(batch: readonly BatchEntry[], outcomes: readonly VisibilityEntryOutcome[]) {
  const successful: Answer<ChangeMessageVisibilityBatchResultEntry>[] = [];
  const failed: Answer<BatchResultErrorEntry>[] = [];
  let next = 0;
  for (const { id, change } of batch) {
    if (change.kind === 'refused') {
      failed.push(failedEntry(id, change));
      continue;
    }
    const outcome = outcomes[next];
    next += 1;
    if (outcome === undefined) throw new Error('a batch was answered for fewer entries than it changed');
    const refused = visibilityRefusal(change.entry, outcome);
    if (refused === undefined) successful.push({ Id: id });
    else failed.push(failedEntry(id, refused));
  }
  return batchAnswer(successful, failed);
}

export const changeMessageVisibilityBatch = action<
  ChangeMessageVisibilityBatchRequest,
  ChangeMessageVisibilityBatchResult
>({
  shape: {
    members: {
      QueueUrl: 'string',
      Entries: { list: { members: { Id: 'string', ReceiptHandle: 'string', VisibilityTimeout: 'integer' } } },
    },
  },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const entries = request.Entries ?? [];
    const refused = checkBatch(entries, 'ChangeMessageVisibilityBatchRequestEntry');
    if (refused !== undefined) return refused;
    const batch = entries.map((entry) => ({ id: entry.Id, change: parseVisibilityEntry(entry) }));
    const good = batch.flatMap(({ change }) => (change.kind === 'parsed' ? [change.entry] : []));
    const outcome = await call.service.changeVisibility(name, good);
    if (outcome.kind === 'queue-missing') return queueDoesNotExist;
    return { kind: 'done', output: answerOf(batch, outcome.entries) };
  },
});
