/** What AddPermission writes into a policy, as AWS does: account roots as principals, `SQS:` before each action. */
import type { PolicyStatement } from '../core/permissions.ts';
import type { Permission } from './queue-api.ts';

export function newStatement(permission: Permission, queueArn: string): PolicyStatement {
  const { label, accountIds, actions } = permission;
  return {
    Sid: label,
    Effect: 'Allow',
    Principal: { AWS: oneOrList(accountIds.map((id) => `arn:aws:iam::${id}:root`)) },
    Action: oneOrList(actions.map((action) => `SQS:${action}`)),
    Resource: queueArn,
  };
}

function oneOrList(texts: readonly string[]): string | readonly string[] {
  const [first] = texts;
  return texts.length === 1 && first !== undefined ? first : texts;
}
