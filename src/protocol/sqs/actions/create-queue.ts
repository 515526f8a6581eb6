/** CreateQueue: succeeds again for the same attributes, also concurrently; a name ends in .fifo exactly if FifoQueue is true. */
import type { CreateQueueRequest, CreateQueueResult } from '@aws-sdk/client-sqs';
import { isFifoName, isQueueName } from '../../../core/queue-arn.ts';
import { attributeRefusal, invalidParameter, missingQueueName, type Refusal, refusal } from '../errors.ts';
import { queueUrl } from '../queue-url.ts';
import { tagRefusal } from '../tags.ts';
import { action } from './action.ts';

function checkName(name: string, fifo: boolean): Refusal | undefined {
  if (isQueueName(name) && isFifoName(name) === fifo) return undefined;
  return invalidParameter(
    fifo
      ? 'The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length.'
      : 'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length',
  );
}

export const createQueue = action<CreateQueueRequest, CreateQueueResult>({
  shape: {
    members: { QueueName: 'string', Attributes: { textMap: true }, tags: { map: 'string' } },
  },

  async run(request, call) {
    const { QueueName: name } = request;
    if (name === undefined) return missingQueueName;
    const attributes = new Map(Object.entries(request.Attributes ?? {}));
    const fifo = attributes.get('FifoQueue')?.toLowerCase() === 'true';
    const refused = checkName(name, fifo);
    if (refused !== undefined) return refused;
    const tags = new Map(Object.entries(request.tags ?? {}));
    const outcome = await call.service.createQueue(name, attributes, tags);
    switch (outcome.kind) {
      case 'created':
      case 'exists':
        return { kind: 'done', output: { QueueUrl: queueUrl(call.baseUrl, call.accountId, name) } };
      case 'differs':
        return refusal(
          'QueueNameExists',
          `A queue already exists with the same name and a different value for attribute ${outcome.attribute}`,
        );
      case 'tags-differ':
        return refusal('QueueNameExists', 'A queue already exists with the same name and different tags.');
      case 'bad-attributes':
        return attributeRefusal(outcome.problem);
      case 'bad-tags':
        return tagRefusal(outcome.problem, name);
      case 'deleted-recently':
        return refusal(
          'QueueDeletedRecently',
          'You must wait 60 seconds after deleting a queue before you can create another with the same name.',
        );
    }
  },
});
