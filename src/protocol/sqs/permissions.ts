/**
 * What AddPermission accepts. The answers are AWS's, though a permission has no effect here: a program that gets its
 * mistake told by AWS is to get it told by okuri.
 */
import type { AddPermissionRequest } from '@aws-sdk/client-sqs';
import type { Permission } from '../../engine/queue-api.ts';
import { invalidParameter, invalidValue, missingParameter, type Refusal, refusal } from './errors.ts';

const LABEL = /^[A-Za-z0-9_-]{1,80}$/;
const ACCOUNT_ID = /^[0-9]{12}$/;
const ACTIONS_MAX = 7;

const GRANTABLE: ReadonlySet<string> = new Set([
  '*',
  'ChangeMessageVisibility',
  'DeleteMessage',
  'GetQueueAttributes',
  'GetQueueUrl',
  'ListDeadLetterSourceQueues',
  'PurgeQueue',
  'ReceiveMessage',
  'SendMessage',
]);

/** Any other name is none of SQS; batches go with the action of one message. */
const OWNERS_ONLY: ReadonlySet<string> = new Set([
  'AddPermission',
  'CancelMessageMoveTask',
  'CreateQueue',
  'DeleteQueue',
  'ListMessageMoveTasks',
  'ListQueueTags',
  'ListQueues',
  'RemovePermission',
  'SetQueueAttributes',
  'StartMessageMoveTask',
  'TagQueue',
  'UntagQueue',
]);

function labelRefusal(label: string): Refusal | undefined {
  if (label === '') return missingParameter('Label');
  if (LABEL.test(label)) return undefined;
  return invalidParameter(
    'Label can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length',
  );
}

function actionsRefusal(actions: readonly string[]): Refusal | undefined {
  if (actions.length === 0) return missingParameter('Actions');
  if (actions.length > ACTIONS_MAX) {
    return refusal('OverLimit', `${actions.length} Actions were found, maximum allowed is ${ACTIONS_MAX}.`);
  }
  const bad = actions.find((action) => !GRANTABLE.has(action));
  if (bad === undefined) return undefined;
  return invalidValue(
    `SQS:${bad}`,
    'ActionName',
    OWNERS_ONLY.has(bad)
      ? 'Only the queue owner is allowed to invoke this action.'
      : 'Please refer to the appropriate WSDL for a list of valid actions.',
  );
}

export function parsePermission(
  request: AddPermissionRequest,
): { readonly kind: 'parsed'; readonly permission: Permission } | Refusal {
  const { Label: label = '', AWSAccountIds: ids, Actions: actions = [] } = request;
  const badLabel = labelRefusal(label);
  if (badLabel !== undefined) return badLabel;
  if (ids === undefined) return missingParameter('PrincipalId');
  // AWS passes over accounts that it does not know as long as it knows one; which exist, nobody can tell here.
  const accountIds = ids.filter((id) => ACCOUNT_ID.test(id));
  if (accountIds.length === 0) {
    return invalidValue(`[${ids.join(', ')}]`, 'PrincipalId', 'Unable to verify.');
  }
  const badActions = actionsRefusal(actions);
  return badActions ?? { kind: 'parsed', permission: { label, accountIds, actions } };
}
