/**
 * RedrivePolicy and RedriveAllowPolicy: JSON strings inside queue attributes. Both are kept as compact JSON;
 * maxReceiveCount is accepted as `"5"` or `5` and kept as a number, as SQS returns it.
 */

import type { AttributeProblem } from './attribute-problem.ts';
import { isFifoName, type QueueArn, queueNameOfArn } from './queue-arn.ts';

export interface RedrivePolicy {
  readonly deadLetterTargetArn: string;
  readonly maxReceiveCount: number;
}

interface RedriveAllowPolicy {
  readonly redrivePermission: 'allowAll' | 'denyAll' | 'byQueue';
  readonly sourceQueueArns?: readonly string[];
}

type Parsed =
  | { readonly kind: 'ok'; readonly value: string }
  | { readonly kind: 'problem'; readonly problem: AttributeProblem };

const MAX_RECEIVE_COUNT_MAX = 1_000;
const SOURCE_QUEUES_MAX = 10;
/** Longest JSON looked at, characters: ten source ARNs take under 2,000. */
const POLICY_CHARACTERS_MAX = 8_192;

function jsonObjectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.length > POLICY_CHARACTERS_MAX) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function malformed(name: string, reason: string): Parsed {
  return {
    kind: 'problem',
    problem: {
      kind: 'bad-value',
      name,
      message: `Invalid value for the parameter ${name}. Reason: ${reason}`,
    },
  };
}

function refusal(name: string, text: string, reason: string): AttributeProblem {
  return {
    kind: 'bad-policy',
    name,
    message: `Value ${text} for parameter ${name} is invalid. Reason: ${reason}`,
  };
}

function refused(name: string, text: string, reason: string): Parsed {
  return { kind: 'problem', problem: refusal(name, text, reason) };
}

/** The dead-letter queue a policy names is not there. `policyText`: the attribute as sent, or its canonical form. */
export function deadLetterTargetMissing(policyText: string): AttributeProblem {
  return refusal('RedrivePolicy', policyText, 'Dead letter target does not exist.');
}

/** The dead-letter queue a policy names takes no messages from this source, by its RedriveAllowPolicy. */
export function deadLetterTargetDenies(policyText: string): AttributeProblem {
  return refusal(
    'RedrivePolicy',
    policyText,
    'The redrive allow policy of the dead-letter queue does not allow this source queue.',
  );
}

/** Whether a queue with this RedriveAllowPolicy (canonical) may be the dead-letter queue of that source. */
export function allowsSource(allowPolicyText: string | undefined, source: QueueArn): boolean {
  if (allowPolicyText === undefined) return true;
  const { redrivePermission, sourceQueueArns = [] } = JSON.parse(allowPolicyText) as RedriveAllowPolicy;
  if (redrivePermission !== 'byQueue') return redrivePermission === 'allowAll';
  return sourceQueueArns.some((arn) => namesQueue(arn, source));
}

/** Whether it is the queue's ARN, in any partition. */
export function namesQueue(arn: string, queue: QueueArn): boolean {
  const named = queueNameOfArn(arn);
  return named?.name === queue.name && named.accountId === queue.accountId && named.region === queue.region;
}

function receiveCountOf(value: unknown): number | undefined {
  const count =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && /^[0-9]{1,9}$/.test(value)
        ? Number(value)
        : 0;
  return Number.isInteger(count) && count >= 1 && count <= MAX_RECEIVE_COUNT_MAX ? count : undefined;
}

/** `fifo`: the type of the queue that it is for. */
export function parseRedrivePolicy(text: string, fifo: boolean): Parsed {
  const name = 'RedrivePolicy';
  const policy = jsonObjectOf(text);
  if (policy === undefined) return malformed(name, 'Redrive policy is not a valid JSON map.');
  for (const member of ['maxReceiveCount', 'deadLetterTargetArn']) {
    if (!Object.hasOwn(policy, member)) {
      return refused(name, text, `Redrive policy does not contain mandatory attribute: ${member}.`);
    }
  }
  const { deadLetterTargetArn: arn, maxReceiveCount: sentCount } = policy;
  const maxReceiveCount = receiveCountOf(sentCount);
  if (maxReceiveCount === undefined) {
    const reason = `Invalid value for maxReceiveCount: ${textOf(sentCount)}, valid values are from 1 to 1000 both inclusive.`;
    return refused(name, text, reason);
  }
  const target = typeof arn === 'string' ? queueNameOfArn(arn) : undefined;
  if (typeof arn !== 'string' || target === undefined) {
    return refused(name, text, 'Invalid value for deadLetterTargetArn.');
  }
  if (isFifoName(target.name) !== fifo) {
    return refused(name, text, 'Dead-letter queue must be same type of queue as the source.');
  }
  if (Object.keys(policy).length > 2) {
    const reason = 'Only following attributes are supported: [deadLetterTargetArn, maxReceiveCount].';
    return refused(name, text, reason);
  }
  const canonical: RedrivePolicy = { deadLetterTargetArn: arn, maxReceiveCount };
  return { kind: 'ok', value: JSON.stringify(canonical) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

const UNSUPPORTED_ALLOW_FORMAT =
  "Amazon SQS can't create the redrive allow policy, as it’s in an unsupported format.";

export function parseRedriveAllowPolicy(text: string): Parsed {
  const name = 'RedriveAllowPolicy';
  const policy = jsonObjectOf(text);
  if (policy === undefined) return malformed(name, UNSUPPORTED_ALLOW_FORMAT);
  const { redrivePermission, sourceQueueArns, ...rest } = policy;
  const knownPermission =
    redrivePermission === 'allowAll' || redrivePermission === 'denyAll' || redrivePermission === 'byQueue';
  if (!knownPermission || Object.keys(rest).length > 0) return malformed(name, UNSUPPORTED_ALLOW_FORMAT);
  const arns: unknown = sourceQueueArns ?? [];
  if (!Array.isArray(arns) || !arns.every((arn) => typeof arn === 'string')) {
    return malformed(name, UNSUPPORTED_ALLOW_FORMAT);
  }
  const cannot = "Amazon SQS can't create the redrive allow policy.";
  if (redrivePermission !== 'byQueue') {
    return arns.length === 0
      ? { kind: 'ok', value: JSON.stringify({ redrivePermission }) }
      : refused(
          name,
          text,
          `${cannot} To specify one or more source queue ARNs, you must set redrivePermission to byQueue.`,
        );
  }
  if (arns.length === 0) {
    const must = 'you must also specify one or more sourceQueueArns values.';
    return refused(name, text, `${cannot} When you specify the byQueue permission type, ${must}`);
  }
  if (arns.length > SOURCE_QUEUES_MAX) {
    return refused(name, text, `${cannot} The maximum number of source queue ARNs you can specify is 10.`);
  }
  return { kind: 'ok', value: JSON.stringify({ redrivePermission, sourceQueueArns: arns }) };
}
