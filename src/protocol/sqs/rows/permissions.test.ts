/**
 * AddPermission, RemovePermission and the Policy they edit: AWS's recorded answers (localstack test_sqs_permission_lifecycle)
 * and what other servers took from AWS, over both protocols, on the engine.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { reproduction as row, type Sqs } from '../../../../test/reports/reproduction.ts';
import { accountId, region } from '../../../../test/support/world.ts';

const ARN = `arn:aws:sqs:${region}:${accountId}:q`;
const grant = { QueueUrl: 'q', Label: 'one', AWSAccountIds: ['111111111111'], Actions: ['ReceiveMessage'] };

async function policyOf(sqs: Sqs) {
  const { Policy } = await sqs.attributes('q', 'Policy');
  return Policy === undefined ? undefined : JSON.parse(Policy);
}

describe('row: permissions', () => {
  row('are statements of the Policy: Sid is the label; one principal or action stands alone', async (sqs) => {
    await sqs.create('q');
    const AWSAccountIds = ['668614515564', '111111111111'];
    assert.deepEqual(await sqs.done('AddPermission', { ...grant, AWSAccountIds }), {});
    const statement = {
      Sid: 'one',
      Effect: 'Allow',
      Principal: { AWS: ['arn:aws:iam::668614515564:root', 'arn:aws:iam::111111111111:root'] },
      Action: 'SQS:ReceiveMessage',
      Resource: ARN,
    };
    const policy = { Version: '2008-10-17', Id: `${ARN}/SQSDefaultPolicy`, Statement: [statement] };
    assert.deepEqual(await policyOf(sqs), policy);
    await sqs.done('AddPermission', { ...grant, Label: 'two', Actions: ['*'] });
    await sqs.done('AddPermission', { ...grant, Label: 'three', Actions: ['SendMessage', 'PurgeQueue'] });
    const alone = { ...statement, Principal: { AWS: 'arn:aws:iam::111111111111:root' } };
    assert.deepEqual((await policyOf(sqs)).Statement, [
      statement,
      { ...alone, Sid: 'two', Action: 'SQS:*' },
      { ...alone, Sid: 'three', Action: ['SQS:SendMessage', 'SQS:PurgeQueue'] },
    ]);
    assert.deepEqual(await sqs.done('RemovePermission', { QueueUrl: 'q', Label: 'one' }), {});
    await sqs.done('RemovePermission', { QueueUrl: 'q', Label: 'two' });
    await sqs.done('RemovePermission', { QueueUrl: 'q', Label: 'three' });
    assert.deepEqual(await sqs.done('GetQueueAttributes', { QueueUrl: 'q', AttributeNames: ['Policy'] }), {});
  });

  row('have labels of their own; the same one once more is done already', async (sqs) => {
    await sqs.create('q');
    await sqs.done('AddPermission', grant);
    await sqs.done('AddPermission', grant);
    assert.deepEqual(await sqs.refused('AddPermission', { ...grant, AWSAccountIds: ['668614515564'] }), [
      'InvalidParameterValue',
      'Value one for parameter Label is invalid. Reason: Already exists.',
    ]);
    assert.equal((await policyOf(sqs)).Statement.length, 1);
  });

  row('that are not there cannot be removed', async (sqs) => {
    await sqs.create('q');
    const remove = { QueueUrl: 'q', Label: 'two' };
    const refused = (reason: string) => [
      'InvalidParameterValue',
      `Value two for parameter Label is invalid. Reason: ${reason}`,
    ];
    assert.deepEqual(await sqs.refused('RemovePermission', remove), refused("can't find label."));
    await sqs.done('AddPermission', grant);
    assert.deepEqual(
      await sqs.refused('RemovePermission', remove),
      refused("can't find label on existing policy."),
    );
    assert.deepEqual(await sqs.refused('RemovePermission', { QueueUrl: 'q' }), [
      'MissingParameter',
      'The request must contain the parameter Label.',
    ]);
  });

  row('are refused for what they say', async (sqs) => {
    await sqs.create('q');
    const value = (text: string, parameter: string, reason: string) => [
      'InvalidParameterValue',
      `Value ${text} for parameter ${parameter} is invalid. Reason: ${reason}`,
    ];
    const missing = (name: string) => ['MissingParameter', `The request must contain the parameter ${name}.`];
    const label = [
      'InvalidParameterValue',
      'Label can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length',
    ];
    const cases: readonly (readonly [object, readonly string[]])[] = [
      [{ Label: undefined }, missing('Label')],
      [{ Label: '' }, missing('Label')],
      [{ Label: 'a b' }, label],
      [{ Label: 'l'.repeat(81) }, label],
      [{ Actions: undefined }, missing('Actions')],
      [{ Actions: [] }, missing('Actions')],
      [{ AWSAccountIds: undefined }, missing('PrincipalId')],
      [{ AWSAccountIds: [] }, value('[]', 'PrincipalId', 'Unable to verify.')],
      [{ AWSAccountIds: ['1', 'x'] }, value('[1, x]', 'PrincipalId', 'Unable to verify.')],
      [
        { Actions: ['SendMessage', 'RemovePermission'] },
        value('SQS:RemovePermission', 'ActionName', 'Only the queue owner is allowed to invoke this action.'),
      ],
      [
        { Actions: ['SendMessageBatch'] },
        value(
          'SQS:SendMessageBatch',
          'ActionName',
          'Please refer to the appropriate WSDL for a list of valid actions.',
        ),
      ],
    ];
    for (const [change, expected] of cases)
      assert.deepEqual(
        await sqs.refused('AddPermission', { ...grant, ...change }),
        expected,
        JSON.stringify(change),
      );
    assert.equal(await policyOf(sqs), undefined);
    await sqs.done('AddPermission', { ...grant, AWSAccountIds: ['nobody', '111111111111'] });
    assert.equal((await policyOf(sqs)).Statement[0].Principal.AWS, 'arn:aws:iam::111111111111:root');
  });

  row('are at most 20, with at most 7 actions each: OverLimit, 403', async (sqs) => {
    await sqs.create('q');
    const over = async (body: object) => {
      const reply = await sqs.call('AddPermission', { ...grant, ...body });
      assert.deepEqual([reply.status, reply.body.__type], [403, 'com.amazonaws.sqs#OverLimit']);
      return reply.body.message;
    };
    const Actions = Array(8).fill('SendMessage');
    assert.equal(await over({ Actions }), '8 Actions were found, maximum allowed is 7.');
    for (let index = 0; index < 20; index++)
      await sqs.done('AddPermission', { ...grant, Label: `label${index}`, Actions: Actions.slice(1) });
    assert.equal(await over({ Label: 'label20' }), '21 Statements were found, maximum allowed is 20.');
    const Policy = JSON.stringify({ Note: 'x'.repeat(65_500) });
    await sqs.done('SetQueueAttributes', { QueueUrl: 'q', Attributes: { Policy } });
    assert.equal(await over({}), 'A policy has at most 65536 characters.');
  });

  row('of a queue that does not exist', async (sqs) => {
    for (const action of ['AddPermission', 'RemovePermission'])
      assert.deepEqual(await sqs.refused(action, grant), [
        'AWS.SimpleQueueService.NonExistentQueue',
        'The specified queue does not exist.',
      ]);
  });

  row('change LastModifiedTimestamp, and have no effect: the key decides', async (sqs) => {
    await sqs.create('q', {
      Policy: '{"Version":"2012-10-17","Statement":{"Effect":"Deny","Principal":"*","Action":"sqs:*"}}',
    });
    const before = Number((await sqs.attributes('q', 'All')).LastModifiedTimestamp);
    await sqs.advance(30);
    await sqs.done('AddPermission', grant);
    assert.equal(Number((await sqs.attributes('q', 'All')).LastModifiedTimestamp) - before, 30);
    await sqs.send('q', 'x');
    assert.equal((await sqs.receive('q')).length, 1);
  });

  row('over the query protocol: AWSAccountId.N and ActionName.N', async (sqs) => {
    await sqs.create('q');
    const add = {
      Action: 'AddPermission',
      Label: 'one',
      'AWSAccountId.1': '111111111111',
      'ActionName.1': 'GetQueueUrl',
    };
    const at = { path: `/${accountId}/q` };
    assert.match(
      (await sqs.query({ ...add, 'ActionName.2': '*' }, at)).xml,
      /<AddPermissionResponse [^>]*><ResponseMetadata>/,
    );
    assert.deepEqual((await policyOf(sqs)).Statement[0].Action, ['SQS:GetQueueUrl', 'SQS:*']);
    const again = await sqs.query(add, at);
    assert.match(
      again.xml,
      /<Code>InvalidParameterValue<\/Code><Message>Value one for parameter Label is invalid\. Reason: Already exists\./,
    );
    const nobody = await sqs.query({ Action: 'AddPermission', Label: 'two', 'ActionName.1': '*' }, at);
    assert.match(
      nobody.xml,
      /<Code>MissingParameter<\/Code><Message>The request must contain the parameter PrincipalId\./,
    );
    const removed = await sqs.query({ Action: 'RemovePermission', Label: 'one' }, at);
    assert.match(removed.xml, /<RemovePermissionResponse [^>]*><ResponseMetadata>/);
    assert.equal(await policyOf(sqs), undefined);
  });
});

describe('row: encryption attributes', () => {
  const names = ['KmsMasterKeyId', 'KmsDataKeyReusePeriodSeconds', 'SqsManagedSseEnabled'];
  const set = (sqs: Sqs, Attributes: object) => sqs.done('SetQueueAttributes', { QueueUrl: 'q', Attributes });

  // localstack test_sse_queue_attributes, test_set_queue_attributes_default_values, recorded on AWS.
  row(
    'are stored and returned; a key turns managed encryption off, and taking it away does not turn it on',
    async (sqs) => {
      await sqs.create('q');
      assert.deepEqual(await sqs.attributes('q', ...names), { SqsManagedSseEnabled: 'true' });
      await set(sqs, { KmsMasterKeyId: 'testKeyId', KmsDataKeyReusePeriodSeconds: '6000' });
      assert.deepEqual(await sqs.attributes('q', ...names), {
        KmsMasterKeyId: 'testKeyId',
        KmsDataKeyReusePeriodSeconds: '6000',
        SqsManagedSseEnabled: 'false',
      });
      await set(sqs, { KmsMasterKeyId: '', KmsDataKeyReusePeriodSeconds: '300' });
      assert.deepEqual(await sqs.attributes('q', ...names), { SqsManagedSseEnabled: 'false' });
      await set(sqs, { SqsManagedSseEnabled: 'True' });
      assert.deepEqual(await sqs.attributes('q', ...names), { SqsManagedSseEnabled: 'true' });
      await set(sqs, { KmsMasterKeyId: 'k' });
      await set(sqs, { SqsManagedSseEnabled: 'true' });
      assert.deepEqual(await sqs.attributes('q', ...names), { SqsManagedSseEnabled: 'true' });
    },
  );

  // localstack test_sse_kms_and_sqs_are_mutually_exclusive, recorded on AWS.
  row('are of one kind at a time, and the reuse period has a range', async (sqs) => {
    await sqs.create('q');
    const both = { KmsMasterKeyId: 'testKeyId', SqsManagedSseEnabled: 'true' };
    assert.deepEqual(await sqs.refused('SetQueueAttributes', { QueueUrl: 'q', Attributes: both }), [
      'InvalidAttributeName',
      'You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE.',
    ]);
    for (const KmsDataKeyReusePeriodSeconds of ['59', '86401', '']) {
      const bad = { QueueUrl: 'q', Attributes: { KmsMasterKeyId: 'k', KmsDataKeyReusePeriodSeconds } };
      assert.deepEqual(await sqs.refused('SetQueueAttributes', bad), [
        'InvalidAttributeValue',
        'Invalid value for the parameter KmsDataKeyReusePeriodSeconds.',
      ]);
    }
    const created = { KmsMasterKeyId: 'alias/aws/sqs' };
    await sqs.create('q2', created);
    assert.deepEqual(await sqs.attributes('q2', ...names), {
      ...created,
      KmsDataKeyReusePeriodSeconds: '300',
      SqsManagedSseEnabled: 'false',
    });
  });
});
