import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  deleteOf,
  newMessage,
  OneQueue,
  purgeOf,
  receiveOf,
  redrive,
  releaseOf,
  sendOf,
  tidyOf,
  visibilityOf,
} from '../../test/model/one-queue.ts';
import type { Command, Leased } from './command.ts';
import { hasVisible, nextVisibleAt } from './counts.ts';
import { hasLeft } from './lease-page.ts';
import { queueLimits } from './limits.ts';
import type { LeasePageReference, PageId } from './queue-state.ts';
import type { PreparedPage } from './resources.ts';

const small = { ...queueLimits, leaseInlineMax: 4, leasePageEntries: 3, tailBytesMax: 100 };

/** Messages `0` to `count - 1` in segments, each received with a timeout of 100 seconds more than the one before. */
function queueWith(count: number, attributes: Readonly<Record<string, string>> = {}) {
  const queue = new OneQueue(attributes);
  queue.limits = small;
  const leased: Leased[] = [];
  for (let n = 0; n < count; n += 2) queue.commit(sendOf(newMessage(`${n}`), newMessage(`${n + 1}`)));
  for (let n = 0; n < count; n++) {
    queue.nowMillis += 1;
    leased.push(...queue.receive(1, 100 * (n + 1)));
  }
  return { queue, handles: leased.map(({ handle }) => handle) };
}

function onlyPage({ state }: OneQueue): readonly [PageId, LeasePageReference] {
  assert.equal(state.leasePages.size, 1);
  return [...state.leasePages][0]!;
}

const leftOf = ({ count, left }: LeasePageReference) =>
  Array.from({ length: count }, (_, ordinal) => hasLeft(left, ordinal));

describe('pages of deliveries', () => {
  it('take those leased longest ago out of the manifest', () => {
    const { queue } = queueWith(6);
    const [, page] = onlyPage(queue);
    assert.deepEqual([page.count, page.remaining, page.firstSequence, page.lastSequence], [3, 3, 1, 3]);
    assert.equal(page.firstVisibleAtMillis, 1_000_001 + 100_000);
    assert.equal(page.lastVisibleAtMillis, 1_000_003 + 300_000);
    assert.deepEqual([...queue.state.deliveries.keys()], [4, 5, 6]);
    assert.deepEqual(queue.counts, { visible: 0, inFlight: 6, delayed: 0 });
  });

  it('do not take those whose bodies are in the tail, which end one by one', () => {
    const queue = new OneQueue({ MessageRetentionPeriod: '60' });
    queue.limits = { ...small, tailBytesMax: 10_000 };
    for (let n = 0; n < 4; n++) queue.send('a', 'b', 'c');
    assert.equal(queue.receive(10).length, 10);
    queue.commit(tidyOf(1));
    assert.equal(queue.state.leasePages.size, 0);
    queue.nowMillis += 60_000;
    queue.commit(tidyOf(2));
    assert.deepEqual(queue.places, {});
  });

  it('do not take what the same commit leases or extends: its next attempt would do so anew', () => {
    const { queue, handles } = queueWith(4);
    for (let n = 0; n < 4; n++) queue.send(`${n}`);
    queue.commit(...handles.map((handle) => visibilityOf(handle, 700)), receiveOf(10, 600));
    assert.equal(queue.state.deliveries.size, 8);
    assert.deepEqual(
      queue.asked.flatMap(({ newPages }) => newPages),
      [],
    );
    queue.send('next');
    assert.equal(queue.state.deliveries.size, 2);
    assert.equal(queue.state.leasePages.size, 2);
  });

  it('let a deleted message go, and a second delete changes nothing', () => {
    const { queue, handles } = queueWith(6);
    queue.commit(deleteOf(handles[1]!));
    const [, page] = onlyPage(queue);
    assert.deepEqual(leftOf(page), [false, true, false]);
    assert.equal(page.remaining, 2);
    assert.deepEqual(queue.places[2], undefined);
    assert.deepEqual(queue.commit(deleteOf(handles[1]!)), [{ outcome: { kind: 'done' }, effect: false }]);
    queue.nowMillis += 1_000_000;
    assert.deepEqual(queue.bodies().sort(), ['0', '2', '3', '4', '5']);
  });

  it('know exactly when the first and the last of what is left become visible', () => {
    const { queue, handles } = queueWith(6);
    const before = onlyPage(queue)[1];
    queue.commit(deleteOf(handles[0]!));
    const after = onlyPage(queue)[1];
    assert.equal(after.firstVisibleAtMillis, 1_000_002 + 200_000);
    assert.equal(after.lastVisibleAtMillis, before.lastVisibleAtMillis);
    queue.commit(deleteOf(handles[2]!));
    assert.equal(onlyPage(queue)[1].lastVisibleAtMillis, 1_000_002 + 200_000);
    assert.equal(onlyPage(queue)[1].remaining, 1);
  });

  it('go with the last of their entries, and come back with less than a quarter left', () => {
    const { queue, handles } = queueWith(6);
    queue.commit(deleteOf(...handles.slice(0, 3)));
    assert.equal(queue.state.leasePages.size, 0);
    const big = new OneQueue();
    big.limits = { ...small, leasePageEntries: 9 };
    for (let n = 0; n < 15; n++) big.send(`${n}`);
    const leased = [...big.receive(10), ...big.receive(5)].map(({ handle }) => handle);
    big.commit(tidyOf(1));
    assert.equal(onlyPage(big)[1].remaining, 9);
    big.commit(deleteOf(...leased.slice(0, 6)));
    assert.equal(onlyPage(big)[1].remaining, 3);
    big.commit(deleteOf(leased[6]!));
    assert.equal(big.state.leasePages.size, 0);
    assert.equal(big.state.deliveries.size, 8);
  });

  it('give a lease that is extended to the manifest, with its token', () => {
    const { queue, handles } = queueWith(6);
    const outcome = queue.outcome(visibilityOf(handles[0]!, 5_000));
    assert.deepEqual(outcome, { kind: 'visibility', entries: ['done'] });
    assert.deepEqual(leftOf(onlyPage(queue)[1]), [true, false, false]);
    assert.equal(queue.state.deliveries.get(1)!.visibleAtMillis, queue.nowMillis + 5_000_000);
    queue.commit(deleteOf(handles[0]!));
    assert.equal(queue.places[1], undefined);
  });

  it('give a released message back', () => {
    const { queue, handles } = queueWith(6);
    queue.commit(releaseOf(handles[1]!));
    assert.equal(queue.places[2], 'ready');
    assert.deepEqual(queue.bodies(), ['1']);
    assert.equal(queue.places[2], 'deliveries');
  });

  it('give every message again when its time has come, and no earlier', () => {
    const { queue } = queueWith(6);
    for (let n = 0; n < 6; n++) {
      queue.nowMillis = 1_000_001 + n + 100_000 * (n + 1) - 1;
      assert.equal(nextVisibleAt(queue.state, queue.nowMillis), queue.nowMillis + 1);
      assert.equal(hasVisible(queue.state, queue.nowMillis), false);
      assert.deepEqual(queue.bodies(), []);
      queue.nowMillis += 1;
      assert.equal(hasVisible(queue.state, queue.nowMillis), true);
      const [again, ...more] = queue.receive(10, 10_000);
      assert.equal(more.length, 0);
      assert.deepEqual([again!.message.body, again!.receiveCount], [`${n}`, 2]);
      assert.equal(again!.firstReceivedAtMillis, 1_000_001 + n);
    }
  });

  it('are not read for what is not in them', () => {
    const { queue, handles } = queueWith(6);
    queue.send('new');
    queue.commit(deleteOf(handles[5]!), receiveOf(), visibilityOf(handles[4]!, 900));
    assert.deepEqual(
      queue.asked.flatMap(({ pages }) => [...pages]),
      [],
    );
    queue.commit(releaseOf(handles[1]!));
    queue.commit(deleteOf(handles[1]!));
    assert.deepEqual(queue.asked, []);
    assert.deepEqual(
      queue.commit(deleteOf({ ...handles[5]!, token: handles[0]!.token })).map(({ effect }) => effect),
      [false],
    );
  });

  it('are read one after the other, as far as a receive goes', () => {
    const { queue } = queueWith(24);
    const pages = queue.state.leasePages.size;
    assert.ok(pages > 6, `${pages} pages`);
    queue.nowMillis += 10_000_000;
    assert.deepEqual(queue.bodies(2, 600), ['0', '1']);
    const read = new Set(queue.asked.flatMap((needs) => [...needs.pages.keys()]));
    assert.ok(read.size < pages, `${read.size} of ${pages}`);
    assert.deepEqual(queue.bodies(10, 600), ['2', '3', '4', '5', '6', '7', '8', '9', '10', '11']);
  });

  it('count for the bound of messages in flight', () => {
    const { queue } = queueWith(6);
    queue.limits = { ...small, inFlightMax: 6 };
    queue.send('new');
    assert.equal(queue.outcome(receiveOf()).kind, 'over-limit');
    queue.nowMillis += 100_000;
    assert.deepEqual(queue.bodies(10, 600), ['0']);
    assert.equal(queue.outcome(receiveOf()).kind, 'over-limit');
  });

  it('give what was received too often to the dead-letter queue', () => {
    const { queue } = queueWith(6, redrive(1));
    queue.nowMillis += 250_000;
    assert.deepEqual(queue.bodies(), []);
    assert.deepEqual([...queue.state.intents.keys()], [1, 2]);
    assert.deepEqual(leftOf(onlyPage(queue)[1]), [true, true, false]);
  });

  it('are dropped by a purge, unread', () => {
    const { queue, handles } = queueWith(6);
    queue.commit(purgeOf());
    assert.deepEqual([queue.state.leasePages.size, queue.state.deliveries.size], [0, 0]);
    assert.deepEqual(queue.asked, []);
    assert.deepEqual(queue.commit(deleteOf(...handles)), [{ outcome: { kind: 'done' }, effect: false }]);
  });

  it('lose what retention ends; a delete in the same commit counts as one with effect', () => {
    const { queue, handles } = queueWith(6, { MessageRetentionPeriod: '60' });
    queue.nowMillis += 60_000;
    assert.deepEqual(queue.commit(deleteOf(handles[0]!)), [{ outcome: { kind: 'done' }, effect: true }]);
    assert.deepEqual(queue.places, {});
    assert.deepEqual([queue.state.leasePages.size, queue.state.segments.size], [0, 0]);
  });

  it('tell what retention ended also when a purge of the same commit has dropped them', () => {
    const { queue, handles } = queueWith(6, { MessageRetentionPeriod: '60' });
    queue.nowMillis += 60_000;
    assert.equal(queue.commit(purgeOf(), deleteOf(handles[0]!))[1]!.effect, true);
  });

  it('may be used after a conflict only if nothing they cover has changed', () => {
    const { queue, handles } = queueWith(4);
    queue.send('4', '5');
    const command: Command[] = [receiveOf(1, 600)];
    const before = queue.state;
    for (const rival of [
      deleteOf(handles[0]!),
      visibilityOf(handles[1]!, 700),
      releaseOf(handles[2]!),
      purgeOf(),
      undefined,
    ]) {
      queue.state = before;
      const uploaded: PreparedPage[] = [];
      queue.attempt(command, [], uploaded);
      assert.equal(uploaded.length, 1);
      if (rival) queue.commit(rival);
      queue.commitPrepared(command, [], uploaded);
      assert.equal(queue.state.leasePages.has(uploaded[0]!.id), rival === undefined);
    }
  });

  it('with a base version below collectedBelow are not named any more, but written anew', () => {
    const { queue } = queueWith(4);
    queue.send('4', '5');
    const uploaded: PreparedPage[] = [];
    queue.attempt([receiveOf(1, 600)], [], uploaded);
    queue.commit(sendOf(newMessage('x')));
    queue.commit(tidyOf(queue.state.version));
    queue.commitPrepared([receiveOf(1, 600)], [], uploaded);
    assert.equal(uploaded.length, 2);
    assert.deepEqual([...queue.state.leasePages.keys()], [uploaded[1]!.id]);
  });
});

describe('pages of deliveries that cannot be read', () => {
  const unreadable = (count: number, attributes: Readonly<Record<string, string>> = {}) => {
    const made = queueWith(count, attributes);
    const [id] = onlyPage(made.queue);
    made.queue.unreadablePages.add(id);
    return { ...made, id };
  };

  it('refuse a handle that they may hold, and the other handles of the command take effect', () => {
    const { queue, handles, id } = unreadable(6);
    for (const command of [
      deleteOf(handles[0]!, handles[5]!),
      visibilityOf(handles[1]!, 9),
      releaseOf(handles[2]!),
    ])
      assert.equal(queue.outcome(command).kind, 'unreadable');
    assert.deepEqual([...queue.state.deliveries.keys()], [4, 5]);
    assert.equal(onlyPage(queue)[0], id);
    queue.unreadablePages.clear();
    assert.deepEqual(queue.commit(deleteOf(handles[0]!, handles[5]!)), [
      { outcome: { kind: 'done' }, effect: true },
    ]);
  });

  it('pass over what they hold, and say so', () => {
    const { queue, id } = unreadable(6);
    queue.nowMillis += 10_000_000;
    const outcome = queue.outcome(receiveOf(10, 600));
    assert.ok(outcome.kind === 'received');
    assert.deepEqual(
      outcome.messages.map(({ message }) => message.body),
      ['3', '4', '5'],
    );
    assert.equal(outcome.unreadable, true);
    assert.equal(onlyPage(queue)[0], id);
  });

  it('keep the segments of what they hold from retention', () => {
    const { queue } = unreadable(6, { MessageRetentionPeriod: '60' });
    queue.nowMillis += 60_000;
    queue.commit(tidyOf(1));
    assert.equal(onlyPage(queue)[1].remaining, 3);
    queue.unreadablePages.clear();
    queue.commit(tidyOf(2));
    assert.deepEqual(queue.places, {});
    assert.equal(queue.state.segments.size, 0);
  });

  it('are those of another page too: what the bits say would be of others', () => {
    const { queue, handles } = queueWith(6);
    const [id] = onlyPage(queue);
    const other = queueWith(12).queue;
    queue.pages.set(id, other.pages.get([...other.state.leasePages.keys()][1]!)!);
    assert.equal(queue.outcome(deleteOf(handles[0]!)).kind, 'unreadable');
  });
});
