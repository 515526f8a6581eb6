import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fifoQueue, messageIn } from '../../test/model/fifo.ts';
import {
  deleteOf,
  newMessage,
  OneQueue,
  purgeOf,
  sendOf,
  setOf,
  tidyOf,
} from '../../test/model/one-queue.ts';
import type { CommandOutcome, NewMessage, SendResult } from './command.ts';
import { deduplicationKeyOf } from './deduplication.ts';
import { brokenStep } from './invariants.ts';
import type { PreparedPage } from './resources.ts';

const window = 5 * 60 * 1000;

function resultsOf(outcome: CommandOutcome): readonly SendResult[] {
  assert.ok(outcome.kind === 'sent', outcome.kind);
  return outcome.entries;
}

const kindsOf = (outcome: CommandOutcome) => resultsOf(outcome).map(({ kind }) => kind);

const byContent = (body: string, groupId = 'a'): NewMessage => ({
  ...newMessage(body, { groupId }),
  deduplication: { explicitId: undefined, bodyHash: `hash of ${body}` },
});

describe('deduplication', () => {
  it('answers a second send of an id with the first one, and stores nothing', () => {
    const queue = fifoQueue();
    const first = messageIn('a', '1', 'id');
    assert.deepEqual(queue.outcome(sendOf(first)), {
      kind: 'sent',
      entries: [{ kind: 'sent', sequence: 1 }],
    });
    const { state } = queue;
    assert.deepEqual(queue.commit(sendOf(messageIn('b', 'another', 'id'))), [
      {
        outcome: {
          kind: 'sent',
          entries: [{ kind: 'duplicate', messageId: first.messageId, sequence: 1 }],
        },
        effect: false,
      },
    ]);
    assert.equal(queue.state, state);
    assert.equal(queue.state.tail.get(1)!.message.deduplicationId, 'id');
  });

  it('does so within one call and within one commit, and sends the rest', () => {
    const queue = fifoQueue();
    const [one, two] = queue.commit(
      sendOf(messageIn('a', '1', 'x'), messageIn('a', '2', 'x'), messageIn('a', '3', 'y')),
      sendOf(messageIn('a', '4', 'y'), messageIn('a', '5', 'z')),
    );
    assert.deepEqual(kindsOf(one!.outcome), ['sent', 'duplicate', 'sent']);
    assert.deepEqual(kindsOf(two!.outcome), ['duplicate', 'sent']);
    assert.deepEqual(queue.bodies(), ['1', '3', '5']);
  });

  it('lasts five minutes from the acceptance, by manifest time, and then begins anew', () => {
    const queue = fifoQueue();
    queue.stampLeadMillis = 100;
    queue.commit(sendOf(messageIn('a', '1', 'id')));
    queue.stampLeadMillis = 0;
    queue.nowMillis += window + 99;
    assert.deepEqual(kindsOf(queue.outcome(sendOf(messageIn('a', '2', 'id')))), ['duplicate']);
    queue.nowMillis += 1;
    assert.deepEqual(kindsOf(queue.outcome(sendOf(messageIn('a', '3', 'id')))), ['sent']);
    assert.equal(queue.state.deduplication.size, 1);
    assert.deepEqual(kindsOf(queue.outcome(sendOf(messageIn('a', '4', 'id')))), ['duplicate']);
    queue.manifestMillis = queue.nowMillis;
    queue.nowMillis += 2 * window;
    assert.deepEqual(kindsOf(queue.outcome(sendOf(messageIn('a', '5', 'id')))), ['duplicate'], 'it may lag');
  });

  it('survives receive and delete', () => {
    const queue = fifoQueue();
    queue.commit(sendOf(messageIn('a', '1', 'x'), messageIn('a', '2', 'y')));
    const [leased] = queue.receive(1);
    queue.commit(deleteOf(leased!.handle));
    assert.deepEqual(kindsOf(queue.outcome(sendOf(messageIn('a', '3', 'x'), messageIn('a', '4', 'y')))), [
      'duplicate',
      'duplicate',
    ]);
  });

  it('is by content where the queue says so and the message has no id of its own', () => {
    const queue = fifoQueue({ ContentBasedDeduplication: 'true' });
    queue.commit(sendOf(byContent('1')));
    assert.equal(queue.state.tail.get(1)!.message.deduplicationId, 'hash of 1');
    assert.deepEqual(kindsOf(queue.outcome(sendOf(byContent('1', 'b'), byContent('2')))), [
      'duplicate',
      'sent',
    ]);
    assert.deepEqual(kindsOf(queue.outcome(sendOf(messageIn('a', '1', 'own')))), ['sent']);
    assert.deepEqual(kindsOf(queue.outcome(sendOf(messageIn('a', '9', 'hash of 1')))), ['duplicate']);
  });

  it('is needed: without an id nothing of the call is stored', () => {
    const queue = fifoQueue();
    const refused = ['no-deduplication-id', 'no-deduplication-id'];
    const { state } = queue;
    assert.deepEqual(kindsOf(queue.outcome(sendOf(messageIn('a', '1', 'x'), byContent('2')))), refused);
    assert.equal(queue.state, state);
    const without = newMessage('3', { groupId: 'a' });
    assert.deepEqual(kindsOf(queue.outcome(sendOf(without))), ['no-deduplication-id']);
  });

  it('is of a message group where its scope is', () => {
    const queue = fifoQueue({ DeduplicationScope: 'messageGroup' });
    queue.commit(sendOf(messageIn('a', '1', 'id')));
    assert.deepEqual(kindsOf(queue.outcome(sendOf(messageIn('b', '2', 'id'), messageIn('a', '3', 'id')))), [
      'sent',
      'duplicate',
    ]);
    const scopes = ['queue', 'messageGroup'] as const;
    const keys = scopes.map((deduplicationScope) => deduplicationKeyOf({ deduplicationScope }, 'a', 'id'));
    assert.equal(new Set(keys).size, 2);
    const [ab, a] = ['ab', 'a'].map((group, i) =>
      deduplicationKeyOf({ deduplicationScope: 'messageGroup' }, group, i === 0 ? 'c' : 'bc'),
    );
    assert.notEqual(ab, a);
  });

  it('takes no id for a message that is refused', () => {
    const queue = fifoQueue({ MaximumMessageSize: '1024' });
    assert.deepEqual(kindsOf(queue.outcome(sendOf(messageIn('a', 'x'.repeat(1_025), 'id')))), ['too-large']);
    assert.deepEqual(kindsOf(queue.outcome(sendOf(messageIn('a', '1', 'id')))), ['sent']);
  });

  it('is nothing that a standard queue does', () => {
    const queue = new OneQueue();
    assert.deepEqual(kindsOf(queue.outcome(sendOf(messageIn('a', '1', 'id'), messageIn('a', '2', 'id')))), [
      'sent',
      'sent',
    ]);
    assert.equal(queue.state.deduplication.size, 0);
  });
});

describe('pages of deduplication ids', () => {
  function pagedQueue(count: number) {
    const queue = fifoQueue();
    queue.limits = { ...queue.limits, deduplicationInlineMax: 3, deduplicationPageEntries: 2 };
    for (let n = 1; n <= count; n++) {
      queue.commit(sendOf(messageIn('a', `${n}`, `id ${n}`)));
      queue.nowMillis += 1_000;
    }
    return queue;
  }

  it('take the oldest, and every id in them still counts', () => {
    const queue = pagedQueue(9);
    const counts = [...queue.state.deduplicationPages.values()].map(({ count }) => count);
    assert.deepEqual(counts, [2, 2, 2]);
    assert.deepEqual(
      [...queue.state.deduplication.values()].map(({ sequence }) => sequence),
      [7, 8, 9],
    );
    const ids = Array.from({ length: 9 }, (_, n) => messageIn('a', 'again', `id ${n + 1}`));
    const results = resultsOf(queue.outcome(sendOf(...ids)));
    assert.deepEqual(
      results.map((result) => result.kind === 'duplicate' && result.sequence),
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
  });

  it('go as a whole and unread when their last entry is over; until then what is over in them does not count', () => {
    const queue = pagedQueue(4);
    assert.equal(queue.state.deduplicationPages.size, 1);
    const firstAt = queue.nowMillis - 4_000;
    queue.nowMillis = firstAt + window;
    const again = sendOf(messageIn('a', '5', 'id 1'), messageIn('a', '6', 'id 2'));
    assert.deepEqual(kindsOf(queue.outcome(again)), ['sent', 'duplicate']);
    assert.equal(queue.state.deduplicationPages.size, 1);
    queue.nowMillis += 1_000;
    const [id] = queue.state.deduplicationPages.keys();
    queue.unreadablePages.add(id!);
    queue.commit(sendOf(messageIn('a', '7', 'another')));
    assert.ok(!queue.state.deduplicationPages.has(id!));
    assert.deepEqual(kindsOf(queue.outcome(sendOf(messageIn('a', '8', 'id 1')))), ['duplicate']);
  });

  it('that cannot be read make an id unknown, and nothing of the call is stored; what is known is answered', () => {
    const queue = pagedQueue(5);
    const [id] = queue.state.deduplicationPages.keys();
    queue.unreadablePages.add(id!);
    const { state } = queue;
    const mixed = sendOf(messageIn('a', 'again', 'id 5'), messageIn('a', 'new', 'new'));
    assert.deepEqual(queue.outcome(mixed), { kind: 'unreadable' });
    assert.equal(queue.state, state);
    assert.deepEqual(kindsOf(queue.outcome(sendOf(messageIn('a', 'again', 'id 5')))), ['duplicate']);
    queue.unreadablePages.clear();
    assert.deepEqual(kindsOf(queue.outcome(mixed)), ['duplicate', 'sent']);
  });

  it('are not used when another commit has moved their entries, and others are written', () => {
    const queue = pagedQueue(3);
    const pages: PreparedPage[] = [];
    const command = sendOf(messageIn('a', 'mine', 'mine'));
    queue.attempt([command], [], pages);
    assert.equal(pages.length, 1);
    queue.commit(sendOf(messageIn('a', 'rival', 'rival')));
    queue.commitPrepared([command], [], pages);
    assert.equal(pages.length, 1, 'the manifest has room');
    assert.deepEqual([...queue.state.deduplication.values()].length, 3);
    assert.ok(![...queue.state.deduplicationPages.keys()].includes(pages[0]!.id));
  });

  it('are not used when a purge has forgotten what they hold', () => {
    const queue = fifoQueue();
    queue.limits = { ...queue.limits, deduplicationInlineMax: 1, deduplicationPageEntries: 2 };
    const send = (...ids: string[]) => sendOf(...ids.map((id) => messageIn('a', id, id)));
    queue.commit(send('x', 'y', 'z'));
    const pages: PreparedPage[] = [];
    queue.attempt([send('mine')], [], pages);
    queue.commit(purgeOf(0), send('p', 'q', 'r'));
    queue.commitPrepared([send('mine')], [], pages);
    assert.equal(queue.state.deduplicationPages.size, 1);
    assert.ok(!queue.state.deduplicationPages.has(pages[0]!.id));
    assert.deepEqual(kindsOf(queue.outcome(send('x', 'q'))), ['sent', 'duplicate']);
  });

  it('are used after a conflict while all they hold is in the manifest as it was', () => {
    const queue = pagedQueue(3);
    const pages: PreparedPage[] = [];
    const command = sendOf(messageIn('a', 'mine', 'mine'));
    queue.attempt([command], [], pages);
    queue.commit(setOf({ VisibilityTimeout: '7' }));
    queue.commitPrepared([command], [], pages);
    assert.deepEqual([...queue.state.deduplicationPages.keys()], [pages[0]!.id]);
  });

  it('never hold what this very commit accepts', () => {
    const queue = fifoQueue();
    queue.limits = { ...queue.limits, deduplicationInlineMax: 1, deduplicationPageEntries: 2 };
    queue.commit(sendOf(messageIn('a', '1'), messageIn('a', '2'), messageIn('a', '3')));
    assert.equal(queue.state.deduplicationPages.size, 0);
    queue.commit(sendOf(messageIn('a', '4')));
    assert.equal(queue.state.deduplicationPages.size, 1);
  });

  it('that are below collectedBelow are not named anew', () => {
    const queue = pagedQueue(3);
    const pages: PreparedPage[] = [];
    const command = sendOf(messageIn('a', 'mine', 'mine'));
    queue.attempt([command], [], pages);
    queue.commit(tidyOf(queue.state.version));
    queue.commit(setOf({ VisibilityTimeout: '7' }));
    queue.commit(tidyOf(queue.state.version));
    queue.commitPrepared([command], [], pages);
    assert.ok(![...queue.state.deduplicationPages.keys()].includes(pages[0]!.id));
  });
});

describe('a step of a FIFO queue', () => {
  const queue = fifoQueue();
  queue.commit(sendOf(messageIn('a', '1', 'x')));
  const { state } = queue;
  const writers = [{ ...state.writers[0]!, version: state.version + 1 }];
  const step = (changes: Partial<typeof state>) =>
    brokenStep(state, { ...state, version: state.version + 1, writers, ...changes });

  it('is broken when an id is gone before it is over, or the type of the queue is another', () => {
    assert.equal(step({}), undefined);
    assert.match(step({ deduplication: new Map() })!, /gone before/);
    assert.equal(step({ deduplication: new Map(), timeMillis: state.timeMillis + window }), undefined);
    assert.match(step({ attributes: new Map() })!, /type of the queue/);
  });
});
