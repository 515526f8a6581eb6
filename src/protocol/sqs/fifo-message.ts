/**
 * What FIFO queues ask of a message and standard ones don't, by SQS.md sections 3 and 6. The name of a queue tells which it
 * is; whether it deduplicates by content only its present attributes do, so the hash of a body goes along in any case.
 */
import type { Deduplication } from '../../core/command.ts';
import type { SqsDigests } from './digests.ts';
import { invalidParameter, invalidValue, missingParameter, type Refusal } from './errors.ts';

/** Group, deduplication and attempt ids. */
const ID = /^[A-Za-z0-9!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]{1,128}$/;
const OTHER_TYPE = 'The request include parameter that is not valid for this queue type.';

export interface FifoFields {
  readonly DelaySeconds?: number | undefined;
  readonly MessageGroupId?: string | undefined;
  readonly MessageDeduplicationId?: string | undefined;
}

export function checkId(id: string | undefined, parameter: string): Refusal | undefined {
  if (id === undefined || ID.test(id)) return undefined;
  const reason = `${parameter} can only include alphanumeric and punctuation characters. 1 to 128 in length.`;
  return invalidValue(id, parameter, reason);
}

export function checkIds(fields: FifoFields, fifo: boolean): Refusal | undefined {
  const { MessageGroupId: groupId, MessageDeduplicationId: id } = fields;
  if (fifo && groupId === undefined) return missingParameter('MessageGroupId');
  const refused = checkId(groupId, 'MessageGroupId');
  if (refused !== undefined || id === undefined) return refused;
  return fifo
    ? checkId(id, 'MessageDeduplicationId')
    : invalidValue(id, 'MessageDeduplicationId', OTHER_TYPE);
}

/** A FIFO queue has a delay of its own only, which 0 stands for. */
export function checkFifoDelay({ DelaySeconds: delay = 0 }: FifoFields): Refusal | undefined {
  return delay === 0 ? undefined : invalidValue(delay, 'DelaySeconds', OTHER_TYPE);
}

/** In a batch another code than alone, and the whole request with it. */
export function checkGroups(entries: readonly FifoFields[]): Refusal | undefined {
  const missing = entries.some(({ MessageGroupId: groupId }) => groupId === undefined);
  return missing ? invalidParameter(missingParameter('MessageGroupId').message) : undefined;
}

export async function deduplicationOf(
  fields: FifoFields & { readonly MessageBody?: string | undefined },
  { sha256Hex }: Pick<SqsDigests, 'sha256Hex'>,
): Promise<Deduplication> {
  const { MessageBody: body = '', MessageDeduplicationId: explicitId } = fields;
  return { explicitId, bodyHash: explicitId === undefined ? await sha256Hex(body) : '' };
}

export const noDeduplicationId: Refusal = invalidParameter(
  'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly',
);
