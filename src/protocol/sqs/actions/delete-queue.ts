/** DeleteQueue. */
import type { DeleteQueueRequest } from '@aws-sdk/client-sqs';
import { queueDoesNotExist } from '../errors.ts';
import { action, doneEmpty, targetQueue } from './action.ts';

export const deleteQueue = action<DeleteQueueRequest, object>({
  shape: { members: { QueueUrl: 'string' } },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const outcome = await call.service.deleteQueue(name);
    return outcome.kind === 'queue-missing' ? queueDoesNotExist : doneEmpty;
  },
});
