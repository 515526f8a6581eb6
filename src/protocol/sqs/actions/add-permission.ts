/** AddPermission: a statement in the queue's Policy, which is stored and shown and has no effect. */
import type { AddPermissionRequest } from '@aws-sdk/client-sqs';
import { invalidValue, queueDoesNotExist, refusal } from '../errors.ts';
import { parsePermission } from '../permissions.ts';
import { action, doneEmpty, targetQueue } from './action.ts';

export const addPermission = action<AddPermissionRequest, object>({
  shape: {
    members: {
      QueueUrl: 'string',
      Label: 'string',
      AWSAccountIds: { list: 'string' },
      Actions: { list: 'string' },
    },
  },

  async run(request, call) {
    const name = targetQueue(request.QueueUrl, call);
    if (typeof name !== 'string') return name;
    const parsed = parsePermission(request);
    if (parsed.kind === 'refused') return parsed;
    const { permission } = parsed;
    const outcome = await call.service.addPermission(name, permission);
    switch (outcome.kind) {
      case 'done':
        return doneEmpty;
      case 'label-taken':
        return invalidValue(permission.label, 'Label', 'Already exists.');
      case 'too-many-statements':
        return refusal(
          'OverLimit',
          `${outcome.count} Statements were found, maximum allowed is ${outcome.max}.`,
        );
      case 'policy-too-long':
        return refusal('OverLimit', `A policy has at most ${outcome.charactersMax} characters.`);
      case 'queue-missing':
        return queueDoesNotExist;
    }
  },
});
