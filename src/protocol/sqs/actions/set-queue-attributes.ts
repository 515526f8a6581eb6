/** SetQueueAttributes: replaces what is named and leaves the rest; `""` removes a policy. */
import type { SetQueueAttributesRequest } from '@aws-sdk/client-sqs';
import { attributeRefusal, missingParameter, queueDoesNotExist } from '../errors.ts';
import { action, doneEmpty, targetQueue } from './action.ts';

export const setQueueAttributes = action<SetQueueAttributesRequest, object>({
  shape: { members: { QueueUrl: 'string', Attributes: { textMap: true } } },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const attributes = new Map(Object.entries(request.Attributes ?? {}));
    // As AWS says it, in JSON too.
    if (attributes.size === 0) return missingParameter('Attribute.Name');
    const outcome = await call.service.setQueueAttributes(name, attributes);
    switch (outcome.kind) {
      case 'done':
        return doneEmpty;
      case 'bad-attributes':
        return attributeRefusal(outcome.problem);
      case 'queue-missing':
        return queueDoesNotExist;
    }
  },
});
