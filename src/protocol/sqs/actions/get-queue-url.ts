/** GetQueueUrl: reads the store, so a queue created on another node a moment ago is found. */
import type { GetQueueUrlRequest, GetQueueUrlResult } from '@aws-sdk/client-sqs';
import { isQueueName } from '../../../core/queue-arn.ts';
import { missingQueueName, queueDoesNotExist } from '../errors.ts';
import { queueUrl } from '../queue-url.ts';
import { action } from './action.ts';

export const getQueueUrl = action<GetQueueUrlRequest, GetQueueUrlResult>({
  shape: { members: { QueueName: 'string', QueueOwnerAWSAccountId: 'string' } },

  async run(request, call) {
    const { QueueName: name, QueueOwnerAWSAccountId: owner } = request;
    if (name === undefined || name === '') return missingQueueName;
    const ours = owner === undefined || owner === call.accountId;
    if (!ours || !isQueueName(name) || !(await call.service.queueExists(name))) return queueDoesNotExist;
    return { kind: 'done', output: { QueueUrl: queueUrl(call.baseUrl, call.accountId, name) } };
  },
});
