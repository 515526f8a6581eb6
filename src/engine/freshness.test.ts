/** What a stale view may say: rule 5 of DESIGN.md section 3 †. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Gate } from '../../test/support/scripted-store.ts';
import { bodiesOf, scenario, second } from '../../test/support/world.ts';
import { manifestKey } from '../format/object-keys.ts';

const manifest = manifestKey('q');

describe('a stale view', () => {
  scenario('does not call a handle superseded that another node just gave out', async (world) => {
    // 1. B sees version v; 2. A leases at v+1; 3. the client deletes at B: B's cache has no such lease.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await b.send('q', 'x');
    const message = await a.receiveOne('q');
    await b.delete('q', message);
    assert.deepEqual(await a.counts('q'), [0, 0, 0]);
  });

  scenario('does not refuse a visibility change of a lease that another node just made', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await b.send('q', 'x');
    const message = await a.receiveOne('q');
    assert.equal(await b.changeVisibility('q', message, 0), 'done');
    await world.clock.advance(second);
    assert.equal((await a.receiveOne('q')).receiveCount, 2);
  });

  scenario('does not judge a redelivery by the lease before it', async (world) => {
    // 1. B leases (token 1) and knows it; 2. it expires; 3. A leases anew (token 2, later version); 4. the holder of
    // token 2 deletes at B, whose cache holds token 1.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await a.send('q', 'x');
    const earlier = await b.receiveOne('q', { visibilityTimeoutSeconds: 1 });
    await world.clock.advance(2 * second);
    const later = await a.receiveOne('q');
    await b.delete('q', earlier);
    assert.deepEqual(await a.counts('q'), [0, 1, 0], 'the superseded handle deleted nothing');
    assert.equal(await b.changeVisibility('q', earlier, 0), 'not-available');
    await b.delete('q', later);
    assert.deepEqual(await a.counts('q'), [0, 0, 0]);
  });

  scenario('does not answer a delete of a message that came back from an old version', async (world) => {
    // 1. B leases with a visibility of 0 (token 1, version v) and reads no more; 2. A's view is from before v, and A is
    // asked to delete with a handle of version v: it must look, not answer "superseded" from what it knows.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await a.send('q', 'x');
    const message = await b.receiveOne('q', { visibilityTimeoutSeconds: 0 });
    const before = a.store.count(`get ${manifest}`);
    await a.delete('q', message);
    assert.ok(a.store.count(`get ${manifest}`) > before);
    assert.deepEqual(await b.counts('q'), [0, 0, 0]);
  });

  scenario('a repeated delete is answered from a read that began after it came', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'x');
    const message = await node.receiveOne('q');
    await node.delete('q', message);
    const reads = node.store.count(`get ${manifest}`);
    const swaps = node.store.count('putIfMatch');
    await node.delete('q', message);
    assert.equal(node.store.count(`get ${manifest}`), reads + 1);
    assert.equal(node.store.count('putIfMatch'), swaps, 'nothing to write');
  });

  scenario('a read that began before a command came does not answer it', async (world) => {
    // 1. B reads for a repeated delete; the read passes the store, its answer is on the way; 2. A raises the limit on
    // sizes; 3. B gets a send above the old limit; 4. the old read arrives: it began too early to refuse that send.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q', { MaximumMessageSize: '1024' });
    await b.send('q', 'x');
    const message = await b.receiveOne('q');
    await b.delete('q', message);
    const gate = new Gate();
    b.store.script({ method: 'get', key: manifest }, gate.after);
    const repeated = b.deleting('q', message);
    await world.run(gate.reached);
    await world.run(a.service.setQueueAttributes('q', new Map([['MaximumMessageSize', '4096']])));
    const sent = b.sending('q', 'y'.repeat(2000));
    gate.open();
    await world.run(repeated);
    const outcome = await world.run(sent);
    assert.deepEqual(outcome.kind === 'done' && outcome.entries.map(({ kind }) => kind), ['sent']);
  });

  scenario('attributes set on one node hold in the next commit of another', async (world) => {
    // 1. B caches the queue with a limit of 1 MiB; 2. A lowers it; 3. B's send conflicts and is judged anew.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await b.send('q', 'x');
    const set = a.service.setQueueAttributes('q', new Map([['MaximumMessageSize', '1024']]));
    assert.equal((await world.run(set)).kind, 'done');
    const sent = await world.run(b.sending('q', 'y'.repeat(2000)));
    assert.deepEqual(sent.kind === 'done' && sent.entries, [{ kind: 'too-large', maximumBytes: 1024 }]);
    const raised = b.service.setQueueAttributes('q', new Map([['MaximumMessageSize', '4096']]));
    await world.run(raised);
    await a.send('q', 'y'.repeat(2000));
  });

  scenario('a message that is too large is refused by a fresh state only', async (world) => {
    // 1. B caches a limit of 1024; 2. A raises it; 3. B's first send would be refused by what it knows.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q', { MaximumMessageSize: '1024' });
    await b.send('q', 'x');
    await world.run(a.service.setQueueAttributes('q', new Map([['MaximumMessageSize', '4096']])));
    await b.send('q', 'y'.repeat(2000));
  });
});

describe('empty receives', () => {
  scenario('short polls read the store on the polling schedule, not each time', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.receive('q');
    const before = node.store.count();
    for (let n = 0; n < 200; n++) {
      assert.deepEqual(await node.receive('q'), []);
      await world.clock.advance(100);
    }
    // 20 seconds: 50 ms doubling to 2 s make about 15.
    const reads = node.store.count() - before;
    assert.ok(reads >= 8 && reads <= 25, `${reads} reads`);
    assert.equal(node.store.count('list'), 0);
  });

  scenario("a short poll finds another node's message within two seconds or so", async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    for (let n = 0; n < 20; n++) {
      await b.receive('q');
      await world.clock.advance(second);
    }
    await a.send('q', 'x');
    await world.clock.advance(2.5 * second);
    assert.deepEqual(bodiesOf(await b.receive('q')), ['x']);
  });
});
