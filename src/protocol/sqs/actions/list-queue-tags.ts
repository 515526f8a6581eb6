/** ListQueueTags: all of them at once, from a manifest read for this call. */
import type { ListQueueTagsRequest, ListQueueTagsResult } from '@aws-sdk/client-sqs';
import { queueDoesNotExist } from '../errors.ts';
import { action, doneEmpty, targetQueue } from './action.ts';

export const listQueueTags = action<ListQueueTagsRequest, ListQueueTagsResult>({
  shape: { members: { QueueUrl: 'string' } },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const found = await call.service.queueTags(name);
    if (found.kind === 'queue-missing') return queueDoesNotExist;
    return found.tags.size === 0
      ? doneEmpty
      : { kind: 'done', output: { Tags: Object.fromEntries(found.tags) } };
  },
});
