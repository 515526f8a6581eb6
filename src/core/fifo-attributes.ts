/**
 * The attributes that only FIFO queues have (SQS.md section 2). `FifoQueue` = 'true' among the attributes of a state is
 * what makes it one, for ever; its name, which the manifest does not hold, then ends in `.fifo`.
 */
import { badValue, type ProblemOutcome, unknownName } from './attribute-problem.ts';

export interface FifoAttributes {
  readonly contentBasedDeduplication: boolean;
  readonly deduplicationScope: 'queue' | 'messageGroup';
}

type Attributes = ReadonlyMap<string, string>;
type ParsedValue = { readonly kind: 'ok'; readonly value: string } | ProblemOutcome;

/** In the order in which they are shown. */
export const fifoNames = [
  'FifoQueue',
  'ContentBasedDeduplication',
  'DeduplicationScope',
  'FifoThroughputLimit',
] as const;

const allowed: ReadonlyMap<string, readonly string[]> = new Map([
  ['ContentBasedDeduplication', ['false', 'true']],
  ['DeduplicationScope', ['queue', 'messageGroup']],
  // Of no effect here: a queue is as fast as its store, whatever its quota.
  ['FifoThroughputLimit', ['perQueue', 'perMessageGroupId']],
]);

/** Whether the name exists on FIFO queues only. */
export function isFifoOnlyAttribute(name: string): boolean {
  return name === 'FifoQueue' || allowed.has(name);
}

/** SQS words it differently for the two later ones. */
export function refusedOnStandard(name: string): ProblemOutcome {
  return name === 'DeduplicationScope' || name === 'FifoThroughputLimit'
    ? unknownName(name, `You can specify the ${name} only when FifoQueue is set to true.`)
    : unknownName(name);
}

/** Of a FIFO queue, new or there already. */
export function parseFifoValue(name: string, text: string): ParsedValue {
  const lower = text.toLowerCase();
  if (name === 'FifoQueue') {
    if (lower === 'true') return { kind: 'ok', value: lower };
    return badValue(name, lower === 'false' ? 'Modifying queue type is not supported.' : undefined);
  }
  const value = name === 'ContentBasedDeduplication' ? lower : text;
  return allowed.get(name)?.includes(value) ? { kind: 'ok', value } : badValue(name);
}

/**
 * What a new queue can't have together. Of changes it is not told: SetQueueAttributes may name one of the two alone,
 * and what the other is only the manifest knows; it has no effect.
 */
export function problemOfTogether(attributes: Attributes): ProblemOutcome | undefined {
  if (attributes.get('FifoThroughputLimit') !== 'perMessageGroupId') return undefined;
  if (attributes.get('DeduplicationScope') === 'messageGroup') return undefined;
  return badValue(
    'FifoThroughputLimit',
    'The perMessageGroupId value is allowed only when the value for DeduplicationScope is messageGroup.',
  );
}

/** Undefined on a standard queue, too. */
export function fifoDefaultOf(attributes: Attributes, name: string): string | undefined {
  return attributes.get('FifoQueue') === 'true' ? allowed.get(name)?.[0] : undefined;
}

export function resolveFifo(attributes: Attributes): FifoAttributes | undefined {
  if (attributes.get('FifoQueue') !== 'true') return undefined;
  return {
    contentBasedDeduplication: attributes.get('ContentBasedDeduplication') === 'true',
    deduplicationScope: attributes.get('DeduplicationScope') === 'messageGroup' ? 'messageGroup' : 'queue',
  };
}
