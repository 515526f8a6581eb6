/**
 * What SQS.md sections 3, 5 and 6 say of the messages of FIFO queues, on the real engine in virtual time.
 * Over 300 lines, since a section has as many rows and they are looked up by it.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { fakeQueueService } from '../../../../test/protocol-support/fake-queue-service.ts';
import { query } from '../../../../test/protocol-support/query-client.ts';
import { sqsTestClient } from '../../../../test/protocol-support/sqs-client.ts';
import {
  type BatchReply,
  bodies,
  fifo,
  type Received,
  redrive,
  reproduction as row,
  Sqs,
} from '../../../../test/reports/reproduction.ts';

const ten = { MaxNumberOfMessages: 10 };
const all = { MessageSystemAttributeNames: ['All'] };
const byId = { ContentBasedDeduplication: 'false' };
const day = 24 * 3600;
const noId =
  'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly';
const noGroup = 'The request must contain the parameter MessageGroupId.';
const otherType = 'The request include parameter that is not valid for this queue type.';

const inOrder = (messages: readonly Received[]) => messages.map(({ Body }) => Body);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const expired = ({ ReceiptHandle }: Received) =>
  `Value ${ReceiptHandle} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.`;

interface Sent {
  readonly MessageId: string;
  readonly SequenceNumber: string;
}

function sender(sqs: Sqs, QueueUrl: string) {
  return async (MessageBody: string, MessageGroupId = 'g', more: object = {}): Promise<Sent> => {
    const body = { QueueUrl, MessageBody, MessageGroupId, ...more };
    return (await sqs.done('SendMessage', body)) as unknown as Sent;
  };
}

async function batch(sqs: Sqs, QueueUrl: string, ...Entries: readonly object[]): Promise<BatchReply> {
  return sqs.done('SendMessageBatch', { QueueUrl, Entries });
}

describe('row: DelaySeconds on a FIFO queue', () => {
  row('0 means the delay of the queue; any other is refused, in a batch its entry alone', async (sqs) => {
    const q = await fifo(sqs, { DelaySeconds: '10' });
    await sender(sqs, q)('zero', 'a', { DelaySeconds: 0 });
    const reply = await batch(
      sqs,
      q,
      { Id: 'a', MessageBody: 'none', MessageGroupId: 'b' },
      { Id: 'b', MessageBody: 'own', MessageGroupId: 'c', DelaySeconds: 3 },
      { Id: 'c', MessageBody: 'zero too', MessageGroupId: 'd', DelaySeconds: 0 },
    );
    const Message = `Value 3 for parameter DelaySeconds is invalid. Reason: ${otherType}`;
    assert.deepEqual(reply.Failed, [{ Id: 'b', Code: 'InvalidParameterValue', Message, SenderFault: true }]);
    assert.deepEqual(await sqs.receive(q, ten), []);
    await sqs.advance(11);
    assert.deepEqual(inOrder(await sqs.receive(q, ten)), ['zero', 'none', 'zero too']);
  });

  row('a change of it holds for what is delayed already', async (sqs) => {
    const q = await fifo(sqs, { DelaySeconds: '600' });
    await sender(sqs, q)('x');
    await sqs.done('SetQueueAttributes', { QueueUrl: q, Attributes: { DelaySeconds: '5' } });
    await sqs.advance(6);
    assert.deepEqual(inOrder(await sqs.receive(q, ten)), ['x']);
  });
});

describe('row: MessageGroupId', () => {
  row('missing: MissingParameter alone, InvalidParameterValue for a whole batch', async (sqs) => {
    const q = await fifo(sqs);
    assert.deepEqual(await sqs.refused('SendMessage', { QueueUrl: q, MessageBody: 'x' }), [
      'MissingParameter',
      noGroup,
    ]);
    const Entries = [
      { Id: 'a', MessageBody: 'x', MessageGroupId: 'g' },
      { Id: 'b', MessageBody: 'y' },
    ];
    assert.deepEqual(await sqs.refused('SendMessageBatch', { QueueUrl: q, Entries }), [
      'InvalidParameterValue',
      noGroup,
    ]);
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
  });

  row('and deduplication ids: 1–128 alphanumerics and punctuation, no spaces', async (sqs) => {
    const q = await fifo(sqs);
    const punctuation = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
    const ids = { MessageGroupId: punctuation, MessageDeduplicationId: `${punctuation}9` };
    await sqs.done('SendMessage', { QueueUrl: q, MessageBody: 'x', ...ids });
    const { Attributes } = await sqs.receiveOne(q, { AttributeNames: Object.keys(ids) });
    assert.deepEqual(Attributes, ids);
    for (const name of Object.keys(ids)) {
      for (const id of ['', 'a'.repeat(129), 'group 123', 'ä', 'a\u0008']) {
        const body = { QueueUrl: q, MessageBody: 'x', MessageGroupId: 'g', [name]: id };
        const reason = `${name} can only include alphanumeric and punctuation characters. 1 to 128 in length.`;
        assert.deepEqual(await sqs.refused('SendMessage', body), [
          'InvalidParameterValue',
          `Value ${id} for parameter ${name} is invalid. Reason: ${reason}`,
        ]);
      }
    }
  });
});

describe('row: no deduplication id', () => {
  row('and none by content is InvalidParameterValue, of a batch the whole', async (sqs) => {
    const q = await fifo(sqs, byId);
    const entry = { MessageBody: 'x', MessageGroupId: 'g' };
    const refusal = ['InvalidParameterValue', noId];
    assert.deepEqual(await sqs.refused('SendMessage', { QueueUrl: q, ...entry }), refusal);
    const Entries = [
      { Id: 'a', ...entry, MessageDeduplicationId: '1' },
      { Id: 'b', ...entry },
    ];
    assert.deepEqual(await sqs.refused('SendMessageBatch', { QueueUrl: q, Entries }), refusal);
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
    const Attributes = { ContentBasedDeduplication: 'true' };
    await sqs.done('SetQueueAttributes', { QueueUrl: q, Attributes });
    const sent = await batch(sqs, q, ...Entries);
    assert.deepEqual(
      sent.Successful?.map(({ Id }) => Id),
      ['a', 'b'],
    );
  });
});

describe('row: deduplication', () => {
  row('by content is by the SHA-256 of the body, which shows; an id of its own goes before', async (sqs) => {
    const q = await fifo(sqs);
    const send = sender(sqs, q);
    const body = '{"wörter":"😀\r\n"}';
    const first = await send(body);
    assert.deepEqual(await send(body), await send(body));
    assert.equal(
      (await send('other', 'g', { MessageDeduplicationId: sha256(body) })).MessageId,
      first.MessageId,
    );
    await send(body, 'g', { MessageDeduplicationId: 'own' });
    const messages = await sqs.receive(q, { ...ten, ...all });
    assert.deepEqual(
      messages.map(({ Body, Attributes }) => [Body, Attributes?.MessageDeduplicationId]),
      [
        [body, sha256(body)],
        [body, 'own'],
      ],
    );
  });

  row('lasts five minutes, over receive and delete, restart and other nodes', async (sqs) => {
    const q = await fifo(sqs);
    const first = await sender(sqs, q)('x');
    await sqs.delete(q, await sqs.receiveOne(q));
    const other = new Sqs(sqs.world);
    assert.deepEqual(await sender(other, q)('x'), first);
    sqs.node.kill();
    await other.advance(240);
    assert.deepEqual(await sender(other, q)('x'), first);
    await other.advance(50);
    const third = new Sqs(sqs.world);
    assert.deepEqual(await sender(third, q)('x'), first);
    assert.deepEqual(await third.receive(q), []);
    await third.advance(70);
    const next = await sender(third, q)('x');
    assert.notEqual(next.MessageId, first.MessageId);
    assert.equal((await third.receiveOne(q)).MessageId, next.MessageId);
  });

  row('counts from the acceptance of the first, not from a duplicate', async (sqs) => {
    const q = await fifo(sqs);
    const first = await sender(sqs, q)('x');
    for (let minutes = 0; minutes < 4; minutes++) {
      await sqs.advance(60);
      assert.deepEqual(await sender(sqs, q)('x'), first);
    }
    await sqs.advance(120);
    assert.notEqual((await sender(sqs, q)('x')).MessageId, first.MessageId);
  });

  row('within one batch, and among sends at once, the first is stored', async (sqs) => {
    const q = await fifo(sqs, byId);
    const entry = { MessageGroupId: 'g', MessageDeduplicationId: 'd' };
    const { Successful } = await batch(
      sqs,
      q,
      { Id: 'a', MessageBody: 'a', ...entry },
      { Id: 'b', MessageBody: 'b', ...entry },
    );
    const [a, b] = (Successful ?? []) as unknown as readonly (Sent & { readonly MD5OfMessageBody: string })[];
    assert.deepEqual([b?.MessageId, b?.SequenceNumber], [a?.MessageId, a?.SequenceNumber]);
    assert.notEqual(b?.MD5OfMessageBody, a?.MD5OfMessageBody);
    const other = new Sqs(sqs.world);
    const sends = [sqs, other, sqs, other].map((client) =>
      client.calling('SendMessage', {
        QueueUrl: q,
        MessageBody: 'c',
        MessageGroupId: 'g',
        MessageDeduplicationId: 'e',
      }),
    );
    const ids = (await sqs.world.run(Promise.all(sends))).map(({ body }) => body.MessageId);
    assert.equal(new Set(ids).size, 1);
    assert.deepEqual(inOrder(await sqs.receive(q, ten)), ['a', 'c']);
  });

  row('follows DeduplicationScope', async (sqs) => {
    const q = await fifo(sqs, { ...byId, DeduplicationScope: 'messageGroup' });
    const send = sender(sqs, q);
    const d = { MessageDeduplicationId: 'd' };
    for (const [body, group] of [
      ['a', 'one'],
      ['b', 'two'],
      ['c', 'one'],
      ['d', 'two'],
    ] as const)
      await send(body, group, d);
    assert.deepEqual(bodies(await sqs.receive(q, ten)), ['a', 'b']);
  });
});

describe('row: SequenceNumber', () => {
  row('has 20 digits, rises over all groups, and comes with the message', async (sqs) => {
    const q = await fifo(sqs);
    const send = sender(sqs, q);
    const sent = [await send('1', 'a'), await send('2', 'b'), await send('3', 'a')];
    const { Successful = [] } = await batch(
      sqs,
      q,
      { Id: 'x', MessageBody: '4', MessageGroupId: 'b' },
      { Id: 'y', MessageBody: '5', MessageGroupId: 'a' },
    );
    sent.push(...(Successful as unknown as readonly Sent[]));
    const numbers = sent.map(({ SequenceNumber }) => SequenceNumber);
    for (const number of numbers) assert.match(number, /^[0-9]{20}$/);
    assert.deepEqual(numbers, [...numbers].sort());
    assert.equal(new Set(numbers).size, 5);
    const messages = await sqs.receive(q, { ...ten, AttributeNames: ['SequenceNumber'] });
    assert.deepEqual(messages.map(({ Attributes }) => Attributes?.SequenceNumber).sort(), numbers);
  });

  it('stands in answers of the query protocol', async () => {
    const SequenceNumber = '00000000000000000042';
    const sent = { kind: 'sent', messageId: 'm', sequenceNumber: SequenceNumber } as const;
    const { handler } = sqsTestClient({
      ...fakeQueueService(),
      send: async (_name, _sender, entries) => ({ kind: 'done', entries: entries.map(() => sent) }),
    });
    const one = { MessageBody: 'x', MessageGroupId: 'g', MessageDeduplicationId: 'd' };
    const single = await query(handler, { Action: 'SendMessage', QueueUrl: 'q.fifo', ...one });
    const prefix = 'SendMessageBatchRequestEntry.1.';
    const numbered = Object.fromEntries(Object.entries(one).map(([name, value]) => [prefix + name, value]));
    const entries = { [`${prefix}Id`]: 'a', ...numbered };
    const several = await query(handler, { Action: 'SendMessageBatch', QueueUrl: 'q.fifo', ...entries });
    for (const { status, xml } of [single, several]) {
      assert.equal(status, 200, xml);
      assert.match(xml, new RegExp(`<SequenceNumber>${SequenceNumber}</SequenceNumber>`));
    }
  });
});

describe('row: a receive', () => {
  row('takes a group from its head up to the first in flight; other groups flow', async (sqs) => {
    const q = await fifo(sqs);
    const send = sender(sqs, q);
    for (const body of ['a1', 'a2', 'a3', 'a4']) await send(body, 'a');
    const [a1, a2, a3] = await sqs.receive(q, { MaxNumberOfMessages: 3 });
    await send('b1', 'b');
    // The first is in flight: nothing of the group.
    assert.deepEqual(inOrder(await sqs.receive(q, ten)), ['b1']);
    // Given back: it comes again, and what follows it in flight does not, nor what follows that.
    await sqs.changeVisibility(q, a1!, 0);
    const again = await sqs.receive(q, ten);
    assert.deepEqual(inOrder(again), ['a1']);
    await sqs.delete(q, again[0]!);
    await sqs.delete(q, a2!);
    assert.deepEqual(await sqs.receive(q, ten), []);
    await sqs.delete(q, a3!);
    assert.deepEqual(inOrder(await sqs.receive(q, ten)), ['a4']);
  });

  row('fills up from one group before it takes of the next, whose head was sent first', async (sqs) => {
    const q = await fifo(sqs);
    const send = sender(sqs, q);
    for (const body of ['a1', 'b1', 'a2', 'c1', 'a3', 'b2']) await send(body, body[0]);
    assert.deepEqual(inOrder(await sqs.receive(q, { MaxNumberOfMessages: 2 })), ['a1', 'a2']);
    assert.deepEqual(inOrder(await sqs.receive(q, ten)), ['b1', 'b2', 'c1']);
  });

  row('shows group, deduplication id and number among All, and the number of tries as ever', async (sqs) => {
    const q = await fifo(sqs, { VisibilityTimeout: '1' });
    const { SequenceNumber } = await sender(sqs, q)('x');
    for (const count of ['1', '2']) {
      const { Attributes } = await sqs.receiveOne(q, { AttributeNames: ['All'] });
      assert.deepEqual(Object.keys(Attributes ?? {}).sort(), [
        'ApproximateFirstReceiveTimestamp',
        'ApproximateReceiveCount',
        'MessageDeduplicationId',
        'MessageGroupId',
        'SenderId',
        'SentTimestamp',
        'SequenceNumber',
      ]);
      assert.deepEqual(
        [Attributes?.ApproximateReceiveCount, Attributes?.SequenceNumber],
        [count, SequenceNumber],
      );
      await sqs.advance(2);
    }
  });
});

describe('row: expired handles', () => {
  row('are refused, alone and in a batch; a message that is gone is not', async (sqs) => {
    const q = await fifo(sqs, { VisibilityTimeout: '5' });
    await sender(sqs, q)('x', 'a');
    await sender(sqs, q)('y', 'b');
    const [x, y] = await sqs.receive(q, ten);
    await sqs.delete(q, y!);
    await sqs.advance(6);
    const refusal = ['InvalidParameterValue', expired(x!)];
    const { ReceiptHandle } = x!;
    const body = { QueueUrl: q, ReceiptHandle };
    assert.deepEqual(await sqs.refused('DeleteMessage', body), refusal);
    assert.deepEqual(
      await sqs.refused('ChangeMessageVisibility', { ...body, VisibilityTimeout: 9 }),
      refusal,
    );
    const failed = [{ Id: 'x', Code: 'InvalidParameterValue', Message: expired(x!), SenderFault: true }];
    const Entries = [
      { Id: 'x', ReceiptHandle, VisibilityTimeout: 9 },
      { Id: 'y', ReceiptHandle: y!.ReceiptHandle, VisibilityTimeout: 9 },
    ];
    const deleted: BatchReply = await sqs.done('DeleteMessageBatch', { QueueUrl: q, Entries });
    assert.deepEqual([deleted.Successful, deleted.Failed], [[{ Id: 'y' }], failed]);
    const changed: BatchReply = await sqs.done('ChangeMessageVisibilityBatch', { QueueUrl: q, Entries });
    assert.deepEqual(changed.Failed?.[0], failed[0]);
    assert.match(changed.Failed?.[1]?.Message ?? '', /Message does not exist/);
    // Superseded is expired too.
    const again = await sqs.receiveOne(q);
    assert.deepEqual(await sqs.refused('DeleteMessage', body), refusal);
    await sqs.delete(q, again);
    await sqs.done('DeleteMessage', body);
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
  });

  row('a timeout that was extended is not over', async (sqs) => {
    const q = await fifo(sqs, { VisibilityTimeout: '5' });
    await sender(sqs, q)('x');
    const message = await sqs.receiveOne(q);
    await sqs.changeVisibility(q, message, 30);
    await sqs.advance(10);
    await sqs.delete(q, message);
    assert.deepEqual(await sqs.counts(q), ['0', '0', '0']);
  });
});

describe('row: FIFO dead letters', () => {
  row('keep what they are; their group is locked until they have left, then it flows', async (sqs) => {
    const dead = await fifo(sqs, {}, 'dead.fifo');
    const q = await fifo(sqs, { VisibilityTimeout: '5', ...redrive('dead.fifo', 2) });
    const { MessageId } = await sender(sqs, q)('poison');
    await sender(sqs, q)('next');
    for (let tries = 0; tries < 2; tries++) {
      const { Body } = await sqs.receiveOne(q);
      assert.equal(Body, 'poison');
      await sqs.advance(6);
    }
    assert.deepEqual(inOrder(await sqs.receive(q, { WaitTimeSeconds: 20 })), ['next']);
    const letter = await sqs.receiveOne(dead, { WaitTimeSeconds: 5, ...all });
    const { Attributes } = letter;
    assert.equal(letter.MessageId, MessageId);
    assert.equal(Attributes?.MessageGroupId, 'g');
    // Or two messages of one id, sent hours apart, could not both be dead letters.
    assert.equal(Attributes?.MessageDeduplicationId, MessageId);
    assert.equal(Attributes?.ApproximateReceiveCount, '3');
    assert.equal(Attributes?.DeadLetterQueueSourceArn, 'arn:aws:sqs:us-east-1:000000000000:q.fifo');
    assert.match(Attributes?.SequenceNumber ?? '', /^[0-9]{20}$/);
  });

  row('their retention counts from the move', async (sqs) => {
    const dead = await fifo(sqs, { MessageRetentionPeriod: String(2 * day) }, 'dead.fifo');
    const long = { MessageRetentionPeriod: String(10 * day), VisibilityTimeout: '5' };
    const q = await fifo(sqs, { ...long, ...redrive('dead.fifo', 1) });
    await sender(sqs, q)('x');
    await sqs.advance(5 * day);
    await sqs.receiveOne(q);
    await sqs.advance(6);
    assert.deepEqual(await sqs.receive(q), []);
    await sqs.advance(day);
    const letter = await sqs.receiveOne(dead, { ...all, VisibilityTimeout: 0 });
    assert.ok(
      sqs.nowMillis - Number(letter.Attributes?.SentTimestamp) > 5 * day * 1000,
      'the stamp is the first one',
    );
    await sqs.advance(2 * day);
    // A first look tells the node what time it is; only then may it destroy.
    await sqs.receive(dead);
    await sqs.advance(120);
    assert.deepEqual(await sqs.receive(dead), []);
  });
});
