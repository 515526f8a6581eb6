/** TagQueue: adds tags, or gives those that are there other values. */
import type { TagQueueRequest } from '@aws-sdk/client-sqs';
import { missingParameter, queueDoesNotExist } from '../errors.ts';
import { tagRefusal } from '../tags.ts';
import { action, doneEmpty, targetQueue } from './action.ts';

export const tagQueue = action<TagQueueRequest, object>({
  shape: { members: { QueueUrl: 'string', Tags: { map: 'string' } } },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const tags = new Map(Object.entries(request.Tags ?? {}));
    if (tags.size === 0) return missingParameter('Tags');
    const outcome = await call.service.tagQueue(name, tags);
    switch (outcome.kind) {
      case 'done':
        return doneEmpty;
      case 'bad-tags':
        return tagRefusal(outcome.problem, name);
      case 'queue-missing':
        return queueDoesNotExist;
    }
  },
});
