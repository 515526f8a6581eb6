import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fifoQueue, messageIn } from '../../test/model/fifo.ts';
import {
  newMessage,
  OneQueue,
  purgeOf,
  redrive,
  sendOf,
  targetIncarnation,
} from '../../test/model/one-queue.ts';
import type { Command } from './command.ts';

const big = (count: number) => sendOf(...Array.from({ length: count }, () => newMessage('x'.repeat(60_000))));
const returnMoves: Command = { kind: 'return-moves', targetIncarnation };

describe('purge', () => {
  it('ends what is ready, delayed and in flight, inline and in segments', () => {
    const queue = new OneQueue();
    queue.commit(big(5));
    queue.commit({ kind: 'send', entries: [{ message: newMessage(), delaySeconds: 9 }] });
    queue.send('a');
    queue.receive(6);
    assert.deepEqual(Object.values(queue.places).sort(), [
      'delayed',
      'deliveries',
      'deliveries',
      'deliveries',
      'deliveries',
      'deliveries',
      'deliveries',
    ]);
    queue.nowMillis += 4;
    assert.deepEqual(queue.commit(purgeOf()), [{ outcome: { kind: 'done' }, effect: true }]);
    assert.deepEqual(queue.places, {});
    assert.equal(queue.state.tail.size, 0);
    assert.equal(queue.state.segments.size, 0);
    assert.equal(queue.state.purgeWatermark, 8);
    assert.equal(queue.state.purgedAtMillis, queue.nowMillis);
    assert.deepEqual(queue.counts, { visible: 0, inFlight: 0, delayed: 0 });
  });

  it('leaves what belongs to another queue already, with its body, inline or in a segment', () => {
    const queue = new OneQueue(redrive(1));
    queue.commit(big(5));
    queue.send('inline');
    queue.receive(10, 0);
    queue.receive(10);
    assert.deepEqual(new Set(Object.values(queue.places)), new Set(['intents']));
    queue.commit({ kind: 'resolve-moves', targetIncarnation, through: 3 });
    queue.commit(big(5));
    queue.commit(purgeOf());
    assert.deepEqual(queue.places, { 4: 'intents', 5: 'intents', 6: 'intents' });
    assert.deepEqual(
      [...queue.state.segments.values()].map(({ liveCount }) => liveCount),
      [2, 1],
    );
  });

  it('ends a message that comes back from a target that is gone, when it was sent before the purge', () => {
    const queue = new OneQueue(redrive(1));
    queue.send('before');
    queue.receive(1, 0);
    queue.receive();
    queue.commit(purgeOf());
    queue.send('after');
    queue.receive(1, 0);
    queue.receive();
    assert.deepEqual(queue.places, { 1: 'intents', 2: 'intents' });
    queue.commit(returnMoves);
    assert.deepEqual(queue.places, { 2: 'deliveries' });
    assert.deepEqual([...queue.state.tail.keys()], [2]);
  });

  it('ends what would come back in the same transition too', () => {
    const queue = new OneQueue(redrive(1));
    queue.send('a');
    queue.receive(1, 0);
    queue.receive();
    queue.commit(returnMoves, purgeOf());
    assert.deepEqual(queue.places, {});
  });

  it('is refused within the cool-down, allowed exactly at its end, and always without one', () => {
    const queue = new OneQueue();
    queue.commit(purgeOf(60_000));
    queue.send('a');
    queue.nowMillis += 59_999;
    assert.deepEqual(queue.commit(purgeOf(60_000)), [
      { outcome: { kind: 'purged-recently' }, effect: false },
    ]);
    assert.deepEqual(queue.places, { 1: 'ready' });
    assert.equal(queue.commit(purgeOf(0))[0]!.effect, true);
    queue.nowMillis += 60_000;
    assert.equal(queue.commit(purgeOf(60_000))[0]!.effect, true);
  });

  it('forgets the deduplication ids of a FIFO queue, those in pages too', () => {
    const queue = fifoQueue();
    queue.limits = { ...queue.limits, deduplicationInlineMax: 1, deduplicationPageEntries: 2 };
    const send = (body: string) =>
      queue.outcome(
        sendOf(
          messageIn('g', `${body} 1`, '1'),
          messageIn('g', `${body} 2`, '2'),
          messageIn('g', body, body),
        ),
      );
    const kinds = (body: string) => {
      const outcome = send(body);
      return outcome.kind === 'sent' ? outcome.entries.map(({ kind }) => kind) : outcome.kind;
    };
    assert.deepEqual(kinds('a'), ['sent', 'sent', 'sent']);
    assert.deepEqual(kinds('b'), ['duplicate', 'duplicate', 'sent']);
    assert.equal(queue.state.deduplicationPages.size, 1);
    queue.commit(purgeOf());
    assert.deepEqual([queue.state.deduplication.size, queue.state.deduplicationPages.size], [0, 0]);
    assert.deepEqual(kinds('a'), ['sent', 'sent', 'sent']);
  });

  it('does not refuse the first purge of a queue', () => {
    assert.equal(new OneQueue().commit(purgeOf(60_000))[0]!.effect, true);
  });
});
