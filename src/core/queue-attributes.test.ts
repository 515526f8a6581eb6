import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { AttributeProblem } from './attribute-problem.ts';
import { queueNameOfArn } from './queue-arn.ts';
import {
  differingAttribute,
  mergeAttributes,
  parseAttributes,
  type QueueAttributes,
  resolveAttributes,
  shownAttributes,
} from './queue-attributes.ts';
import { deadLetterTargetMissing } from './redrive-policy.ts';

const DLQ = 'arn:aws:sqs:us-east-1:000000000000:dead';

function accepted(input: Record<string, string>, mode: 'create' | 'set' = 'create'): QueueAttributes {
  const parsed = parseAttributes(new Map(Object.entries(input)), mode);
  assert.equal(parsed.kind, 'ok', JSON.stringify(parsed));
  return parsed.kind === 'ok' ? parsed.attributes : new Map();
}

function problem(input: Record<string, string>, mode: 'create' | 'set' = 'create'): AttributeProblem {
  const parsed = parseAttributes(new Map(Object.entries(input)), mode);
  assert.equal(parsed.kind, 'problem');
  return parsed.kind === 'problem' ? parsed.problem : assert.fail();
}

describe('queue attributes', () => {
  it('defaults are those SQS shows', () => {
    assert.deepEqual(Object.fromEntries(shownAttributes(new Map())), {
      VisibilityTimeout: '30',
      MaximumMessageSize: '1048576',
      MessageRetentionPeriod: '345600',
      DelaySeconds: '0',
      ReceiveMessageWaitTimeSeconds: '0',
      SqsManagedSseEnabled: 'true',
    });
    assert.deepEqual(resolveAttributes(new Map()), {
      visibilityTimeoutSeconds: 30,
      delaySeconds: 0,
      receiveWaitSeconds: 0,
      maximumMessageBytes: 1_048_576,
      retentionSeconds: 345_600,
      redrivePolicy: undefined,
      fifo: undefined,
    });
  });

  const ranges: readonly (readonly [string, number, number])[] = [
    ['VisibilityTimeout', 0, 43_200],
    ['DelaySeconds', 0, 900],
    ['ReceiveMessageWaitTimeSeconds', 0, 20],
    ['MaximumMessageSize', 1_024, 1_048_576],
    ['MessageRetentionPeriod', 60, 1_209_600],
    ['KmsDataKeyReusePeriodSeconds', 60, 86_400],
  ];
  for (const [name, min, max] of ranges) {
    it(`${name} takes ${min} to ${max} and nothing else`, () => {
      for (const value of [min, max])
        assert.equal(accepted({ [name]: String(value) }).get(name), String(value));
      for (const text of [
        String(min - 1),
        String(max + 1),
        '',
        ' 61',
        '61.0',
        'x',
        '-61',
        '+61',
        '1e3',
        '٦٠',
      ]) {
        assert.deepEqual(problem({ [name]: text }), {
          kind: 'bad-value',
          name,
          message: `Invalid value for the parameter ${name}.`,
        });
      }
    });
  }

  it('numbers lose leading zeros and booleans capitals', () => {
    assert.equal(accepted({ DelaySeconds: '007' }).get('DelaySeconds'), '7');
    assert.equal(accepted({ SqsManagedSseEnabled: 'False' }).get('SqsManagedSseEnabled'), 'false');
    assert.equal(problem({ SqsManagedSseEnabled: 'yes' }).kind, 'bad-value');
  });

  it('unknown, computed and FIFO-only names are refused with the words of SQS', () => {
    for (const name of [
      'Nope',
      'QueueArn',
      'ApproximateNumberOfMessages',
      'FifoQueue',
      'ContentBasedDeduplication',
    ]) {
      for (const mode of ['create', 'set'] as const) {
        assert.deepEqual(problem({ [name]: 'true' }, mode), {
          kind: 'unknown-name',
          name,
          message: `Unknown Attribute ${name}.`,
        });
      }
    }
    for (const name of ['DeduplicationScope', 'FifoThroughputLimit']) {
      assert.deepEqual(problem({ [name]: 'queue' }), {
        kind: 'unknown-name',
        name,
        message: `You can specify the ${name} only when FifoQueue is set to true.`,
      });
    }
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const parsed = parseAttributes(new Map([[name, '1']]), 'set');
      assert.equal(parsed.kind === 'problem' && parsed.problem.kind, 'unknown-name');
    }
  });

  it('maxReceiveCount is taken as "5" or 5 and returned as a number', () => {
    for (const maxReceiveCount of ['5', 5]) {
      const sent = JSON.stringify({ maxReceiveCount, deadLetterTargetArn: DLQ });
      const attributes = accepted({ RedrivePolicy: sent });
      assert.equal(
        shownAttributes(attributes).get('RedrivePolicy'),
        `{"deadLetterTargetArn":"${DLQ}","maxReceiveCount":5}`,
      );
      assert.deepEqual(resolveAttributes(attributes).redrivePolicy, {
        deadLetterTargetArn: DLQ,
        maxReceiveCount: 5,
      });
    }
  });

  it('a RedrivePolicy that is no JSON map is a bad value', () => {
    for (const text of [' ', '4', '[]', 'null', '"x"', '{', 'x'.repeat(10_000)]) {
      assert.deepEqual(problem({ RedrivePolicy: text }), {
        kind: 'bad-value',
        name: 'RedrivePolicy',
        message:
          'Invalid value for the parameter RedrivePolicy. Reason: Redrive policy is not a valid JSON map.',
      });
    }
  });

  it('a RedrivePolicy refused for what it says names the reason', () => {
    const cases: readonly (readonly [object, string])[] = [
      [{}, 'Redrive policy does not contain mandatory attribute: maxReceiveCount.'],
      [{ maxReceiveCount: 5 }, 'Redrive policy does not contain mandatory attribute: deadLetterTargetArn.'],
      ...[-36, 0, 1_001, 1.5, true, null, 'x', ''].map(
        (maxReceiveCount) =>
          [
            { deadLetterTargetArn: DLQ, maxReceiveCount },
            `Invalid value for maxReceiveCount: ${maxReceiveCount}, valid values are from 1 to 1000 both inclusive.`,
          ] as const,
      ),
      [{ deadLetterTargetArn: 'dummy', maxReceiveCount: 42 }, 'Invalid value for deadLetterTargetArn.'],
      [{ deadLetterTargetArn: 7, maxReceiveCount: 42 }, 'Invalid value for deadLetterTargetArn.'],
      [
        { deadLetterTargetArn: `${DLQ}.fifo`, maxReceiveCount: 5 },
        'Dead-letter queue must be same type of queue as the source.',
      ],
      [
        { deadLetterTargetArn: DLQ, maxReceiveCount: 5, more: 1 },
        'Only following attributes are supported: [deadLetterTargetArn, maxReceiveCount].',
      ],
    ];
    for (const [policy, reason] of cases) {
      const text = JSON.stringify(policy);
      assert.deepEqual(problem({ RedrivePolicy: text }), {
        kind: 'bad-policy',
        name: 'RedrivePolicy',
        message: `Value ${text} for parameter RedrivePolicy is invalid. Reason: ${reason}`,
      });
    }
    assert.equal(
      deadLetterTargetMissing('{}').message,
      'Value {} for parameter RedrivePolicy is invalid. Reason: Dead letter target does not exist.',
    );
  });

  it('a RedriveAllowPolicy takes allowAll, denyAll and byQueue with one to ten sources', () => {
    const keep = (policy: object) =>
      accepted({ RedriveAllowPolicy: JSON.stringify(policy) }).get('RedriveAllowPolicy');
    assert.equal(keep({ redrivePermission: 'allowAll' }), '{"redrivePermission":"allowAll"}');
    const byQueue = { redrivePermission: 'byQueue', sourceQueueArns: [DLQ] };
    assert.equal(keep(byQueue), JSON.stringify(byQueue));
    const bad: readonly (readonly [object, AttributeProblem['kind']])[] = [
      [{}, 'bad-value'],
      [{ redrivePermission: 'x' }, 'bad-value'],
      [{ redrivePermission: 'denyAll', x: 1 }, 'bad-value'],
      [{ redrivePermission: 'byQueue', sourceQueueArns: 'x' }, 'bad-value'],
      [{ redrivePermission: 'byQueue', sourceQueueArns: [1] }, 'bad-value'],
      [{ redrivePermission: 'denyAll', sourceQueueArns: [DLQ] }, 'bad-policy'],
      [{ redrivePermission: 'byQueue' }, 'bad-policy'],
      [{ redrivePermission: 'byQueue', sourceQueueArns: Array(11).fill(DLQ) }, 'bad-policy'],
    ];
    for (const [policy, kind] of bad) {
      assert.equal(
        problem({ RedriveAllowPolicy: JSON.stringify(policy) }).kind,
        kind,
        JSON.stringify(policy),
      );
    }
  });

  it('a Policy is kept to the letter and must be a JSON map of bounded size', () => {
    const policy = '{ "Version": "2012-10-17", "Statement": [] }';
    assert.equal(accepted({ Policy: policy }).get('Policy'), policy);
    for (const text of ['x', '[]', '1', `{"a":"${'x'.repeat(70_000)}"}`]) {
      assert.equal(problem({ Policy: text }).message, 'Invalid value for the parameter Policy.');
    }
  });

  it('"" removes RedrivePolicy, Policy, RedriveAllowPolicy when set, and counts as not given in a create', () => {
    const full = accepted({
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: DLQ, maxReceiveCount: 5 }),
      Policy: '{}',
      RedriveAllowPolicy: '{"redrivePermission":"denyAll"}',
      DelaySeconds: '3',
    });
    const empty = { RedrivePolicy: '', Policy: '', RedriveAllowPolicy: '' };
    assert.deepEqual([...mergeAttributes(full, accepted(empty, 'set'))], [['DelaySeconds', '3']]);
    assert.equal(accepted(empty, 'create').size, 0);
  });

  it('a KMS key turns managed encryption off, and the other way round; the reuse period shows only with a key', () => {
    const withKey = mergeAttributes(
      new Map(),
      accepted({ KmsMasterKeyId: 'testKeyId', KmsDataKeyReusePeriodSeconds: '6000' }),
    );
    const shown = shownAttributes(withKey);
    assert.equal(shown.get('SqsManagedSseEnabled'), 'false');
    assert.equal(shown.get('KmsDataKeyReusePeriodSeconds'), '6000');
    const managed = shownAttributes(
      mergeAttributes(withKey, accepted({ SqsManagedSseEnabled: 'true' }, 'set')),
    );
    assert.equal(managed.get('SqsManagedSseEnabled'), 'true');
    assert.equal(managed.has('KmsMasterKeyId'), false);
    const alone = mergeAttributes(new Map(), accepted({ KmsDataKeyReusePeriodSeconds: '300' }));
    assert.equal(shownAttributes(alone).has('KmsDataKeyReusePeriodSeconds'), false);
    assert.deepEqual(problem({ KmsMasterKeyId: 'k', SqsManagedSseEnabled: 'true' }, 'set'), {
      kind: 'unknown-name',
      name: 'SqsManagedSseEnabled',
      message:
        'You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE.',
    });
  });

  it('a create compares only the attributes it was given, with the values in force', () => {
    const current = accepted({ DelaySeconds: '5' });
    assert.equal(differingAttribute(current, new Map()), undefined);
    assert.equal(
      differingAttribute(current, accepted({ DelaySeconds: '05', VisibilityTimeout: '30' })),
      undefined,
    );
    assert.equal(differingAttribute(current, accepted({ DelaySeconds: '0' })), 'DelaySeconds');
    assert.equal(differingAttribute(current, accepted({ Policy: '{}' })), 'Policy');
    assert.equal(differingAttribute(current, accepted({ SqsManagedSseEnabled: 'true' })), undefined);
  });

  it('never throws, whatever the text, and what it accepts differs from nothing once merged', () => {
    const names = fc.constantFrom(
      ...ranges.map(([name]) => name),
      'RedrivePolicy',
      'RedriveAllowPolicy',
      'Policy',
      'X',
    );
    const values = fc.oneof(fc.string(), fc.json(), fc.integer({ min: -5, max: 2_000_000 }).map(String));
    fc.assert(
      fc.property(fc.array(fc.tuple(names, values)), (pairs) => {
        const parsed = parseAttributes(new Map(pairs), 'create');
        if (parsed.kind === 'problem') return;
        assert.equal(
          differingAttribute(mergeAttributes(new Map(), parsed.attributes), parsed.attributes),
          undefined,
        );
      }),
    );
  });
});

describe('queue ARNs', () => {
  it('name account, region and queue', () => {
    assert.deepEqual(queueNameOfArn(DLQ), { accountId: '000000000000', region: 'us-east-1', name: 'dead' });
    assert.equal(queueNameOfArn('arn:aws-cn:sqs:cn-north-1:123456789012:q.fifo')?.name, 'q.fifo');
  });
  it('of anything else name nothing', () => {
    const others = [
      '',
      'dummy',
      'arn:aws:sns:us-east-1:000000000000:dead',
      `${DLQ}:x`,
      `${DLQ}${'a'.repeat(80)}`,
      `${DLQ}.x`,
    ];
    for (const text of others) assert.equal(queueNameOfArn(text), undefined, text);
  });
});
