/**
 * Public bug reports about the order of FIFO queues: which messages of a group a receive may bring, and what locks and
 * unlocks it. Each reproduces what was reported and holds the right value.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { fifo, type Received, redrive, reproduction, type Sqs } from './reproduction.ts';

const ten = { MaxNumberOfMessages: 10 };
const inOrder = (messages: readonly Received[]) => messages.map(({ Body }) => Body);

async function sendAll(sqs: Sqs, q: string, MessageGroupId: string, ...bodies: readonly string[]) {
  for (const body of bodies) await sqs.send(q, body, { MessageGroupId });
}

describe('reports: a group in flight', () => {
  // localstack localstack/localstack#6762: messages sent later came although the earlier ones were in flight.
  // localstack localstack/localstack#8724: a send unlocked its group.
  reproduction('what is sent to it meanwhile waits', async (sqs) => {
    const q = await fifo(sqs, { VisibilityTimeout: '300' });
    await sendAll(sqs, q, 'g', '1', '2');
    const held = await sqs.receive(q, ten);
    assert.deepEqual(inOrder(held), ['1', '2']);
    await sendAll(sqs, q, 'g', '3');
    assert.deepEqual(await sqs.receive(q, ten), []);
    for (const message of held) await sqs.delete(q, message);
    assert.deepEqual(inOrder(await sqs.receive(q, ten)), ['3']);
  });

  // moto getmoto/moto#2433, kumo sivchari/kumo#650: one message of a group at a time, also by one receive.
  reproduction('one receive brings as many of it as it may, in order', async (sqs) => {
    const q = await fifo(sqs);
    await sendAll(sqs, q, 'a', 'a1', 'a2', 'a3');
    await sendAll(sqs, q, 'b', 'b1');
    assert.deepEqual(inOrder(await sqs.receive(q, ten)), ['a1', 'a2', 'a3', 'b1']);
  });

  // moto getmoto/moto#1655: a second consumer got the next message of the group, beside the first.
  reproduction('another consumer gets other groups and none of this one', async (sqs) => {
    const q = await fifo(sqs);
    await sendAll(sqs, q, 'a', 'a1', 'a2');
    await sendAll(sqs, q, 'b', 'b1');
    const first = await sqs.receiveOne(q);
    assert.equal(first.Body, 'a1');
    assert.deepEqual(inOrder(await sqs.receive(q, ten)), ['b1']);
    await sqs.delete(q, first);
    assert.deepEqual(inOrder(await sqs.receive(q, ten)), ['a2']);
  });

  // localstack localstack/localstack#6766: of several receives at once each got a part of the same group.
  reproduction('goes to one of many receives that come at once', async (sqs) => {
    const q = await fifo(sqs);
    await sendAll(sqs, q, 'g', '1', '2', '3', '4', '5', '6');
    const receives = Array.from({ length: 3 }, () => sqs.receiving(q, { MaxNumberOfMessages: 2 }));
    const got = await sqs.world.run(Promise.all(receives));
    assert.deepEqual(
      got.map(inOrder).filter((bodies) => bodies.length > 0),
      [['1', '2']],
    );
  });
});

describe('reports: a group that comes back', () => {
  // localstack localstack/localstack#4287: after their timeout the messages came in another order.
  reproduction('comes from its head, in order', async (sqs) => {
    const q = await fifo(sqs, { VisibilityTimeout: '10' });
    await sendAll(sqs, q, 'g', '1', '2', '3');
    for (let round = 0; round < 3; round++) {
      assert.deepEqual(inOrder(await sqs.receive(q, ten)), ['1', '2', '3']);
      await sqs.advance(11);
    }
    assert.equal((await sqs.receiveOne(q)).Body, '1');
  });

  // localstack localstack/localstack#12457: the first of three had its timeout extended, and the others came before
  // it. Checked on AWS there: whatever precedes the one in flight comes, nothing behind it does.
  reproduction('comes up to the first that is still in flight', async (sqs) => {
    for (const [extended, back] of [
      [0, []],
      [1, ['1']],
      [2, ['1', '2']],
    ] as const) {
      const q = await fifo(sqs, { VisibilityTimeout: '10' }, `q${extended}.fifo`);
      await sendAll(sqs, q, 'g', '1', '2', '3');
      const messages = await sqs.receive(q, ten);
      assert.equal((await sqs.changeVisibility(q, messages[extended]!, 30)).status, 200);
      await sqs.advance(12);
      assert.deepEqual(inOrder(await sqs.receive(q, ten)), back);
    }
  });

  // localstack localstack/localstack#10107: a group that had been emptied once was never handed out again.
  reproduction('is none after it was empty for a while', async (sqs) => {
    const q = await fifo(sqs);
    for (const body of ['1', '2']) {
      await sendAll(sqs, q, 'g', body);
      const message = await sqs.receiveOne(q);
      assert.equal(message.Body, body);
      await sqs.delete(q, message);
      assert.deepEqual(await sqs.receive(q), []);
    }
  });

  // localstack localstack/localstack#3319 and #3013: what was in the dead-letter queue still locked its group.
  reproduction('goes on once its head has become a dead letter', async (sqs) => {
    const dead = await fifo(sqs, {}, 'dead.fifo');
    const q = await fifo(sqs, { VisibilityTimeout: '5', ...redrive('dead.fifo', 1) });
    await sendAll(sqs, q, 'g', 'poison', 'next');
    assert.equal((await sqs.receiveOne(q)).Body, 'poison');
    await sqs.advance(6);
    // The receive that moves it brings nothing of its group, or what follows once it has arrived.
    const moved = await sqs.receive(q, { WaitTimeSeconds: 20, ...ten });
    assert.deepEqual(inOrder(moved), ['next']);
    assert.equal((await sqs.receiveOne(dead, { WaitTimeSeconds: 5 })).Body, 'poison');
    for (const message of moved) await sqs.delete(q, message);
    await sendAll(sqs, q, 'g', 'later');
    assert.equal((await sqs.receiveOne(q)).Body, 'later');
  });

  // localstack localstack/localstack#6107: a dead letter had lost its group, and could not be received at all. By AWS's
  // documentation its deduplication id there is its MessageId.
  reproduction('keeps its name in the dead-letter queue', async (sqs) => {
    const dead = await fifo(sqs, {}, 'dead.fifo');
    const q = await fifo(sqs, { VisibilityTimeout: '5', ...redrive('dead.fifo', 1) });
    const MessageId = await sqs.send(q, 'x', { MessageGroupId: 'g', MessageDeduplicationId: 'd' });
    await sqs.receiveOne(q);
    await sqs.advance(6);
    assert.deepEqual(await sqs.receive(q), []);
    const names = { MessageSystemAttributeNames: ['MessageGroupId', 'MessageDeduplicationId'] };
    const letter = await sqs.receiveOne(dead, { WaitTimeSeconds: 5, ...names });
    assert.equal(letter.MessageId, MessageId);
    assert.deepEqual(letter.Attributes, { MessageGroupId: 'g', MessageDeduplicationId: MessageId });
  });
});

describe('reports: FIFO queues and time', () => {
  // floci floci-io/floci#2104: a message sent with a delay made the earlier one of its group, long visible, vanish.
  reproduction('a delayed message holds nothing up that was sent before it', async (sqs) => {
    const q = await fifo(sqs, { DelaySeconds: '10' });
    await sendAll(sqs, q, 'g', 'A');
    await sqs.advance(11);
    await sendAll(sqs, q, 'g', 'B');
    assert.deepEqual(inOrder(await sqs.receive(q, ten)), ['A']);
  });

  // floci floci-io/floci#475: the delay of a FIFO queue was stored and never applied.
  reproduction('the delay of the queue holds for every message of it', async (sqs) => {
    const q = await fifo(sqs, { DelaySeconds: '10' });
    await sendAll(sqs, q, 'g', '1');
    assert.deepEqual(await sqs.receive(q), []);
    assert.deepEqual(await sqs.counts(q), ['0', '0', '1']);
    await sqs.advance(11);
    assert.equal((await sqs.receiveOne(q)).Body, '1');
  });

  // elasticmq softwaremill/elasticmq#151: a long poll on a FIFO queue was not woken by a send, standard ones were.
  reproduction('a send wakes a long poll at once', async (sqs) => {
    const q = await fifo(sqs);
    const polled = sqs.receiving(q, { WaitTimeSeconds: 20 });
    await sqs.advance(3);
    const began = sqs.nowMillis;
    await sendAll(sqs, q, 'g', '1');
    assert.deepEqual(inOrder(await sqs.world.run(polled)), ['1']);
    assert.ok(sqs.nowMillis - began < 1_000, `${sqs.nowMillis - began} ms`);
  });

  // localstack localstack/localstack#12278: a handle whose timeout was over still deleted the message.
  reproduction('a handle whose timeout is over deletes nothing, and says so', async (sqs) => {
    const q = await fifo(sqs, { VisibilityTimeout: '2' });
    await sendAll(sqs, q, 'g', '1');
    const { ReceiptHandle } = await sqs.receiveOne(q);
    await sqs.advance(10);
    assert.deepEqual(await sqs.refused('DeleteMessage', { QueueUrl: q, ReceiptHandle }), [
      'InvalidParameterValue',
      `Value ${ReceiptHandle} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.`,
    ]);
    assert.deepEqual(await sqs.counts(q), ['1', '0', '0']);
  });

  // aws-sdk-js aws/aws-sdk-js#1279, awsdocs awsdocs/aws-doc-sdk-examples#165: by AWS itself, so for a timeout of 0 too.
  reproduction('a handle got with a timeout of 0 is over at once', async (sqs) => {
    const q = await fifo(sqs);
    await sendAll(sqs, q, 'g', '1');
    const { ReceiptHandle } = await sqs.receiveOne(q, { VisibilityTimeout: 0 });
    const [code] = await sqs.refused('DeleteMessage', { QueueUrl: q, ReceiptHandle });
    assert.equal(code, 'InvalidParameterValue');
    await sqs.delete(q, await sqs.receiveOne(q));
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
  });
});
