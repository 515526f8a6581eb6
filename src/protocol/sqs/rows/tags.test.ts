/**
 * SQS.md sections 1 and 2 on tags, and AWS's recorded answers (localstack test_tag_untag_queue, moto test_tag_queue_errors),
 * over both protocols, on the engine.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { reproduction as row, type Sqs } from '../../../../test/reports/reproduction.ts';
import { accountId } from '../../../../test/support/world.ts';

const QUEUE = `http://localhost:8080/${accountId}/q`;
const AT_QUEUE = { path: `/${accountId}/q` };

async function tagsOf(sqs: Sqs, QueueUrl = 'q'): Promise<unknown> {
  return (await sqs.done('ListQueueTags', { QueueUrl })).Tags;
}

async function result(sqs: Sqs, fields: Readonly<Record<string, string>>, options = {}): Promise<string> {
  const reply = await sqs.query(fields, options);
  assert.equal(reply.status, 200, reply.xml);
  return (
    /<ListQueueTagsResult>(.*)<\/ListQueueTagsResult>|<ListQueueTagsResult\/>/.exec(reply.xml)?.[1] ?? ''
  );
}

describe('row: tags', () => {
  row('are added, overwritten and removed; an empty value is a value; none is no Tags key', async (sqs) => {
    const QueueUrl = await sqs.create('q');
    assert.deepEqual(await sqs.done('ListQueueTags', { QueueUrl }), {});
    assert.deepEqual(
      await sqs.done('TagQueue', { QueueUrl, Tags: { tag1: 'value1', tag2: 'value2', tag3: '' } }),
      {},
    );
    assert.deepEqual(await tagsOf(sqs), { tag1: 'value1', tag2: 'value2', tag3: '' });
    await sqs.done('TagQueue', { QueueUrl, Tags: { tag1: 'VALUE1', Tag1: 'another key' } });
    assert.deepEqual(await sqs.done('UntagQueue', { QueueUrl, TagKeys: ['tag2', 'tag3', 'never'] }), {});
    assert.deepEqual(await tagsOf(sqs), { tag1: 'VALUE1', Tag1: 'another key' });
    await sqs.done('UntagQueue', { QueueUrl, TagKeys: ['tag1', 'Tag1'] });
    assert.deepEqual(await sqs.done('ListQueueTags', { QueueUrl }), {});
  });

  row(
    'come with CreateQueue, which refuses other ones than the queue has, and leaves those it has alone',
    async (sqs) => {
      const tags = { team: 'blue', ['__proto__']: 'a key like any other' };
      const first = await sqs.done('CreateQueue', { QueueName: 'q', tags });
      assert.deepEqual(await tagsOf(sqs), tags);
      // Bogdanp/dramatiq_sqs#13, awslabs/amazon-sqs-java-temporary-queues-client#70: AWS takes no other tags, also none for some.
      for (const other of [{ team: 'red' }, { team: 'blue', more: '' }]) {
        assert.deepEqual(await sqs.refused('CreateQueue', { QueueName: 'q', tags: other }), [
          'QueueAlreadyExists',
          'A queue already exists with the same name and different tags.',
        ]);
      }
      for (const equal of [undefined, {}, { team: 'blue' }, tags])
        assert.deepEqual(await sqs.done('CreateQueue', { QueueName: 'q', tags: equal }), first);
      assert.deepEqual(await tagsOf(sqs), tags);
    },
  );

  row('work at the path of the queue as well, in JSON and in forms', async (sqs) => {
    await sqs.create('q');
    await sqs.done('TagQueue', { Tags: { a: '1', b: '2' } }, AT_QUEUE);
    await sqs.done('UntagQueue', { TagKeys: ['b'] }, AT_QUEUE);
    assert.deepEqual(await sqs.done('ListQueueTags', {}, AT_QUEUE), { Tags: { a: '1' } });
    assert.equal(
      await result(sqs, { Action: 'ListQueueTags' }, AT_QUEUE),
      '<Tag><Key>a</Key><Value>1</Value></Tag>',
    );
  });

  row('are not attributes: LastModifiedTimestamp stays', async (sqs) => {
    await sqs.create('q');
    const before = await sqs.attributes('q', 'All');
    await sqs.advance(30);
    await sqs.done('TagQueue', { QueueUrl: 'q', Tags: { a: '1' } });
    assert.deepEqual(await sqs.attributes('q', 'All'), before);
  });
});

describe('row: tags that are refused', () => {
  const cases: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [{ '': 'v' }, 'Tag keys must be between 1 and 128 characters in length.'],
    [{ ['k'.repeat(129)]: 'v' }, 'Tag keys must be between 1 and 128 characters in length.'],
    [
      { 'a*': 'v' },
      'Tag keys may only contain unicode letters, digits, whitespace, or one of these symbols: _ . : / = + - @',
    ],
    [{ 'aws:k': 'v' }, 'Tag keys must not begin with aws:, which is reserved for system tags.'],
    [{ k: 'v'.repeat(257) }, 'Tag values must be between 0 and 256 characters in length.'],
    [
      { k: '🎉' },
      'Tag values may only contain unicode letters, digits, whitespace, or one of these symbols: _ . : / = + - @',
    ],
  ];

  row(
    'by their form: InvalidParameterValue, in TagQueue and in CreateQueue, and nothing of the request is kept',
    async (sqs) => {
      await sqs.create('q');
      for (const [bad, message] of cases) {
        const expected = ['InvalidParameterValue', message];
        assert.deepEqual(
          await sqs.refused('TagQueue', { QueueUrl: 'q', Tags: { good: '1', ...bad } }),
          expected,
        );
        assert.deepEqual(await sqs.refused('CreateQueue', { QueueName: 'new', tags: bad }), expected);
      }
      assert.equal(await tagsOf(sqs), undefined);
      assert.deepEqual(await sqs.done('ListQueues', { QueueNamePrefix: 'new' }), {});
    },
  );

  row('beyond 50 of a queue, and what is there stays as it was', async (sqs) => {
    await sqs.create('q');
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, '']));
    const expected = ['InvalidParameterValue', 'Too many tags added for queue q.'];
    assert.deepEqual(await sqs.refused('TagQueue', { QueueUrl: 'q', Tags: many(51) }), expected);
    assert.deepEqual(await sqs.refused('CreateQueue', { QueueName: 'new', tags: many(51) }), [
      'InvalidParameterValue',
      'Too many tags added for queue new.',
    ]);
    await sqs.done('TagQueue', { QueueUrl: 'q', Tags: many(50) });
    assert.deepEqual(
      await sqs.refused('TagQueue', { QueueUrl: 'q', Tags: { k0: 'new', k50: '' } }),
      expected,
    );
    assert.deepEqual(await tagsOf(sqs), many(50));
  });

  row('when there are none: MissingParameter, and for keys what AWS says', async (sqs) => {
    await sqs.create('q');
    for (const Tags of [undefined, {}])
      assert.deepEqual(await sqs.refused('TagQueue', { QueueUrl: 'q', Tags }), [
        'MissingParameter',
        'The request must contain the parameter Tags.',
      ]);
    for (const TagKeys of [undefined, [], [''], ['k', 'k'.repeat(129)]])
      assert.deepEqual(await sqs.refused('UntagQueue', { QueueUrl: 'q', TagKeys }), [
        'InvalidParameterValue',
        'Tag keys must be between 1 and 128 characters in length.',
      ]);
    for (const action of ['TagQueue', 'UntagQueue', 'ListQueueTags'])
      assert.deepEqual(await sqs.refused(action, { Tags: { a: '' }, TagKeys: ['a'] }), [
        'MissingParameter',
        'The request must contain the parameter QueueUrl.',
      ]);
  });

  row('of a queue that does not exist', async (sqs) => {
    for (const [action, more] of [
      ['TagQueue', { Tags: { t: 'v' } }],
      ['UntagQueue', { TagKeys: ['t'] }],
      ['ListQueueTags', {}],
    ] as const)
      assert.deepEqual(await sqs.refused(action, { QueueUrl: QUEUE, ...more }), [
        'AWS.SimpleQueueService.NonExistentQueue',
        'The specified queue does not exist.',
      ]);
  });
});

describe('row: tags over the query protocol', () => {
  row('Tag.N.Key and Tag.N.Value in, Tag elements out', async (sqs) => {
    const create = { Action: 'CreateQueue', QueueName: 'q', 'Tag.1.Key': 'team', 'Tag.1.Value': 'blue' };
    assert.equal((await sqs.query(create)).status, 200);
    const tag = {
      Action: 'TagQueue',
      QueueUrl: QUEUE,
      'Tag.1.Key': 'a b',
      'Tag.1.Value': '',
      'Tag.2.Key': 'c',
    };
    const missing = await sqs.query(tag);
    assert.match(
      missing.xml,
      /<Code>MissingParameter<\/Code><Message>The request must contain the parameter Tag.Value/,
    );
    const done = await sqs.query({ ...tag, 'Tag.2.Value': '+' });
    assert.match(done.xml, /<TagQueueResponse [^>]*><ResponseMetadata>/);
    assert.equal(
      await result(sqs, { Action: 'ListQueueTags', QueueUrl: QUEUE }),
      '<Tag><Key>a b</Key><Value/></Tag><Tag><Key>c</Key><Value>+</Value></Tag><Tag><Key>team</Key><Value>blue</Value></Tag>',
    );
    const untag = { Action: 'UntagQueue', QueueUrl: QUEUE, 'TagKey.1': 'c', 'TagKey.2': 'a b' };
    assert.match((await sqs.query(untag)).xml, /<UntagQueueResponse [^>]*><ResponseMetadata>/);
    assert.match(
      (await sqs.query({ Action: 'UntagQueue', QueueUrl: QUEUE, TagKey: 'team' })).xml,
      /<UntagQueueResponse/,
    );
    assert.equal(await result(sqs, { Action: 'ListQueueTags', QueueUrl: QUEUE }), '');
    assert.match(
      (await sqs.query({ Action: 'UntagQueue', QueueUrl: QUEUE, TagKeys: '' })).xml,
      /<Code>InvalidParameterValue<\/Code><Message>Tag keys must be between 1 and 128 characters/,
    );
  });

  row('and the older spellings: Tags.N.Key, Tag.Key without a number, Tags.entry.N.key', async (sqs) => {
    await sqs.create('q');
    const spellings = [
      { 'Tags.1.Key': 'a', 'Tags.1.Value': '1', 'Tags.2.Key': 'b', 'Tags.2.Value': '2' },
      { 'Tag.Key': 'c', 'Tag.Value': '3' },
      {
        'Tags.entry.1.key': 'd',
        'Tags.entry.1.value': '4',
        'Tags.entry.2.Key': 'e',
        'Tags.entry.2.Value': '5',
      },
    ];
    for (const fields of spellings) {
      const reply = await sqs.query({ Action: 'TagQueue', ...fields }, AT_QUEUE);
      assert.equal(reply.status, 200, reply.xml);
    }
    assert.deepEqual(await tagsOf(sqs), { a: '1', b: '2', c: '3', d: '4', e: '5' });
  });
});
