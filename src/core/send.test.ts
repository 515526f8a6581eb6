import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newMessage, OneQueue, sendOf, setOf } from '../../test/model/one-queue.ts';
import type { Command } from './command.ts';

const delayed = (delaySeconds: number | undefined): Command => ({
  kind: 'send',
  entries: [{ message: newMessage(), delaySeconds }],
});

const sent = (sequence: number) => ({ kind: 'sent', sequence });

describe('send', () => {
  it('numbers messages in order and stamps them with the upper bound of the time', () => {
    const queue = new OneQueue();
    queue.stampLeadMillis = 40;
    const message = newMessage('a', { groupId: 'g', traceHeader: 'Root=1' });
    queue.commit(sendOf(message, newMessage('b')));
    assert.deepEqual([...queue.state.tail.keys()], [1, 2]);
    assert.deepEqual(queue.state.tail.get(1), {
      message: {
        ...message.content,
        messageId: message.messageId,
        senderId: 'AKIDEXAMPLE',
        sentAtMillis: queue.nowMillis + 40,
        deadLetterSourceArn: undefined,
      },
      // One byte of body, eleven of the sender, and the overhead of 64.
      bytes: 76,
    });
    assert.equal(queue.state.nextSequence, 3);
  });

  it("refuses what is over the queue's own limit, entry by entry, and takes the rest", () => {
    const queue = new OneQueue({ MaximumMessageSize: '1024' });
    const results = queue.commit(
      sendOf(newMessage('x'.repeat(1_024)), newMessage('x'.repeat(1_025)), newMessage('y')),
    );
    assert.deepEqual(results, [
      {
        outcome: {
          kind: 'sent',
          entries: [sent(1), { kind: 'too-large', maximumBytes: 1_024 }, sent(2)],
        },
        effect: true,
      },
    ]);
    assert.deepEqual(queue.places, { 1: 'ready', 2: 'ready' });
  });

  it('counts attributes against the limit', () => {
    const queue = new OneQueue({ MaximumMessageSize: '1024' });
    const attributes = new Map([['n', { kind: 'text', dataType: 'String', text: 'v' } as const]]);
    // 8 bytes of attribute: 1 name, 6 data type, 1 value.
    const fits = newMessage('x'.repeat(1_016), { attributes });
    const not = newMessage('x'.repeat(1_017), { attributes });
    assert.deepEqual(queue.outcome(sendOf(fits, not)), {
      kind: 'sent',
      entries: [sent(1), { kind: 'too-large', maximumBytes: 1_024 }],
    });
  });

  it('has no effect when every entry is too large', () => {
    const queue = new OneQueue({ MaximumMessageSize: '1024' });
    const before = queue.state;
    const [result] = queue.commit(sendOf(newMessage('x'.repeat(2_000))));
    assert.equal(result!.effect, false);
    assert.equal(queue.state, before);
  });

  it('goes by the limit and the delay that the same transition sets', () => {
    const queue = new OneQueue();
    const results = queue.commit(
      sendOf(newMessage('x'.repeat(2_000)), newMessage('y')),
      setOf({ MaximumMessageSize: '1024', DelaySeconds: '9' }),
    );
    assert.deepEqual(results[0]!.outcome, {
      kind: 'sent',
      entries: [{ kind: 'too-large', maximumBytes: 1_024 }, sent(1)],
    });
    assert.deepEqual(queue.state.delayed, new Map([[1, queue.nowMillis + 9_000]]));
  });

  it("takes the queue's delay when it has none of its own, and its own before the queue's, zero too", () => {
    const queue = new OneQueue({ DelaySeconds: '5' });
    queue.commit(delayed(undefined), delayed(0), delayed(900));
    assert.deepEqual(
      queue.state.delayed,
      new Map([
        [1, queue.nowMillis + 5_000],
        [3, queue.nowMillis + 900_000],
      ]),
    );
    assert.deepEqual(queue.places, { 1: 'delayed', 2: 'ready', 3: 'delayed' });
  });

  it('keeps a delay when the queue changes its own later', () => {
    const queue = new OneQueue({ DelaySeconds: '5' });
    queue.commit(delayed(undefined));
    queue.commit(setOf({ DelaySeconds: '0' }));
    queue.nowMillis += 4_999;
    assert.deepEqual(queue.bodies(), []);
  });

  it('never gives a sequence number twice', () => {
    const queue = new OneQueue();
    queue.send('a', 'b');
    queue.commit({ kind: 'purge', cooldownMillis: 0 });
    queue.send('c');
    assert.deepEqual(queue.places, { 3: 'ready' });
  });
});
