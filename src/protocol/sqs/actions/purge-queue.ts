/** PurgeQueue: takes effect when it is answered, without AWS's 60 seconds unless cool-downs are on (SQS.md section 9). */
import type { PurgeQueueRequest } from '@aws-sdk/client-sqs';
import { queueDoesNotExist, refusal } from '../errors.ts';
import { action, doneEmpty, targetQueue } from './action.ts';

export const purgeQueue = action<PurgeQueueRequest, object>({
  shape: { members: { QueueUrl: 'string' } },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const outcome = await call.service.purgeQueue(name);
    switch (outcome.kind) {
      case 'done':
        return doneEmpty;
      case 'in-progress':
        return refusal(
          'PurgeQueueInProgress',
          `Only one PurgeQueue operation on ${name} is allowed every 60 seconds.`,
        );
      case 'queue-missing':
        return queueDoesNotExist;
    }
  },
});
