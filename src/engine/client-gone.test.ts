/** A poll whose client has gone swallows nothing: what it leased is given back at once, receive count not raised. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Gate } from '../../test/support/scripted-store.ts';
import { receiveDefaults, scenario, second } from '../../test/support/world.ts';
import { manifestKey } from '../format/object-keys.ts';

describe('a client that goes away', () => {
  scenario('before its receive is looked at leases nothing', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'x');
    const swaps = node.store.count('putIfMatch');
    assert.deepEqual(await node.receive('q', { signal: AbortSignal.abort() }), []);
    assert.equal(node.store.count('putIfMatch'), swaps);
    assert.equal((await node.receiveOne('q')).receiveCount, 1);
  });

  scenario('while it waits ends its wait at once, and a later message is not for it', async (world) => {
    const node = world.startNode();
    await node.create('q');
    const client = new AbortController();
    const received = node.receiving('q', { waitSeconds: 20, signal: client.signal });
    await world.clock.advance(5 * second);
    client.abort();
    assert.deepEqual(await world.run(received, 50), []);
    await node.send('q', 'x');
    assert.equal((await node.receiveOne('q')).receiveCount, 1);
  });

  scenario('while its lease is committed gets it released at once', async (world) => {
    // 1. the swap with the lease is on its way; 2. the client goes; 3. the swap lands; 4. the lease is released.
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'x');
    const gate = new Gate();
    node.store.script({ method: 'putIfMatch', key: manifestKey('q') }, gate.after);
    const client = new AbortController();
    const received = node.receiving('q', { signal: client.signal });
    await world.run(gate.reached);
    client.abort();
    gate.open();
    assert.deepEqual(await world.run(received), []);
    assert.deepEqual(await node.counts('q'), [1, 0, 0]);
    assert.equal((await node.receiveOne('q')).receiveCount, 1);
  });

  scenario('after the commit, before a byte was written, gets it released at once', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'x');
    const outcome = await world.run(node.service.receive('q', receiveDefaults()));
    assert.ok(outcome.kind === 'done' && outcome.messages.length === 1);
    if (outcome.kind !== 'done') return;
    await world.run(Promise.all([outcome.undelivered(), outcome.undelivered()]));
    assert.deepEqual(await node.counts('q'), [1, 0, 0]);
    await node.delete('q', ...outcome.messages);
    assert.equal((await node.receiveOne('q')).receiveCount, 1, 'the handle nobody got is void');
  });

  scenario(
    'gives a redelivery back with the count it had, and the earlier handle stays superseded',
    async (world) => {
      const node = world.startNode();
      await node.create('q');
      await node.send('q', 'x');
      const first = await node.receiveOne('q', { visibilityTimeoutSeconds: 0 });
      const outcome = await world.run(node.service.receive('q', receiveDefaults()));
      assert.ok(outcome.kind === 'done' && outcome.messages[0]?.receiveCount === 2);
      if (outcome.kind === 'done') await world.run(outcome.undelivered());
      await node.delete('q', first);
      assert.equal((await node.receiveOne('q')).receiveCount, 2);
    },
  );

  scenario('too late does not take the message from its next holder', async (world) => {
    // 1. a lease of 1 s is made and never delivered; 2. it expires, another client leases; 3. the release comes.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await a.send('q', 'x');
    const outcome = await world.run(
      a.service.receive('q', { ...receiveDefaults(), visibilityTimeoutSeconds: 1 }),
    );
    await world.clock.advance(2 * second);
    const holder = await b.receiveOne('q');
    if (outcome.kind === 'done') await world.run(outcome.undelivered());
    assert.deepEqual(await b.counts('q'), [0, 1, 0]);
    await b.delete('q', holder);
    assert.deepEqual(await b.counts('q'), [0, 0, 0]);
  });

  scenario('wakes another that waits for what it gave back', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'x');
    const outcome = await world.run(node.service.receive('q', receiveDefaults()));
    const waiting = node.receiving('q', { waitSeconds: 20 });
    await world.clock.advance(second);
    if (outcome.kind === 'done') await world.run(outcome.undelivered());
    const messages = await world.run(waiting, 100);
    assert.equal(messages[0]?.receiveCount, 1);
  });
});
