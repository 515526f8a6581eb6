/** ChangeMessageVisibility: a new timeout from now on; 0 gives the message back at once. */
import type { ChangeMessageVisibilityRequest } from '@aws-sdk/client-sqs';
import { queueDoesNotExist } from '../errors.ts';
import { parseVisibilityEntry, visibilityRefusal } from '../visibility.ts';
import { action, doneEmpty, targetQueue } from './action.ts';

export const changeMessageVisibility = action<ChangeMessageVisibilityRequest, object>({
  shape: { members: { QueueUrl: 'string', ReceiptHandle: 'string', VisibilityTimeout: 'integer' } },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const parsed = parseVisibilityEntry(request);
    if (parsed.kind === 'refused') return parsed;
    const outcome = await call.service.changeVisibility(name, [parsed.entry]);
    if (outcome.kind === 'queue-missing') return queueDoesNotExist;
    const [entry] = outcome.entries;
    if (entry === undefined) throw new Error('a visibility change of one message answered for none');
    return visibilityRefusal(parsed.entry, entry) ?? doneEmpty;
  },
});
