/**
 * Queue attributes: the names SQS knows, their ranges and defaults, and the typed values the state machine reads.
 *
 * Accepted attributes are kept as canonical strings (booleans lower case, numbers without leading zeros, redrive
 * policies as compact JSON with a numeric maxReceiveCount) and shown as such; `resolveAttributes` gives the numbers.
 * Ranges: SQS API reference and SQS.md section 2; texts: responses recorded on AWS. Whether a dead-letter queue
 * exists is not known here: the service asks the store and answers `deadLetterTargetMissing`. Those that only FIFO
 * queues have: fifo-attributes.ts.
 */
import { type AttributeProblem, badValue, type ProblemOutcome, unknownName } from './attribute-problem.ts';
import {
  type FifoAttributes,
  fifoDefaultOf,
  fifoNames,
  isFifoOnlyAttribute,
  parseFifoValue,
  problemOfTogether,
  refusedOnStandard,
  resolveFifo,
} from './fifo-attributes.ts';
import { parseRedriveAllowPolicy, parseRedrivePolicy, type RedrivePolicy } from './redrive-policy.ts';

export { isFifoOnlyAttribute } from './fifo-attributes.ts';

export interface ResolvedAttributes {
  readonly visibilityTimeoutSeconds: number;
  readonly delaySeconds: number;
  readonly receiveWaitSeconds: number;
  readonly maximumMessageBytes: number;
  readonly retentionSeconds: number;
  readonly redrivePolicy: RedrivePolicy | undefined;
  /** Undefined: a standard queue. */
  readonly fifo: FifoAttributes | undefined;
}

/** Canonical value by name; holds only what was set. */
export type QueueAttributes = ReadonlyMap<string, string>;

export type ParsedAttributes =
  | { readonly kind: 'ok'; readonly attributes: QueueAttributes }
  | { readonly kind: 'problem'; readonly problem: AttributeProblem };

interface NumberRule {
  readonly min: number;
  readonly max: number;
  readonly default: number;
}

const NUMBER_RULES = {
  VisibilityTimeout: { min: 0, max: 43_200, default: 30 },
  DelaySeconds: { min: 0, max: 900, default: 0 },
  ReceiveMessageWaitTimeSeconds: { min: 0, max: 20, default: 0 },
  MaximumMessageSize: { min: 1_024, max: 1_048_576, default: 1_048_576 },
  MessageRetentionPeriod: { min: 60, max: 1_209_600, default: 345_600 },
  /** Shown only beside a key, but accepted without one: Terraform always sends it. */
  KmsDataKeyReusePeriodSeconds: { min: 60, max: 86_400, default: 300 },
} as const satisfies Record<string, NumberRule>;

type NumberName = keyof typeof NUMBER_RULES;

/** `""` takes these back to not set. */
const REMOVABLE: ReadonlySet<string> = new Set([
  'RedrivePolicy',
  'RedriveAllowPolicy',
  'Policy',
  'KmsMasterKeyId',
]);

/** Names GetQueueAttributes answers that nobody can set. */
const COMPUTED: ReadonlySet<string> = new Set([
  'QueueArn',
  'CreatedTimestamp',
  'LastModifiedTimestamp',
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
]);

/**
 * The manifest, rewritten with every commit, carries the attributes: a policy may not be what fills it. AWS bounds
 * policies by statements and principals instead, which real ones reach long before this.
 */
export const POLICY_CHARACTERS_MAX = 65_536;
/** AWS's own bound on a KMS key identifier. */
const KEY_ID_CHARACTERS_MAX = 2_048;

function isNumberName(name: string): name is NumberName {
  return Object.hasOwn(NUMBER_RULES, name);
}

/** Whether GetQueueAttributes accepts the name on a queue of that type (`All` is the caller's to know). */
export function isAttributeName(name: string, fifo = false): boolean {
  if (isFifoOnlyAttribute(name)) return fifo;
  return isNumberName(name) || REMOVABLE.has(name) || COMPUTED.has(name) || name === 'SqsManagedSseEnabled';
}

type ParsedValue = { readonly kind: 'ok'; readonly value: string } | ProblemOutcome;

function parseNumber(name: NumberName, text: string): ParsedValue {
  if (!/^[0-9]+$/.test(text)) return badValue(name);
  const value = Number(text);
  const rule = NUMBER_RULES[name];
  return value >= rule.min && value <= rule.max ? { kind: 'ok', value: String(value) } : badValue(name);
}

function parsePolicy(text: string): ParsedValue {
  if (text.length > POLICY_CHARACTERS_MAX) return badValue('Policy');
  try {
    const policy: unknown = JSON.parse(text);
    if (typeof policy === 'object' && policy !== null && !Array.isArray(policy))
      return { kind: 'ok', value: text };
  } catch {
    // Falls through to the refusal: not JSON.
  }
  return badValue('Policy');
}

function parseValue(name: string, text: string, fifo: boolean): ParsedValue {
  if (isNumberName(name)) return parseNumber(name, text);
  if (isFifoOnlyAttribute(name)) return fifo ? parseFifoValue(name, text) : refusedOnStandard(name);
  if (text === '' && REMOVABLE.has(name)) return { kind: 'ok', value: '' };
  switch (name) {
    case 'RedrivePolicy':
      return parseRedrivePolicy(text, fifo);
    case 'RedriveAllowPolicy':
      return parseRedriveAllowPolicy(text);
    case 'Policy':
      return parsePolicy(text);
    case 'KmsMasterKeyId':
      return text.length <= KEY_ID_CHARACTERS_MAX ? { kind: 'ok', value: text } : badValue(name);
    case 'SqsManagedSseEnabled': {
      const value = text.toLowerCase();
      return value === 'true' || value === 'false' ? { kind: 'ok', value } : badValue(name);
    }
    default:
      return unknownName(name);
  }
}

/**
 * Checks attributes as sent and gives their canonical values. `''` (remove) appears only in mode `set`; on a create
 * there is nothing to remove, so it counts as not given. `fifo`: what the queue is, by its name; that it is given as
 * FifoQueue too when one is created is the surface's to see to.
 */
export function parseAttributes(
  input: ReadonlyMap<string, string>,
  mode: 'create' | 'set',
  fifo = false,
): ParsedAttributes {
  const attributes = new Map<string, string>();
  for (const [name, text] of input) {
    const parsed = parseValue(name, text, fifo);
    if (parsed.kind === 'problem') return parsed;
    if (mode === 'set' || parsed.value !== '') attributes.set(name, parsed.value);
  }
  const together = mode === 'create' && fifo ? problemOfTogether(attributes) : undefined;
  if (together) return together;
  const keyGiven = (attributes.get('KmsMasterKeyId') ?? '') !== '';
  if (keyGiven && attributes.get('SqsManagedSseEnabled') === 'true') {
    return unknownName(
      'SqsManagedSseEnabled',
      'You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE.',
    );
  }
  return { kind: 'ok', attributes };
}

/** Applies canonical changes: `''` removes, the rest replaces; the two kinds of encryption exclude each other. */
export function mergeAttributes(current: QueueAttributes, changes: QueueAttributes): QueueAttributes {
  const merged = new Map(current);
  for (const [name, value] of changes) {
    if (value === '') merged.delete(name);
    else merged.set(name, value);
  }
  if ((changes.get('KmsMasterKeyId') ?? '') !== '') {
    merged.set('SqsManagedSseEnabled', 'false');
  } else if (changes.get('SqsManagedSseEnabled') === 'true') {
    merged.delete('KmsMasterKeyId');
    merged.delete('KmsDataKeyReusePeriodSeconds');
  }
  return merged;
}

function numberOf(attributes: QueueAttributes, name: NumberName): number {
  const text = attributes.get(name);
  return text === undefined ? NUMBER_RULES[name].default : Number(text);
}

function defaultOf(attributes: QueueAttributes, name: string): string | undefined {
  if (isNumberName(name)) return String(NUMBER_RULES[name].default);
  if (name === 'SqsManagedSseEnabled') return attributes.has('KmsMasterKeyId') ? 'false' : 'true';
  return fifoDefaultOf(attributes, name);
}

/** The numbers behind canonical attributes. */
export function resolveAttributes(attributes: QueueAttributes): ResolvedAttributes {
  const policyText = attributes.get('RedrivePolicy');
  return {
    visibilityTimeoutSeconds: numberOf(attributes, 'VisibilityTimeout'),
    delaySeconds: numberOf(attributes, 'DelaySeconds'),
    receiveWaitSeconds: numberOf(attributes, 'ReceiveMessageWaitTimeSeconds'),
    maximumMessageBytes: numberOf(attributes, 'MaximumMessageSize'),
    retentionSeconds: numberOf(attributes, 'MessageRetentionPeriod'),
    redrivePolicy: policyText === undefined ? undefined : (JSON.parse(policyText) as RedrivePolicy),
    fifo: resolveFifo(attributes),
  };
}

const SHOWN_ORDER = [
  'VisibilityTimeout',
  'MaximumMessageSize',
  'MessageRetentionPeriod',
  'DelaySeconds',
  'ReceiveMessageWaitTimeSeconds',
  'Policy',
  'RedrivePolicy',
  'RedriveAllowPolicy',
  'KmsMasterKeyId',
  'KmsDataKeyReusePeriodSeconds',
  'SqsManagedSseEnabled',
  ...fifoNames,
] as const;

/** Every attribute as SQS shows it, defaults included. */
export function shownAttributes(attributes: QueueAttributes): ReadonlyMap<string, string> {
  const shown = new Map<string, string>();
  for (const name of SHOWN_ORDER) {
    if (name === 'KmsDataKeyReusePeriodSeconds' && !attributes.has('KmsMasterKeyId')) continue;
    const value = attributes.get(name) ?? defaultOf(attributes, name);
    if (value !== undefined) shown.set(name, value);
  }
  return shown;
}

/** The first given attribute (canonical) whose current value is another, as CreateQueue compares them. */
export function differingAttribute(current: QueueAttributes, given: QueueAttributes): string | undefined {
  for (const [name, value] of given) {
    if ((current.get(name) ?? defaultOf(current, name) ?? '') !== value) return name;
  }
  return undefined;
}
