/** A store that is slow, down or silent; bounds on what waits; and the end of a process. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Gate, requestLost } from '../../test/support/scripted-store.ts';
import { bodiesOf, entryOf, kindOf, receiveDefaults, scenario, second } from '../../test/support/world.ts';
import { manifestKey } from '../format/object-keys.ts';
import { Unavailable } from './queue-api.ts';
import { batchDeliveriesMax, pendingBytesMax, pendingCommandsMax } from './settings.ts';

const swap = { method: 'putIfMatch', key: manifestKey('q') } as const;
const answerOf = (call: Promise<{ readonly kind: string }>): Promise<string> =>
  call.then(kindOf, (error: unknown) => {
    assert.ok(error instanceof Unavailable, String(error));
    return 'unavailable';
  });

describe('a store that is down', () => {
  scenario('makes commands of ten seconds unavailable, and loses nothing', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'before');
    node.store.goDown();
    const started = world.clock.monotonicMillis();
    assert.equal(await world.run(answerOf(node.sending('q', 'during'))), 'unavailable');
    const waited = world.clock.monotonicMillis() - started;
    assert.ok(waited > 9 * second && waited < 13 * second, `${waited} ms`);
    assert.ok(node.store.count('putIfMatch') < 40, 'no hot loop');
    const late = answerOf(node.sending('q', 'late'));
    await world.clock.advance(5 * second);
    node.store.comeBack();
    assert.equal(await world.run(late), 'done');
    assert.deepEqual(bodiesOf(await node.receive('q')), ['before', 'late']);
  });

  scenario('is unavailable to calls about queues that this node does not know yet', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    b.store.goDown();
    assert.equal(await world.run(answerOf(b.sending('q', 'x'))), 'unavailable');
    await assert.rejects(world.run(b.service.createQueue('r', new Map())), Unavailable);
    b.store.comeBack();
    await b.send('q', 'x');
  });

  scenario('does not end a parked receive early', async (world) => {
    const node = world.startNode();
    await node.create('q');
    const received = node.receiving('q', { waitSeconds: 20 });
    await world.clock.advance(second);
    node.store.goDown();
    await world.clock.advance(8 * second);
    node.store.comeBack();
    const other = world.startNode();
    await other.send('q', 'x');
    assert.deepEqual(bodiesOf(await world.run(received)), ['x']);
  });

  scenario('does not make young commands pay for the age of those before them', async (world) => {
    // 1. a swap stays unknown for 15 s; 2. a command waits behind it from its 7th second on, another from its 12th;
    // 3. the store answers again: the first is too old, the second is not.
    const node = world.startNode();
    await node.create('q');
    node.store.script({ ...swap, times: 1000 }, requestLost);
    const first = answerOf(node.sending('q', 'first'));
    await world.clock.advance(7.5 * second);
    const old = answerOf(node.sending('q', 'old'));
    await world.clock.advance(4.5 * second);
    const young = answerOf(node.sending('q', 'young'));
    await world.clock.advance(10);
    assert.equal(await world.run(first), 'unavailable');
    assert.equal(await world.run(old), 'unavailable');
    const healthy = world.startNode();
    await healthy.send('q', 'other');
    node.store.scriptsEnd();
    assert.equal(await world.run(young), 'done');
  });

  scenario('refuses at the door what would wait behind commands that already waited long', async (world) => {
    const node = world.startNode();
    await node.create('q');
    node.store.script({ ...swap, times: 1000 }, requestLost);
    const first = answerOf(node.sending('q', 'first'));
    await world.clock.advance(second);
    const waiting = answerOf(node.sending('q', 'waiting'));
    await world.clock.advance(6 * second);
    const requests = node.store.count();
    assert.equal(await answerOf(node.sending('q', 'late')), 'unavailable');
    assert.equal(node.store.count(), requests);
    assert.equal(await world.run(first), 'unavailable');
    assert.equal(await world.run(waiting), 'unavailable');
    node.store.scriptsEnd();
    assert.equal(await world.run(answerOf(node.sending('q', 'after'))), 'done');
  });

  scenario('that never answers a swap makes its batch unavailable after twenty seconds', async (world) => {
    const node = world.startNode();
    await node.create('q');
    node.store.script({ ...swap, times: 1000 }, requestLost);
    const started = world.clock.monotonicMillis();
    assert.equal(await world.run(answerOf(node.sending('q', 'x'))), 'unavailable');
    const waited = world.clock.monotonicMillis() - started;
    assert.ok(waited > 19 * second && waited < 23 * second, `${waited} ms`);
    assert.ok(node.store.count() < 100, `${node.store.count()} requests`);
  });
});

describe('an attempt', () => {
  scenario('older than five seconds since its apply is applied anew', async (world) => {
    // The process is stopped between the look at the clock and the swap: a lease of 3 s would be over when it lands.
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'x');
    let paused = false;
    node.random.onBytes = (count) => {
      if (count === 8 && !paused) {
        paused = true;
        world.clock.jump(6 * second);
      }
    };
    await node.receiveOne('q', { visibilityTimeoutSeconds: 3 });
    assert.ok(paused);
    assert.deepEqual(await node.counts('q'), [0, 1, 0]);
  });
});

describe('what waits for one queue', () => {
  scenario('is bounded in number', async (world) => {
    const node = world.startNode();
    await node.create('q');
    const gate = new Gate();
    node.store.script(swap, gate.before);
    const first = node.sending('q', 'x');
    await world.run(gate.reached);
    const calls = Array.from({ length: pendingCommandsMax + 3 }, () =>
      answerOf(node.service.deleteMessages('q', [])),
    );
    await world.clock.advance(second);
    gate.open();
    const answers = await world.run(Promise.all(calls));
    await world.run(first);
    assert.equal(answers.filter((answer) => answer === 'unavailable').length, 3);
  });

  scenario('is bounded in bytes', async (world) => {
    const node = world.startNode();
    await node.create('q');
    const gate = new Gate();
    node.store.script(swap, gate.before);
    const first = node.sending('q', 'x');
    await world.run(gate.reached);
    const mebibyte = { ...entryOf('y'), contentBytes: 1024 * 1024 };
    const count = pendingBytesMax / mebibyte.contentBytes;
    const calls = Array.from({ length: count + 1 }, () =>
      answerOf(node.service.send('q', 'AIDATEST', [mebibyte])),
    );
    gate.open();
    const answers = await world.run(Promise.all(calls));
    await world.run(first);
    assert.equal(answers.filter((answer) => answer === 'unavailable').length, 1);
    assert.equal(answers.filter((answer) => answer === 'done').length, count);
  });
});

describe('what one commit takes', () => {
  /** So many messages are there, and so many receives that ask for ten each. */
  const receives = Math.ceil((2.5 * batchDeliveriesMax) / 10);
  const bodies = Array.from({ length: receives * 10 }, () => 'x');

  scenario('is bounded in deliveries', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', ...bodies);
    const { version } = await world.state('q');
    const answers = await world.run(Promise.all(Array.from({ length: receives }, () => node.receiving('q'))));
    assert.ok(answers.every((messages) => messages.length === 10));
    assert.equal((await world.state('q')).version - version, 3);
  });

  scenario('is bounded in deliveries to receives that waited', async (world) => {
    const node = world.startNode();
    await node.create('q');
    const answers = Promise.all(
      Array.from({ length: receives }, () => node.receiving('q', { waitSeconds: 20 })),
    );
    await world.clock.advance(second);
    const { version } = await world.state('q');
    await node.send('q', ...bodies);
    assert.ok((await world.run(answers)).every((messages) => messages.length === 10));
    assert.equal((await world.state('q')).version - version, 3);
  });
});

describe('the end of a process', () => {
  scenario('answers waiting receives empty, finishes commits, refuses what comes later', async (world) => {
    const node = world.startNode({ lingerMillis: 1000 });
    await node.create('q');
    const received = node.receiving('q', { waitSeconds: 20 });
    await world.clock.advance(5 * second);
    const deleted = node.service.deleteMessages('q', []);
    await world.clock.advance(1);
    const stopped = node.engine.stop();
    await world.run(stopped, second);
    assert.deepEqual(await world.run(received, 1), []);
    assert.equal((await world.run(deleted, 1)).kind, 'done');
    await assert.rejects(node.service.receive('q', receiveDefaults()), Unavailable);
  });

  scenario('waits for no receive that parks while it stops', async (world) => {
    // 1. a long poll's commit is on its way and will find nothing; 2. the process stops; 3. the commit is answered: the
    // poll must end now, not in 20 s.
    const [node, other] = [world.startNode(), world.startNode()];
    await node.create('q');
    await node.send('q', 'x');
    await other.delete('q', await other.receiveOne('q'));
    const gate = new Gate();
    node.store.script({ method: 'get', key: manifestKey('q') }, gate.before);
    const received = node.receiving('q', { waitSeconds: 20 });
    await world.run(gate.reached);
    const stopped = node.engine.stop();
    gate.open();
    await world.run(stopped, second);
    assert.deepEqual(await world.run(received, 1), []);
  });

  scenario('waits for no receive whose queue was still being looked up', async (world) => {
    const [node, other] = [world.startNode(), world.startNode()];
    await other.create('q');
    const gate = new Gate();
    node.store.script({ method: 'get', key: manifestKey('q') }, gate.before);
    const received = node.receiving('q', { waitSeconds: 20 });
    await world.run(gate.reached);
    await world.run(node.engine.stop(), second);
    gate.open();
    assert.deepEqual(await world.run(received, second), []);
  });
});
