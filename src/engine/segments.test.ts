/** Bodies in segments: read back, missing, damaged. What cannot be read is reported and passed over, never dropped. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { refused } from '../../test/support/scripted-store.ts';
import { bodiesOf, minute, receiveDefaults, scenario, second, type World } from '../../test/support/world.ts';
import { objectsPrefix } from '../format/object-keys.ts';
import { Unavailable } from './queue-api.ts';

const large = 'x'.repeat(100_000);

async function onlySegment(world: World): Promise<{ readonly key: string; readonly body: Uint8Array }> {
  const [key, ...more] = await world.keys(objectsPrefix);
  assert.ok(key !== undefined && more.length === 0);
  const found = await world.bucket.get(key);
  assert.equal(found.kind, 'done');
  return { key, body: found.kind === 'done' ? found.body : new Uint8Array() };
}

describe('segments', () => {
  scenario('bring back every message of a spilled tail on every node', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    const bodies = Array.from({ length: 50 }, (_, n) => `${n} `.padEnd(10_000, 'y'));
    for (let n = 0; n < bodies.length; n += 10) await a.send('q', ...bodies.slice(n, n + 10));
    const state = await world.state('q');
    assert.ok(state.segments.size > 0 && state.tail.size > 0, 'some spilled, some inline');
    const received: string[] = [];
    while (received.length < bodies.length) {
      const messages = await b.receive('q', { waitSeconds: 3 });
      assert.ok(messages.length > 0);
      received.push(...bodiesOf(messages));
    }
    assert.deepEqual(received.sort(), [...bodies].sort());
  });

  scenario('that a stale view names and another node deleted are read about anew', async (world) => {
    // 1. B sees S named; 2. A consumes S and collects it; 3. B's receive asks for S: 404. The manifest read after it
    // does not name S any more: not corruption.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await a.send('q', large);
    await b.send('q', 'other');
    await a.delete('q', ...(await a.receive('q', { waitSeconds: 3 })));
    await world.clock.advance(second);
    await a.delete('q', ...(await a.receive('q', { waitSeconds: 3 })));
    await world.clock.advance(10 * minute);
    assert.deepEqual(await world.keys(objectsPrefix), []);
    await a.send('q', 'small');
    assert.deepEqual(bodiesOf(await b.receive('q')), ['small']);
    assert.deepEqual(b.complaints, []);
  });

  scenario(
    'that are gone though the fresh manifest names them are reported and passed over',
    async (world) => {
      const [a, b] = [world.startNode(), world.startNode()];
      await a.create('q');
      await a.send('q', large);
      await a.send('q', 'small');
      const { key, body } = await onlySegment(world);
      await world.bucket.delete(key);
      assert.deepEqual(bodiesOf(await b.receive('q')), ['small'], 'other messages flow');
      assert.equal(b.complaints.length, 1);
      assert.match(b.complaints[0]!, /cannot be read/);
      await assert.rejects(world.run(b.service.receive('q', receiveDefaults())), Unavailable);
      assert.deepEqual(await b.counts('q'), [1, 1, 0], 'nothing was dropped');
      await world.bucket.put(key, body);
      assert.deepEqual(bodiesOf(await b.receive('q')), [large]);
    },
  );

  scenario('that are damaged are reported and passed over', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await a.send('q', large);
    await a.send('q', 'small');
    const { key, body } = await onlySegment(world);
    await world.bucket.put(key, body.with(50_000, body[50_000]! ^ 1));
    assert.deepEqual(bodiesOf(await b.receive('q')), ['small']);
    assert.ok(b.complaints.length > 0);
    await world.clock.advance(minute);
    assert.deepEqual(await b.counts('q'), [2, 0, 0]);
  });

  scenario('that cannot be read now are read later', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await a.send('q', large);
    b.store.script({ method: 'get', key: objectsPrefix, times: 2 }, refused);
    await assert.rejects(world.run(b.service.receive('q', receiveDefaults())), Unavailable);
    assert.deepEqual(bodiesOf(await b.receive('q', { waitSeconds: 20 })), [large]);
  });

  scenario('that cannot be read do not make a waiting receive spin', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await a.send('q', large);
    const { key } = await onlySegment(world);
    await world.bucket.put(key, new Uint8Array(100));
    const started = world.clock.monotonicMillis();
    assert.deepEqual(await b.receive('q', { waitSeconds: 20 }), []);
    assert.ok(world.clock.monotonicMillis() - started >= 20 * second);
    assert.ok(b.store.count() < 60, `${b.store.count()} requests in 20 s`);
    assert.ok(b.complaints.length <= 15, `${b.complaints.length} complaints in 20 s`);
  });
});
