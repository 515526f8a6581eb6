import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  differingAttribute,
  isAttributeName,
  mergeAttributes,
  parseAttributes,
  resolveAttributes,
  shownAttributes,
} from './queue-attributes.ts';

const mapOf = (attributes: Readonly<Record<string, string>>) => new Map(Object.entries(attributes));
const parse = (
  attributes: Readonly<Record<string, string>>,
  mode: 'create' | 'set' = 'create',
  fifo = true,
) => parseAttributes(mapOf(attributes), mode, fifo);

function accepted(...input: Parameters<typeof parse>): ReadonlyMap<string, string> {
  const parsed = parse(...input);
  return parsed.kind === 'ok' ? parsed.attributes : assert.fail(parsed.problem.message);
}

function refused(...input: Parameters<typeof parse>) {
  const parsed = parse(...input);
  return parsed.kind === 'problem' ? parsed.problem : assert.fail('accepted');
}

describe('attributes of FIFO queues', () => {
  it('say what the queue is, in either case, and have the defaults of SQS', () => {
    const attributes = accepted({ FifoQueue: 'True' });
    const shown = [...shownAttributes(attributes)].slice(-4);
    assert.deepEqual(shown, [
      ['FifoQueue', 'true'],
      ['ContentBasedDeduplication', 'false'],
      ['DeduplicationScope', 'queue'],
      ['FifoThroughputLimit', 'perQueue'],
    ]);
    assert.deepEqual(resolveAttributes(attributes).fifo, {
      contentBasedDeduplication: false,
      deduplicationScope: 'queue',
    });
  });

  it('are kept in canonical form and take effect', () => {
    const given = { ContentBasedDeduplication: 'TRUE', DeduplicationScope: 'messageGroup' };
    const attributes = accepted({ FifoQueue: 'true', ...given, FifoThroughputLimit: 'perMessageGroupId' });
    assert.equal(attributes.get('ContentBasedDeduplication'), 'true');
    assert.deepEqual(resolveAttributes(attributes).fifo, {
      contentBasedDeduplication: true,
      deduplicationScope: 'messageGroup',
    });
    const changed = mergeAttributes(attributes, accepted({ ContentBasedDeduplication: 'false' }, 'set'));
    assert.equal(resolveAttributes(changed).fifo?.contentBasedDeduplication, false);
  });

  it('are compared with their defaults by CreateQueue', () => {
    const queue = accepted({ FifoQueue: 'true' });
    const same = { FifoQueue: 'true', DeduplicationScope: 'queue', ContentBasedDeduplication: 'false' };
    assert.equal(differingAttribute(queue, mapOf(same)), undefined);
    assert.equal(
      differingAttribute(queue, mapOf({ DeduplicationScope: 'messageGroup' })),
      'DeduplicationScope',
    );
  });

  it('take no other value', () => {
    for (const [name, value] of [
      ['FifoQueue', 'yes'],
      ['ContentBasedDeduplication', '1'],
      ['ContentBasedDeduplication', ''],
      ['DeduplicationScope', 'group'],
      ['DeduplicationScope', 'Queue'],
      ['FifoThroughputLimit', 'perGroup'],
    ] as const) {
      const { kind, message } = refused({ [name]: value }, 'set');
      assert.deepEqual([kind, message], ['bad-value', `Invalid value for the parameter ${name}.`]);
    }
  });

  it('never make a FIFO queue a standard one', () => {
    assert.deepEqual(refused({ FifoQueue: 'false' }, 'set'), {
      kind: 'bad-value',
      name: 'FifoQueue',
      message: 'Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported.',
    });
    assert.deepEqual(accepted({ FifoQueue: 'true' }, 'set'), new Map([['FifoQueue', 'true']]));
  });

  it('have no throughput by group with deduplication by queue', () => {
    assert.equal(refused({ FifoThroughputLimit: 'perMessageGroupId' }).name, 'FifoThroughputLimit');
    accepted({ FifoThroughputLimit: 'perMessageGroupId' }, 'set');
  });

  it('do not exist on standard queues', () => {
    for (const name of [
      'FifoQueue',
      'ContentBasedDeduplication',
      'DeduplicationScope',
      'FifoThroughputLimit',
    ]) {
      assert.equal(refused({ [name]: 'true' }, 'create', false).kind, 'unknown-name');
      assert.equal(refused({ [name]: 'true' }, 'set', false).kind, 'unknown-name');
      assert.deepEqual([isAttributeName(name), isAttributeName(name, true)], [false, true]);
    }
  });

  it('have a dead-letter queue of their own type', () => {
    const policy = (name: string) => {
      const deadLetterTargetArn = `arn:aws:sqs:us-east-1:000000000000:${name}`;
      return { RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 3 }) };
    };
    accepted(policy('dead.fifo'));
    accepted(policy('dead'), 'set', false);
    for (const [name, fifo] of [
      ['dead', true],
      ['dead.fifo', false],
    ] as const) {
      const { kind, message } = refused(policy(name), 'set', fifo);
      assert.equal(kind, 'bad-policy');
      assert.ok(
        message.endsWith('Reason: Dead-letter queue must be same type of queue as the source.'),
        message,
      );
    }
  });
});
