/**
 * Public bug reports about receiving: counts, timestamps, visibility, what a receive shows of a message. Each
 * reproduces what was reported and holds the right value.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { bodies, reproduction, text } from './reproduction.ts';

const timestamps = { AttributeNames: ['SentTimestamp', 'ApproximateFirstReceiveTimestamp'] };

describe('reports: what a receive shows', () => {
  // goaws Admiral-Piett/goaws#210, localstack localstack/localstack#6146: seconds, and a fraction, where SDKs parse
  // a whole number of milliseconds.
  reproduction('timestamps are whole milliseconds', async (sqs) => {
    const q = await sqs.create('q');
    await sqs.advance(0.1234);
    await sqs.send(q, 'x');
    await sqs.advance(5.4321);
    const before = sqs.nowMillis;
    const { Attributes = {} } = await sqs.receiveOne(q, timestamps);
    for (const value of Object.values(Attributes)) assert.match(value, /^[0-9]{13}$/);
    const { SentTimestamp: sent, ApproximateFirstReceiveTimestamp: received } = Attributes;
    assert.ok(Math.abs(Number(received) - before) < 1500, `${received} is not about ${before}`);
    assert.ok(Math.abs(Number(sent) - (before - 5432)) < 1500, `${sent} is not about ${before - 5432}`);
  });

  // floci floci-io/floci#1497: the time of the first receive was the time of the last one.
  reproduction('ApproximateFirstReceiveTimestamp stays, ApproximateReceiveCount rises', async (sqs) => {
    const q = await sqs.create('q', { VisibilityTimeout: '10' });
    await sqs.send(q, 'x');
    const seen: (string | undefined)[] = [];
    for (const count of ['1', '2', '3']) {
      const { Attributes } = await sqs.receiveOne(q, { AttributeNames: ['All'] });
      assert.equal(Attributes?.ApproximateReceiveCount, count);
      seen.push(Attributes?.ApproximateFirstReceiveTimestamp);
      await sqs.advance(30);
    }
    assert.equal(new Set(seen).size, 1);
  });

  // localstack localstack/localstack#10908, elasticmq softwaremill/elasticmq#1004, ministack ministackorg/ministack#578:
  // the newer name of the same list was ignored.
  reproduction(
    'MessageSystemAttributeNames does what AttributeNames does, and neither means none',
    async (sqs) => {
      const q = await sqs.create('q', { VisibilityTimeout: '0' });
      await sqs.send(q, 'x');
      const named = async (more: object) => Object.keys((await sqs.receiveOne(q, more)).Attributes ?? {});
      assert.deepEqual(await named({ MessageSystemAttributeNames: ['SentTimestamp'] }), ['SentTimestamp']);
      assert.deepEqual(await named({ AttributeNames: ['SentTimestamp'] }), ['SentTimestamp']);
      const all = await named({ MessageSystemAttributeNames: ['All'] });
      assert.deepEqual(all, await named({ AttributeNames: ['All'] }));
      assert.ok(all.includes('ApproximateReceiveCount') && all.includes('SenderId'));
      assert.equal('Attributes' in (await sqs.receiveOne(q)), false);
    },
  );

  // localstack localstack/localstack#2965, elasticmq softwaremill/elasticmq#97: every attribute came without being
  // asked for, so a forgotten name was found in production only.
  reproduction('message attributes come only when they are asked for', async (sqs) => {
    const q = await sqs.create('q', { VisibilityTimeout: '0' });
    await sqs.send(q, 'ABody', { MessageAttributes: { version: text('1'), other: text('2') } });
    const none = await sqs.receiveOne(q);
    assert.deepEqual([none.MessageAttributes, none.MD5OfMessageAttributes], [undefined, undefined]);
    const one = await sqs.receiveOne(q, { MessageAttributeNames: ['version'] });
    assert.deepEqual(one.MessageAttributes, { version: text('1') });
    // The reporter's digest of exactly this attribute: it covers what is shown.
    assert.equal(one.MD5OfMessageAttributes, '75cba0c5eb8ce78d6a41a35f99bfd7a8');
  });

  // localstack localstack/localstack#8566, moto getmoto/moto#9939: only All and exact names worked.
  reproduction('*, .* and prefix.* select message attributes', async (sqs) => {
    const q = await sqs.create('q', { VisibilityTimeout: '0' });
    const MessageAttributes = { 'trace.id': text('1'), 'trace.span': text('2'), kind: text('3') };
    await sqs.send(q, 'x', { MessageAttributes });
    const named = async (...MessageAttributeNames: readonly string[]) =>
      Object.keys((await sqs.receiveOne(q, { MessageAttributeNames })).MessageAttributes ?? {}).sort();
    for (const everything of ['*', '.*', 'All']) {
      assert.deepEqual(await named(everything), ['kind', 'trace.id', 'trace.span'], everything);
    }
    assert.deepEqual(await named('trace.*'), ['trace.id', 'trace.span']);
    assert.deepEqual(await named('Trace.*', 'kin'), []);
  });

  // floci floci-io/floci#773: an empty queue answered "Messages": [], which SDKs tell from an absent list.
  reproduction('a receive from an empty queue answers {}', async (sqs) => {
    const q = await sqs.create('q');
    for (const WaitTimeSeconds of [0, 1]) {
      const reply = await sqs.call('ReceiveMessage', { QueueUrl: q, WaitTimeSeconds });
      assert.deepEqual([reply.status, reply.raw.body], [200, '{}']);
    }
  });
});

describe('reports: visibility', () => {
  // localstack localstack/localstack#7397: with a timeout of 0 one message filled the whole answer.
  reproduction(
    'a visibility timeout of 0 shows each message once an answer, and again in the next',
    async (sqs) => {
      const q = await sqs.create('q');
      for (const body of ['a', 'b', 'c']) await sqs.send(q, body);
      for (let i = 0; i < 3; i += 1) {
        const messages = await sqs.receive(q, { MaxNumberOfMessages: 10, VisibilityTimeout: 0 });
        assert.deepEqual(bodies(messages), ['a', 'b', 'c']);
      }
    },
  );

  // goaws Admiral-Piett/goaws#344: the timeout of the receive was ignored for the queue's.
  // floci floci-io/floci#413: the queue's was ignored for the default.
  reproduction('the receive’s visibility timeout beats the queue’s, which beats the default', async (sqs) => {
    const q = await sqs.create('q', { VisibilityTimeout: '100' });
    await sqs.send(q, 'x');
    await sqs.receiveOne(q, { VisibilityTimeout: 5 });
    await sqs.advance(6);
    await sqs.receiveOne(q);
    await sqs.advance(90);
    assert.deepEqual(await sqs.receive(q), []);
    await sqs.advance(11);
    await sqs.receiveOne(q);
  });

  // localstack localstack/localstack#6454: extending had no effect, and after the first timeout it failed.
  reproduction('a message stays hidden for as long as its visibility is extended', async (sqs) => {
    const q = await sqs.create('q', { VisibilityTimeout: '5' });
    await sqs.send(q, 'x');
    const message = await sqs.receiveOne(q);
    for (let i = 0; i < 8; i += 1) {
      await sqs.advance(3);
      assert.equal((await sqs.changeVisibility(q, message, 5)).status, 200);
      assert.deepEqual(await sqs.receive(q), []);
    }
    await sqs.delete(q, message);
    await sqs.advance(10);
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
  });

  // localstack localstack/localstack#1902: the message did not come back.
  reproduction('changing the visibility to 0 gives the message back at once, its count kept', async (sqs) => {
    const q = await sqs.create('q');
    await sqs.send(q, 'x');
    for (const ApproximateReceiveCount of ['1', '2', '3']) {
      const message = await sqs.receiveOne(q, { AttributeNames: ['ApproximateReceiveCount'] });
      assert.deepEqual(message.Attributes, { ApproximateReceiveCount });
      assert.deepEqual(await sqs.counts(q), ['0', '1', '0']);
      assert.equal((await sqs.changeVisibility(q, message, 0)).status, 200);
      assert.deepEqual(await sqs.counts(q), ['1', '0', '0']);
    }
  });

  // localstack localstack/localstack#3956: 12 hours more were granted to a message already received.
  reproduction('more than 12 hours in all since the receive are refused', async (sqs) => {
    const q = await sqs.create('q', { VisibilityTimeout: '60' });
    await sqs.send(q, 'x');
    await sqs.receiveOne(q);
    await sqs.advance(61);
    const message = await sqs.receiveOne(q);
    await sqs.advance(1);
    const { ReceiptHandle } = message;
    assert.deepEqual(
      await sqs.refused('ChangeMessageVisibility', { QueueUrl: q, ReceiptHandle, VisibilityTimeout: 43_200 }),
      [
        'InvalidParameterValue',
        'Value 43200 for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [43200 seconds]',
      ],
    );
    assert.equal((await sqs.changeVisibility(q, message, 43_000)).status, 200);
  });

  // localstack localstack/localstack#6416: delayed messages were counted nowhere.
  reproduction('counts tell visible, in flight and delayed apart, and time alone moves them', async (sqs) => {
    const q = await sqs.create('q', { DelaySeconds: '30', VisibilityTimeout: '60' });
    await sqs.send(q, 'test');
    assert.deepEqual(await sqs.counts(q), ['0', '0', '1']);
    await sqs.advance(31);
    assert.deepEqual(await sqs.counts(q), ['1', '0', '0']);
    await sqs.receiveOne(q);
    assert.deepEqual(await sqs.counts(q), ['0', '1', '0']);
    await sqs.advance(61);
    assert.deepEqual(await sqs.counts(q), ['1', '0', '0']);
  });
});
