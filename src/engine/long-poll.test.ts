/** Waiting receives: what wakes them, what they cost, and that they share a commit with what they waited for. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Gate } from '../../test/support/scripted-store.ts';
import { bodiesOf, entryOf, minute, receiveDefaults, scenario, second } from '../../test/support/world.ts';
import { IN_FLIGHT_MAX } from '../core/limits.ts';
import { manifestKey } from '../format/object-keys.ts';

const waiting = { waitSeconds: 20 } as const;

describe('a parked receive', () => {
  scenario('gets its message by the very commit that stores it', async (world) => {
    const node = world.startNode();
    await node.create('q');
    const received = node.receiving('q', waiting);
    await world.clock.advance(3 * second);
    const swaps = node.store.count('putIfMatch');
    await node.send('q', 'a');
    assert.deepEqual(bodiesOf(await world.run(received)), ['a']);
    assert.equal(node.store.count('putIfMatch'), swaps + 1);
  });

  scenario("gets another node's message in two seconds or so", async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    const received = b.receiving('q', waiting);
    await world.clock.advance(10 * second);
    await a.send('q', 'a');
    assert.deepEqual(bodiesOf(await world.run(received, 2.6 * second)), ['a']);
  });

  scenario('waits as long as the queue says now, not when this node last looked', async (world) => {
    // 1. B knows the queue, and looks no more; 2. A sets its wait; 3. B is asked without one.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    const set = (seconds: number) => {
      const attributes = new Map([['ReceiveMessageWaitTimeSeconds', String(seconds)]]);
      return world.run(a.service.setQueueAttributes('q', attributes));
    };
    for (const [before, after] of [
      [0, 3],
      [20, 0],
    ] as const) {
      await set(before);
      await b.send('q', 'x');
      await b.delete('q', await b.receiveOne('q'));
      await set(after);
      await world.clock.advance(minute);
      const began = world.clock.monotonicMillis();
      assert.deepEqual(await b.receive('q', { waitSeconds: undefined }), []);
      const waited = world.clock.monotonicMillis() - began;
      assert.ok(Math.abs(waited - after * second) < 100, `${waited} ms`);
    }
  });

  scenario('takes what is visible when it learns that it may not wait', async (world) => {
    // 1. B believes in a wait of 20 s; 2. A sets none, and sends; 3. B's look shows both at once.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q', { ReceiveMessageWaitTimeSeconds: '20' });
    await b.send('q', 'x');
    await b.delete('q', await b.receiveOne('q'));
    const none = new Map([['ReceiveMessageWaitTimeSeconds', '0']]);
    await world.run(a.service.setQueueAttributes('q', none));
    await a.send('q', 'y');
    await world.clock.advance(minute);
    assert.deepEqual(bodiesOf(await b.receive('q', { waitSeconds: undefined })), ['y']);
  });

  scenario('is woken by a visibility of 0, here and on another node', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await a.send('q', 'x');
    const held = await a.receiveOne('q');
    const received = a.receiving('q', waiting);
    await world.clock.advance(second);
    assert.equal(await a.changeVisibility('q', held, 0), 'done');
    const [again] = await world.run(received, 100);
    assert.equal(again?.receiveCount, 2);
    const elsewhere = b.receiving('q', waiting);
    await world.clock.advance(second);
    assert.equal(await a.changeVisibility('q', again!, 0), 'done');
    assert.equal((await world.run(elsewhere, 2.6 * second))[0]?.receiveCount, 3);
  });

  scenario('is woken when a delay or a visibility timeout ends', async (world) => {
    const node = world.startNode();
    await node.create('q');
    const outcome = node.service.send('q', 'AIDATEST', [{ ...entryOf('late'), delaySeconds: 5 }]);
    await world.run(outcome);
    const started = world.clock.monotonicMillis();
    const messages = await world.run(node.receiving('q', { ...waiting, visibilityTimeoutSeconds: 3 }));
    assert.deepEqual(bodiesOf(messages), ['late']);
    const delayed = world.clock.monotonicMillis() - started;
    assert.ok(delayed > 4.5 * second && delayed < 5.5 * second, `${delayed} ms`);
    const again = await world.run(node.receiving('q', waiting));
    assert.equal(again[0]?.receiveCount, 2);
    const redelivered = world.clock.monotonicMillis() - started - delayed;
    assert.ok(redelivered > 2.5 * second && redelivered < 3.5 * second, `${redelivered} ms`);
  });

  scenario('ends empty in time, and takes the wait of the queue when it has none', async (world) => {
    const node = world.startNode();
    await node.create('q', { ReceiveMessageWaitTimeSeconds: '7' });
    const started = world.clock.monotonicMillis();
    assert.deepEqual(await node.receive('q', { waitSeconds: undefined }), []);
    const waited = world.clock.monotonicMillis() - started;
    assert.ok(waited >= 7 * second && waited < 7.2 * second, `${waited} ms`);
    assert.deepEqual(await node.receive('q', { waitSeconds: 0 }), []);
    assert.ok(world.clock.monotonicMillis() - started - waited < second);
  });

  scenario('one message goes to one of many, the others wait on', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    const results: number[] = [];
    const polls = [a, b, a, b, a, b].map((node) =>
      node.receiving('q', waiting).then((messages) => results.push(messages.length)),
    );
    await world.clock.advance(5 * second);
    await a.send('q', 'x');
    await world.run(Promise.all(polls));
    assert.deepEqual(results.sort(), [0, 0, 0, 0, 0, 1]);
  });
});

describe('the cost of waiting', () => {
  scenario('is a read each two seconds, and nothing when nobody waits', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'x');
    await node.delete('q', await node.receiveOne('q'));
    for (let n = 0; n < 3; n++) assert.deepEqual(await node.receive('q', waiting), []);
    const before = node.store.count();
    for (let n = 0; n < 6; n++) assert.deepEqual(await node.receive('q', waiting), []);
    const perMinute = (node.store.count() - before) / 2;
    assert.ok(perMinute >= 25 && perMinute <= 40, `${perMinute} requests a minute`);
    const idle = node.store.count();
    await world.clock.advance(60 * minute);
    assert.equal(node.store.count(), idle, 'an idle queue costs nothing');
    assert.equal(node.store.count('list'), 0);
  });

  scenario('is shared by all that wait', async (world) => {
    const node = world.startNode();
    await node.create('q');
    const before = node.store.count();
    await world.run(Promise.all(Array.from({ length: 50 }, () => node.receiving('q', waiting))));
    const requests = node.store.count() - before;
    assert.ok(requests <= 20, `${requests} requests in 20 s`);
  });

  scenario('does not spin over messages that cannot be handed out', async (world) => {
    // The in-flight bound: visible work is there, and none may be leased.
    const node = world.startNode({ timing: { commandAgeMaxMillis: 600 * second } });
    await node.create('q', { VisibilityTimeout: '43200' });
    const batch = Array.from({ length: 12_001 }, (_, n) => entryOf(`${n}`));
    for (let sent = 0; sent < IN_FLIGHT_MAX + 1; sent += batch.length)
      await world.run(node.service.send('q', 'AIDATEST', batch));
    const receives = Array.from({ length: IN_FLIGHT_MAX / 10 }, () => node.receiving('q'));
    await world.run(Promise.all(receives));
    const short = await world.run(node.service.receive('q', receiveDefaults()));
    assert.equal(short.kind, 'over-limit');
    const before = node.store.count();
    const started = world.clock.monotonicMillis();
    const outcome = await world.run(node.service.receive('q', { ...receiveDefaults(), ...waiting }));
    assert.deepEqual(outcome.kind === 'done' && outcome.messages, []);
    assert.ok(world.clock.monotonicMillis() - started >= 20 * second);
    const requests = node.store.count() - before;
    assert.ok(requests <= 40, `${requests} requests in 20 s`);
  });

  scenario('while the store is down is no hot loop', async (world) => {
    const node = world.startNode();
    await node.create('q');
    const received = node.receiving('q', waiting);
    await world.clock.advance(10 * second);
    node.store.goDown();
    const before = node.store.count();
    assert.deepEqual(await world.run(received), []);
    const requests = node.store.count() - before;
    assert.ok(requests <= 15, `${requests} requests in 10 s`);
  });
});

describe('group commit', () => {
  scenario('a hundred concurrent sends make few commits', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await world.run(Promise.all(Array.from({ length: 100 }, (_, n) => node.sending('q', `${n}`))));
    assert.ok(node.store.count('putIfMatch') <= 2, `${node.store.count('putIfMatch')} swaps`);
    assert.deepEqual(await node.counts('q'), [100, 0, 0]);
  });

  scenario('what comes while a commit is under way goes into the next', async (world) => {
    const node = world.startNode();
    await node.create('q');
    const gate = new Gate();
    node.store.script({ method: 'putIfMatch', key: manifestKey('q') }, gate.before);
    const first = node.sending('q', 'first');
    await world.run(gate.reached);
    const rest = Array.from({ length: 50 }, (_, n) => node.sending('q', `${n}`));
    gate.open();
    await world.run(Promise.all([first, ...rest]));
    assert.equal(node.store.count('putIfMatch'), 2);
  });

  scenario('the linger gathers what trickles in', async (world) => {
    const node = world.startNode({ lingerMillis: 100 });
    await node.create('q');
    const sends: Promise<unknown>[] = [];
    for (let n = 0; n < 100; n++) {
      sends.push(node.sending('q', `${n}`));
      await world.clock.advance(10);
    }
    await world.run(Promise.all(sends));
    assert.ok(node.store.count('putIfMatch') <= 11, `${node.store.count('putIfMatch')} swaps in a second`);
  });
});
