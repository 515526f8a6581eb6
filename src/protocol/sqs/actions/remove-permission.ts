/** RemovePermission: by label, whoever wrote the statement. */
import type { RemovePermissionRequest } from '@aws-sdk/client-sqs';
import { invalidValue, missingParameter, queueDoesNotExist } from '../errors.ts';
import { action, doneEmpty, targetQueue } from './action.ts';

export const removePermission = action<RemovePermissionRequest, object>({
  shape: { members: { QueueUrl: 'string', Label: 'string' } },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const { Label: label } = request;
    if (label === undefined || label === '') return missingParameter('Label');
    const outcome = await call.service.removePermission(name, label);
    switch (outcome.kind) {
      case 'done':
        return doneEmpty;
      case 'no-such-label':
        return invalidValue(
          label,
          'Label',
          outcome.hasPolicy ? "can't find label on existing policy." : "can't find label.",
        );
      case 'queue-missing':
        return queueDoesNotExist;
    }
  },
});
