import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  deleteOf,
  leasedOf,
  newMessage,
  OneQueue,
  purgeOf,
  receiveOf,
  releaseOf,
  sendOf,
  setOf,
  tidyOf,
  visibilityOf,
  writer,
} from '../../test/model/one-queue.ts';
import type { Command } from './command.ts';
import type { WriterId } from './ids.ts';
import { WRITERS_MAX } from './limits.ts';
import { apply, type TransitionInput } from './transition.ts';

const writerNumber = (n: number) => n.toString(16).padStart(32, '0') as WriterId;

function stateAfter(input: TransitionInput) {
  const result = apply(input);
  assert.ok(result.kind === 'applied' && result.next.kind === 'queue');
  return result.next.state;
}

describe('a transition', () => {
  it('runs attributes, deletes, visibility changes, sends and receives in that order, whatever their order in the batch', () => {
    const queue = new OneQueue();
    queue.send('old', 'held');
    const [old, held] = queue.receive();
    const results = queue.commit(
      receiveOf(),
      sendOf(newMessage('new')),
      visibilityOf(held!.handle, 0),
      deleteOf(held!.handle, old!.handle),
      setOf({ VisibilityTimeout: '7', DelaySeconds: '0' }),
    );
    // The delete came before the visibility change, which therefore finds nothing.
    assert.deepEqual(results[2], {
      outcome: { kind: 'visibility', entries: ['not-available'] },
      effect: false,
    });
    const [leased] = leasedOf(results[0]!.outcome);
    assert.equal(leased!.message.body, 'new');
    assert.equal(queue.state.deliveries.get(3)!.visibleAtMillis, queue.nowMillis + 7_000);
  });

  it('lets a send survive the purge it travels with, and lets the purge win over a delete', () => {
    const queue = new OneQueue();
    queue.send('old');
    const [old] = queue.receive();
    const results = queue.commit(sendOf(newMessage('new')), deleteOf(old!.handle), purgeOf());
    assert.deepEqual(
      results.map(({ effect }) => effect),
      [true, false, true],
    );
    assert.deepEqual(queue.places, { 2: 'ready' });
  });

  it('makes what a visibility change or a release gives back receivable at once', () => {
    const queue = new OneQueue();
    queue.send('a', 'b');
    const [a, b] = queue.receive();
    queue.letRedeliveriesBegin();
    const results = queue.commit(receiveOf(), releaseOf(a!.handle), visibilityOf(b!.handle, 0));
    const leased = leasedOf(results[0]!.outcome);
    assert.deepEqual(
      leased.map(({ message, receiveCount }) => [message.body, receiveCount]),
      // The redelivery goes before the message that counts as never received.
      [
        ['b', 2],
        ['a', 1],
      ],
    );
  });

  it('keeps the order of commands of one kind', () => {
    const queue = new OneQueue();
    queue.commit(sendOf(newMessage('1'), newMessage('2')), sendOf(newMessage('3')));
    const results = queue.commit(receiveOf(1), receiveOf(2), receiveOf(1));
    assert.deepEqual(
      results.map(({ outcome }) => leasedOf(outcome).map(({ message }) => message.body)),
      [['1'], ['2', '3'], []],
    );
    assert.deepEqual(
      results.map(({ effect }) => effect),
      [true, true, false],
    );
  });

  it('stores and leases a message in one commit', () => {
    const queue = new OneQueue();
    const results = queue.commit(sendOf(newMessage('now')), receiveOf());
    const [leased] = leasedOf(results[1]!.outcome);
    assert.deepEqual(
      [leased!.message.body, leased!.receiveCount, leased!.handle.sequence, leased!.handle.leaseVersion],
      ['now', 1, 1, 2],
    );
    assert.equal(queue.state.version, 2);
    assert.deepEqual(queue.places, { 1: 'deliveries' });
    queue.commit(deleteOf(leased!.handle));
    assert.deepEqual(queue.places, {});
  });

  it('gives every lease of one transition its own token, also where the seed overflows', () => {
    const queue = new OneQueue();
    queue.send(...Array.from({ length: 30 }, (_, n) => `${n}`));
    const result = apply({
      ...queue.input([receiveOf(10), receiveOf(10), receiveOf(10)]),
      tokenSeed: new Uint8Array(8).fill(0xff),
    });
    assert.ok(result.kind === 'applied' && result.next.kind === 'queue');
    const tokens = [...result.next.state.deliveries.values()].map(({ token }) => token);
    assert.deepEqual(tokens.slice(0, 3), ['ffffffffffffffff', '0000000000000000', '0000000000000001']);
    assert.equal(new Set(tokens).size, 30);
  });

  it('draws other tokens in another attempt', () => {
    const queue = new OneQueue();
    queue.send('a');
    const token = () => stateAfter(queue.input([receiveOf()])).deliveries.get(1)!.token;
    assert.notEqual(token(), token());
  });

  it('has nothing to swap when no command has an effect, and gives the very state back', () => {
    const queue = new OneQueue();
    queue.send('a');
    const [a] = queue.receive();
    queue.commit(deleteOf(a!.handle));
    const result = apply(queue.input([deleteOf(a!.handle), receiveOf(), releaseOf(a!.handle)]));
    assert.ok(result.kind === 'applied' && result.next.kind === 'queue');
    assert.equal(result.changed, false);
    assert.equal(result.next.state, queue.state);
    assert.deepEqual(
      result.results.map(({ effect }) => effect),
      [false, false, false],
    );
  });

  it('answers the same for the same input and leaves it as it was', () => {
    const queue = new OneQueue();
    queue.send('a', 'b', 'c');
    const [a, b] = queue.receive(2);
    // The state is frozen: a change of it would throw.
    const commands: readonly Command[] = [
      receiveOf(),
      sendOf(newMessage('d')),
      deleteOf(a!.handle),
      visibilityOf(b!.handle, 0),
      setOf({ DelaySeconds: '3' }),
    ];
    const input = queue.input(commands);
    assert.deepEqual(apply(input), apply(input));
    assert.deepEqual(queue.places, { 1: 'deliveries', 2: 'deliveries', 3: 'ready' });
  });

  it('buries the queue first: the rest of the batch finds it gone', () => {
    const queue = new OneQueue();
    queue.send('a');
    const result = apply({
      ...queue.input([sendOf(newMessage()), { kind: 'delete-queue' }, { kind: 'delete-queue' }, receiveOf()]),
      writer: { id: writer, attempt: 9 },
      time: { nowMillis: 5, stampMillis: 7, manifestMillis: 3 },
    });
    assert.deepEqual(result, {
      kind: 'applied',
      changed: true,
      next: {
        kind: 'tombstone',
        tombstone: {
          buriedIncarnation: queue.state.incarnation,
          buriedVersion: queue.state.version,
          closingWriter: writer,
          closingAttempt: 9,
          deletedAtMillis: 7,
        },
      },
      results: [
        { outcome: { kind: 'queue-missing' }, effect: true },
        { outcome: { kind: 'done' }, effect: true },
        { outcome: { kind: 'done' }, effect: true },
        { outcome: { kind: 'queue-missing' }, effect: true },
      ],
    });
  });

  it('sets, replaces and removes attributes, and stamps the change', () => {
    const queue = new OneQueue({ VisibilityTimeout: '5', Policy: '{}' });
    queue.nowMillis += 10;
    queue.stampLeadMillis = 3;
    queue.commit(setOf({ VisibilityTimeout: '6', Policy: '' }));
    assert.deepEqual(queue.state.attributes, new Map([['VisibilityTimeout', '6']]));
    assert.equal(queue.state.modifiedAtMillis, queue.nowMillis + 3);
  });

  it('raises collectedBelow along the way, never above the version it is based on, never down', () => {
    const queue = new OneQueue();
    queue.send('a');
    queue.send('b');
    assert.equal(queue.state.version, 3);
    queue.collectBelow = 2;
    queue.send('c');
    assert.equal(queue.state.collectedBelow, 2);
    queue.collectBelow = 99;
    queue.send('d');
    assert.equal(queue.state.collectedBelow, 4);
    queue.collectBelow = 0;
    queue.send('e');
    assert.equal(queue.state.collectedBelow, 4);
  });

  it('tidies only when there is something to tidy', () => {
    const queue = new OneQueue({ MessageRetentionPeriod: '60' });
    queue.send('a');
    assert.deepEqual(queue.commit(tidyOf(0)), [{ outcome: { kind: 'done' }, effect: false }]);
    assert.deepEqual(queue.commit(tidyOf(2)), [{ outcome: { kind: 'done' }, effect: true }]);
    assert.deepEqual(queue.commit(tidyOf(2)), [{ outcome: { kind: 'done' }, effect: false }]);
    queue.nowMillis += 60_000;
    assert.deepEqual(queue.commit(tidyOf(2)), [{ outcome: { kind: 'done' }, effect: true }]);
    assert.deepEqual(queue.places, {});
  });

  it('moves manifest time with every commit', () => {
    const queue = new OneQueue();
    queue.manifestMillis = queue.nowMillis + 30;
    queue.send('a');
    assert.equal(queue.state.timeMillis, queue.nowMillis + 30);
  });
});

describe('the writers of a queue', () => {
  const commitAs = (queue: OneQueue, id: WriterId, attempt: number) => {
    queue.state = stateAfter({ ...queue.input([sendOf(newMessage())]), writer: { id, attempt } });
  };

  it('remember each writer once, with its latest attempt and the version it made', () => {
    const queue = new OneQueue();
    commitAs(queue, writerNumber(1), 1);
    commitAs(queue, writerNumber(2), 1);
    commitAs(queue, writerNumber(1), 5);
    assert.deepEqual(queue.state.writers, [
      { id: writerNumber(2), attempt: 1, version: 3, roundMillis: 0 },
      { id: writerNumber(1), attempt: 5, version: 4, roundMillis: 0 },
    ]);
    assert.equal(queue.state.writersFloor, 0);
  });

  it('prune the one that has been silent longest and raise the floor to its version', () => {
    const queue = new OneQueue();
    for (let n = 1; n <= WRITERS_MAX; n++) commitAs(queue, writerNumber(n), 1);
    assert.equal(queue.state.writers.length, WRITERS_MAX);
    assert.equal(queue.state.writersFloor, 0);
    // Writer 1 commits again: now writer 2, whose version is 3, is the silent one.
    commitAs(queue, writerNumber(1), 2);
    assert.equal(queue.state.writersFloor, 0);
    commitAs(queue, writerNumber(WRITERS_MAX + 1), 1);
    assert.equal(queue.state.writers.length, WRITERS_MAX);
    assert.equal(queue.state.writersFloor, 3);
    assert.equal(
      queue.state.writers.some(({ id }) => id === writerNumber(2)),
      false,
    );
    commitAs(queue, writerNumber(WRITERS_MAX + 2), 1);
    assert.equal(queue.state.writersFloor, 4);
  });
});
