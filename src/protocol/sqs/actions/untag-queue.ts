/** UntagQueue: a key that the queue does not have is no mistake. */
import type { UntagQueueRequest } from '@aws-sdk/client-sqs';
import { queueDoesNotExist } from '../errors.ts';
import { tagRefusal } from '../tags.ts';
import { action, doneEmpty, targetQueue } from './action.ts';

export const untagQueue = action<UntagQueueRequest, object>({
  shape: { members: { QueueUrl: 'string', TagKeys: { list: 'string' } } },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const { TagKeys: keys = [] } = request;
    // What AWS says to no keys at all.
    if (keys.length === 0) return tagRefusal('key-length', name);
    const outcome = await call.service.untagQueue(name, keys);
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
