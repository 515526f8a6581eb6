/** What the three actions on message move tasks share: queues by ARN, and the handle of a task. */
import { queueNameOfArn } from '../../core/queue-arn.ts';
import { namesQueue } from '../../core/redrive-policy.ts';
import { base64FromBytes, bytesFromBase64 } from './base64.ts';
import { invalidParameter, missingParameter, type Refusal, refusal } from './errors.ts';

type ArnParameter = 'SourceArn' | 'DestinationArn';

interface Account {
  readonly accountId: string;
  readonly region: string;
}

/** The queue that an ARN names; one of another account or region is none of ours. */
export function queueOfArn(
  parameter: ArnParameter,
  arn: string | undefined,
  { accountId, region }: Account,
): string | Refusal {
  if (arn === undefined) return missingParameter(parameter);
  const name = queueNameOfArn(arn)?.name;
  if (name === undefined)
    return invalidParameter(
      `You must use this format to specify the ${parameter}: arn:<partition>:<service>:<region>:<account-id>:<resource-id>`,
    );
  return namesQueue(arn, { accountId, region, name }) ? name : resourceMissing(parameter);
}

export function resourceMissing(parameter: ArnParameter): Refusal {
  return refusal(
    'ResourceNotFoundException',
    `The resource that you specified for the ${parameter} parameter doesn't exist.`,
  );
}

/** As on AWS, whose clients may look into it. */
export function taskHandleOf(taskId: string, sourceArn: string): string {
  return base64FromBytes(new TextEncoder().encode(JSON.stringify({ taskId, sourceArn })));
}

/** Undefined: no handle of a task. */
export function parseTaskHandle(
  handle: string,
): { readonly taskId: string; readonly sourceArn: string } | undefined {
  const bytes = bytesFromBase64(handle);
  if (bytes === undefined) return undefined;
  try {
    const { taskId, sourceArn } = JSON.parse(new TextDecoder().decode(bytes)) ?? {};
    return typeof taskId === 'string' && typeof sourceArn === 'string' ? { taskId, sourceArn } : undefined;
  } catch {
    return undefined;
  }
}
