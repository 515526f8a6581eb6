/**
 * Public bug reports about policies, attributes of queues and what messages carry beside their body. Each reproduces what
 * was reported and holds the right value.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { accountId, region } from '../support/world.ts';
import { type BatchReply, fifo, reproduction, text } from './reproduction.ts';

const arn = (name: string) => `arn:aws:sqs:${region}:${accountId}:${name}`;
const other = '668614515564';

describe('reports: permissions', () => {
  // localstack localstack/localstack#8554: permissions were kept apart, and the Policy did not show them.
  reproduction('AddPermission is seen in the Policy, beside what stands there', async (sqs) => {
    const own = { Sid: 'own', Effect: 'Deny', Principal: '*', Action: 'SQS:*', Resource: arn('q') };
    const Policy = JSON.stringify({ Version: '2012-10-17', Id: 'mine', Statement: [own] });
    const QueueUrl = await sqs.create('q', { Policy });
    const grant = { QueueUrl, Label: 'cross', AWSAccountIds: [other], Actions: ['ReceiveMessage'] };
    assert.deepEqual(await sqs.done('AddPermission', grant), {});
    const shown = JSON.parse((await sqs.attributes(QueueUrl, 'Policy')).Policy ?? '');
    assert.deepEqual([shown.Version, shown.Id], ['2012-10-17', 'mine']);
    assert.deepEqual(shown.Statement, [
      own,
      {
        Sid: 'cross',
        Effect: 'Allow',
        Principal: { AWS: `arn:aws:iam::${other}:root` },
        Action: 'SQS:ReceiveMessage',
        Resource: arn('q'),
      },
    ]);
    assert.deepEqual(await sqs.done('RemovePermission', { QueueUrl, Label: 'cross' }), {});
    assert.deepEqual(JSON.parse((await sqs.attributes(QueueUrl, 'Policy')).Policy ?? ''), JSON.parse(Policy));
  });

  // cloud-custodian cloud-custodian/cloud-custodian#1816: a policy without statements is none that AWS takes, so the last
  // statement goes by RemovePermission, which takes the Policy with it.
  reproduction('removing the last permission removes the Policy', async (sqs) => {
    const QueueUrl = await sqs.create('q');
    const grant = { QueueUrl, Label: 'only', AWSAccountIds: [other], Actions: ['*'] };
    await sqs.done('AddPermission', grant);
    await sqs.done('RemovePermission', { QueueUrl, Label: 'only' });
    assert.equal('Policy' in (await sqs.attributes(QueueUrl, 'All')), false);
    assert.deepEqual(await sqs.done('GetQueueAttributes', { QueueUrl, AttributeNames: ['Policy'] }), {});
  });

  // floci floci-io/floci#779: an unsupported operation, whether the queue was there or not.
  reproduction('permissions of a queue that is not there: the queue does not exist', async (sqs) => {
    const grant = { QueueUrl: 'none', Label: 'x', AWSAccountIds: [other], Actions: ['SendMessage'] };
    for (const action of ['AddPermission', 'RemovePermission']) {
      assert.deepEqual(await sqs.refused(action, grant), [
        'AWS.SimpleQueueService.NonExistentQueue',
        'The specified queue does not exist.',
      ]);
    }
  });
});

describe('reports: attributes of queues', () => {
  // aws-sdk-net aws/aws-sdk-net#3282: "All" in JSON answered no attributes.
  reproduction('All in JSON answers all of them, alone and beside others', async (sqs) => {
    const q = await sqs.create('q');
    const all = await sqs.attributes(q, 'All');
    assert.equal(all.QueueArn, arn('q'));
    assert.equal(Object.keys(all).length, 12);
    assert.deepEqual(await sqs.attributes(q, 'QueueArn', 'All', 'DelaySeconds'), all);
  });

  // terraform hashicorp/terraform-provider-aws#47998, pulumi pulumi/pulumi-aws#5677, what AWS says: a set of nothing.
  reproduction('SetQueueAttributes without any asks for Attribute.Name', async (sqs) => {
    const QueueUrl = await sqs.create('q');
    for (const more of [{}, { Attributes: {} }]) {
      assert.deepEqual(await sqs.refused('SetQueueAttributes', { QueueUrl, ...more }), [
        'MissingParameter',
        'The request must contain the parameter Attribute.Name.',
      ]);
    }
    const reply = await sqs.query({ Action: 'SetQueueAttributes', QueueUrl });
    assert.match(reply.xml, /<Message>The request must contain the parameter Attribute\.Name\.<\/Message>/);
  });

  // dramatiq_sqs Bogdanp/dramatiq_sqs#13, what AWS does: other tags than the queue has, also some for none, are refused.
  reproduction('a queue is not tagged by creating it again', async (sqs) => {
    const QueueUrl = await sqs.create('q');
    const body = { QueueName: 'q', tags: { team: 'blue' } };
    assert.equal((await sqs.refused('CreateQueue', body))[0], 'QueueAlreadyExists');
    await sqs.done('TagQueue', { QueueUrl, Tags: body.tags });
    assert.deepEqual(await sqs.done('CreateQueue', body), { QueueUrl });
  });
});

describe('reports: attributes of messages', () => {
  // elasticmq softwaremill/elasticmq#373: accepted.
  reproduction('an empty value is refused in AWS’s words', async (sqs) => {
    const QueueUrl = await sqs.create('q');
    const message = { QueueUrl, MessageBody: 'bar', MessageAttributes: { piyo: text('') } };
    assert.deepEqual(await sqs.refused('SendMessage', message), [
      'InvalidParameterValue',
      "Message (user) attribute 'piyo' must contain a non-empty value of type 'String'.",
    ]);
  });

  // floci floci-io/floci#768: the digest was another one on FIFO queues.
  reproduction('the digest on a FIFO queue is the one of a standard queue', async (sqs) => {
    const MessageAttributes = { k: text('v') };
    const digests: unknown[] = [];
    for (const q of [await sqs.create('q'), await fifo(sqs)]) {
      const group = q.endsWith('.fifo') ? { MessageGroupId: 'g1' } : {};
      const message = { QueueUrl: q, MessageBody: 'hi', MessageAttributes, ...group };
      const sent = await sqs.done('SendMessage', message);
      const received = await sqs.receiveOne(q, { MessageAttributeNames: ['All'] });
      digests.push(sent.MD5OfMessageAttributes, received.MD5OfMessageAttributes);
    }
    assert.deepEqual(digests, Array(4).fill('0a77b0642718c3d9dd47090567d11e0d'));
  });

  // floci floci-io/floci#495: left out in JSON, so that the Java SDK refused the answer.
  reproduction('each entry of a batch is answered with the digest of its attributes', async (sqs) => {
    const QueueUrl = await sqs.create('q');
    const Entries = [
      { Id: 'with', MessageBody: 'm', MessageAttributes: { k: text('v') } },
      { Id: 'without', MessageBody: 'm' },
    ];
    const { Successful = [] } = (await sqs.done('SendMessageBatch', { QueueUrl, Entries })) as BatchReply;
    const digests = Successful.map((entry) => 'MD5OfMessageAttributes' in entry);
    assert.deepEqual(digests, [true, false]);
  });

  // moto getmoto/moto#458: 500, since the text was taken for ASCII.
  reproduction('text of any script comes back, with the digest of its bytes', async (sqs) => {
    const q = await sqs.create('q');
    const MessageBody = 'a\u2019b \u00e9\u4e2d\u{1f389}';
    const { MD5OfMessageBody } = await sqs.done('SendMessage', { QueueUrl: q, MessageBody });
    const received = await sqs.receiveOne(q);
    assert.deepEqual([received.Body, received.MD5OfBody], [MessageBody, MD5OfMessageBody]);
  });
});
