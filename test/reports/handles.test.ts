/**
 * Public bug reports about receipt handles and long polls. Each reproduces what was reported and holds the right value.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { type BatchReply, bodies, type Received, reproduction, type Sqs } from './reproduction.ts';

const failures = (reply: BatchReply) =>
  reply.Failed?.map(({ Id, Code, SenderFault }) => [Id, Code, SenderFault]);
const successes = (reply: BatchReply) => reply.Successful?.map(({ Id }) => Id);

async function twoReceived(sqs: Sqs, q: string): Promise<readonly [Received, Received]> {
  for (const body of ['a', 'b']) await sqs.send(q, body);
  const [a, b] = await sqs.receive(q, { MaxNumberOfMessages: 10 });
  assert.ok(a !== undefined && b !== undefined);
  return [a, b];
}

describe('reports: receipt handles', () => {
  // elasticmq softwaremill/elasticmq#324, ministack ministackorg/ministack#405: silently done.
  reproduction('a handle that is none is refused by its text', async (sqs) => {
    const q = await sqs.create('q');
    for (const [action, more] of [
      ['DeleteMessage', {}] as const,
      ['ChangeMessageVisibility', { VisibilityTimeout: 0 }] as const,
    ]) {
      assert.deepEqual(await sqs.refused(action, { QueueUrl: q, ReceiptHandle: 'fake', ...more }), [
        'ReceiptHandleIsInvalid',
        'The input receipt handle "fake" is not a valid receipt handle.',
      ]);
    }
  });

  // moto getmoto/moto#4765: one bad handle failed the whole batch of deletes; elasticmq softwaremill/elasticmq#632: of
  // visibility changes.
  reproduction('in a batch a bad handle fails alone', async (sqs) => {
    const q = await sqs.create('q');
    const [a, b] = await twoReceived(sqs, q);
    const Entries = [
      { Id: 'a', ReceiptHandle: a.ReceiptHandle, VisibilityTimeout: 60 },
      { Id: 'invalid', ReceiptHandle: 'invalid', VisibilityTimeout: 60 },
      { Id: 'b', ReceiptHandle: b.ReceiptHandle, VisibilityTimeout: 60 },
    ];
    for (const action of ['ChangeMessageVisibilityBatch', 'DeleteMessageBatch']) {
      const reply: BatchReply = await sqs.done(action, { QueueUrl: q, Entries });
      assert.deepEqual(successes(reply), ['a', 'b'], action);
      assert.deepEqual(failures(reply), [['invalid', 'ReceiptHandleIsInvalid', true]], action);
    }
    await sqs.advance(120);
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
  });

  // elasticmq softwaremill/elasticmq#2: the handle was the message's id, so an earlier holder could delete a message
  // from under the present one.
  reproduction('the handle of an earlier delivery deletes nothing, without an error', async (sqs) => {
    const q = await sqs.create('q', { VisibilityTimeout: '5' });
    await sqs.send(q, 'x');
    const consumerA = await sqs.receiveOne(q);
    await sqs.advance(6);
    const consumerB = await sqs.receiveOne(q);
    assert.notEqual(consumerA.ReceiptHandle, consumerB.ReceiptHandle);
    await sqs.delete(q, consumerA);
    assert.deepEqual(await sqs.counts(q), ['0', '1', '0']);
    await sqs.delete(q, consumerB);
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
  });

  // localstack localstack/localstack#4470: an error, since the message was visible again.
  reproduction('an expired handle still deletes while nobody has received the message again', async (sqs) => {
    const q = await sqs.create('q', { VisibilityTimeout: '300' });
    await sqs.send(q, 'hello world!');
    const message = await sqs.receiveOne(q);
    assert.equal((await sqs.changeVisibility(q, message, 0)).status, 200);
    await sqs.delete(q, message);
    await sqs.delete(q, message);
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
  });

  // localstack localstack/localstack#9598: MessageNotInflight, which AWS never answers.
  reproduction('changing the visibility of an expired delivery is no error', async (sqs) => {
    const q = await sqs.create('q', { VisibilityTimeout: '1' });
    await sqs.send(q, 'hello');
    const message = await sqs.receiveOne(q);
    await sqs.advance(2);
    assert.equal((await sqs.changeVisibility(q, message, 0)).status, 200);
    assert.equal((await sqs.receiveOne(q)).MessageId, message.MessageId);
  });

  // localstack localstack/localstack#5293: ReceiptHandleIsInvalid, and a .NET client that hung.
  reproduction('changing the visibility of a deleted message says that it is not available', async (sqs) => {
    const q = await sqs.create('q');
    await sqs.send(q, 'ABCD');
    const message = await sqs.receiveOne(q);
    await sqs.delete(q, message);
    const { ReceiptHandle } = message;
    assert.deepEqual(
      await sqs.refused('ChangeMessageVisibility', { QueueUrl: q, ReceiptHandle, VisibilityTimeout: 10 }),
      [
        'InvalidParameterValue',
        `Value ${ReceiptHandle} for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.`,
      ],
    );
  });
});

/** Virtual seconds until the poll had its answer, and what it was. */
async function timed(sqs: Sqs, poll: Promise<readonly Received[]>) {
  const before = sqs.nowMillis;
  const messages = await sqs.world.run(poll);
  return { seconds: (sqs.nowMillis - before) / 1000, bodies: bodies(messages) };
}

describe('reports: long polls', () => {
  // elasticmq softwaremill/elasticmq#65 and #80: delivered at the end of the poll, or by the next one.
  reproduction('a long poll answers when a delay ends', async (sqs) => {
    const q = await sqs.create('some_test');
    await sqs.send(q, 'x', { DelaySeconds: 5 });
    const found = await timed(sqs, sqs.receiving(q, { WaitTimeSeconds: 12 }));
    assert.deepEqual(found.bodies, ['x']);
    assert.ok(found.seconds >= 4.9 && found.seconds < 5.1, `after ${found.seconds} s`);
  });

  // moto getmoto/moto#5733: only new messages ended a poll, expired visibility timeouts did not.
  reproduction('a long poll answers when a visibility timeout ends', async (sqs) => {
    const q = await sqs.create('q', { VisibilityTimeout: '3' });
    await sqs.send(q, 'x');
    await sqs.receiveOne(q);
    const found = await timed(sqs, sqs.receiving(q, { WaitTimeSeconds: 20 }));
    assert.deepEqual(found.bodies, ['x']);
    assert.ok(found.seconds >= 2.9 && found.seconds < 3.1, `after ${found.seconds} s`);
  });

  // elasticmq softwaremill/elasticmq#81: the poll went on until its own end.
  reproduction('a long poll answers when a message is given back', async (sqs) => {
    const q = await sqs.create('sindre-test', { VisibilityTimeout: '300' });
    await sqs.send(q, 'x');
    const message = await sqs.receiveOne(q);
    const poll = sqs.receiving(q, { WaitTimeSeconds: 10 });
    await sqs.advance(3);
    await sqs.changeVisibility(q, message, 0);
    const found = await timed(sqs, poll);
    assert.deepEqual(found.bodies, ['x']);
    assert.ok(found.seconds < 1, `after ${found.seconds} s more`);
  });

  // localstack localstack/localstack#5824: polls sat out their time beside messages that were there.
  reproduction('of several long polls each gets a message as messages come', async (sqs) => {
    const q = await sqs.create('q');
    const polls = [1, 2, 3].map(() => sqs.receiving(q, { WaitTimeSeconds: 20 }));
    await sqs.advance(2);
    for (const body of ['a', 'b', 'c']) await sqs.send(q, body);
    const before = sqs.nowMillis;
    const messages = (await sqs.world.run(Promise.all(polls))).flat();
    assert.deepEqual(bodies(messages), ['a', 'b', 'c']);
    assert.ok(sqs.nowMillis - before < 2000);
  });

  // moto getmoto/moto#891: the poll went on until the message in flight came back.
  reproduction('a long poll ends empty at its time', async (sqs) => {
    const q = await sqs.create('q', { VisibilityTimeout: '30' });
    await sqs.send(q, 'x');
    await sqs.receiveOne(q);
    const found = await timed(sqs, sqs.receiving(q, { WaitTimeSeconds: 1 }));
    assert.deepEqual(found.bodies, []);
    assert.ok(found.seconds >= 0.99 && found.seconds < 2, `after ${found.seconds} s`);
  });

  // floci floci-io/floci#2826: stored and not applied.
  reproduction(
    'the queue’s wait applies when the request has none; an explicit 0 is a short poll',
    async (sqs) => {
      const q = await sqs.create('q', { ReceiveMessageWaitTimeSeconds: '5' });
      const waited = await timed(sqs, sqs.receiving(q));
      assert.ok(waited.seconds >= 4.99 && waited.seconds < 6, `after ${waited.seconds} s`);
      const short = await timed(sqs, sqs.receiving(q, { WaitTimeSeconds: 0 }));
      assert.ok(short.seconds < 1, `after ${short.seconds} s`);
    },
  );

  // floci floci-io/floci#1282: a poll on a deleted queue took the first message of the new one of that name.
  reproduction('a long poll ends with its queue and takes nothing of a new one of that name', async (sqs) => {
    const q = await sqs.create('q');
    const parked = sqs.calling('ReceiveMessage', { QueueUrl: q, WaitTimeSeconds: 8 });
    await sqs.advance(1);
    await sqs.done('DeleteQueue', { QueueUrl: q });
    await sqs.create('q');
    await sqs.send(q, 'fresh');
    const message = await sqs.receiveOne(q, { AttributeNames: ['ApproximateReceiveCount'] });
    assert.deepEqual([message.Body, message.Attributes], ['fresh', { ApproximateReceiveCount: '1' }]);
    const stale = await sqs.world.run(parked);
    assert.equal('Messages' in stale.body, false);
  });

  // aws-sdk-js aws/aws-sdk-js#2350, aws-sdk-net aws/aws-sdk-net#1680: a stopped consumer's poll took the next message
  // into flight, on AWS and on localstack.
  reproduction('a long poll whose client has gone takes no message', async (sqs) => {
    const q = await sqs.create('q');
    const gone = new AbortController();
    const abandoned = sqs.receiving(q, { WaitTimeSeconds: 20 }, { signal: gone.signal });
    await sqs.advance(1);
    gone.abort();
    await sqs.send(q, 'foo');
    assert.deepEqual(await sqs.counts(q), ['1', '0', '0']);
    assert.deepEqual(await sqs.world.run(abandoned), []);
    const message = await sqs.receiveOne(q, { AttributeNames: ['ApproximateReceiveCount'] });
    assert.deepEqual(message.Attributes, { ApproximateReceiveCount: '1' });
  });
});
