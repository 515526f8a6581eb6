/** Who wrote what: writer entries, their pruning, and ids that are never used again (DESIGN.md section 3 †). */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { answerLost, Gate, requestLost } from '../../test/support/scripted-store.ts';
import { bodiesOf, scenario, second, type World } from '../../test/support/world.ts';
import { WRITERS_MAX } from '../core/limits.ts';
import { manifestKey } from '../format/object-keys.ts';
import { Unavailable } from './queue-api.ts';

const swap = { method: 'putIfMatch', key: manifestKey('q') } as const;

async function otherWriters(world: World, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const other = world.startNode();
    await other.send('q', `other ${n}`);
    other.kill();
  }
}

async function bodies(world: World): Promise<readonly string[]> {
  return [...(await world.state('q')).tail.values()].map(({ message }) => message.body);
}

describe('writers', () => {
  scenario('a batch whose writer was pruned is given up and never applied again', async (world) => {
    // 1. the swap lands, its answer is lost; 2. 64 other writers commit before the GET: the entry is gone; 3. nobody
    // can tell whether it landed: 503, and the loop goes on with the next batch.
    const node = world.startNode({ timing: { unresolvedAgeMaxMillis: 600 * second } });
    await node.create('q');
    const gate = new Gate();
    node.store.script(swap, answerLost);
    node.store.script({ method: 'get', key: manifestKey('q') }, gate.before);
    const sent = node.sending('q', 'pruned');
    await world.run(gate.reached);
    await otherWriters(world, WRITERS_MAX);
    gate.open();
    await assert.rejects(world.run(sent), Unavailable);
    await world.clock.advance(60 * second);
    assert.equal((await bodies(world)).filter((body) => body === 'pruned').length, 1);
    await node.send('q', 'next');
    assert.equal((await bodies(world)).filter((body) => body === 'next').length, 1);
  });

  scenario('63 others do not prune a writer', async (world) => {
    const node = world.startNode({ timing: { unresolvedAgeMaxMillis: 600 * second } });
    await node.create('q');
    const gate = new Gate();
    node.store.script(swap, answerLost);
    node.store.script({ method: 'get', key: manifestKey('q') }, gate.before);
    const sent = node.sending('q', 'kept');
    await world.run(gate.reached);
    await otherWriters(world, WRITERS_MAX - 1);
    gate.open();
    assert.equal((await world.run(sent)).kind, 'done');
    assert.equal((await bodies(world)).filter((body) => body === 'kept').length, 1);
  });

  scenario(
    'a batch given up while on its way may land; the next batch is not taken for it',
    async (world) => {
      // 1. attempt 1 is held, the client gives up at 20 s; 2. attempt 1 lands; 3. the next batch conflicts, finds attempt
      // 1's entry, which is none of its own, and is applied.
      const node = world.startNode();
      await node.create('q');
      const late = new Gate();
      node.store.script(swap, late.late);
      node.store.script({ ...swap, skip: 1, times: 1000 }, requestLost);
      const sent = node.sending('q', 'late');
      await assert.rejects(world.run(sent), Unavailable);
      await late.landLate();
      const other = world.startNode();
      assert.deepEqual(bodiesOf(await other.receive('q')), ['late']);
      const version = (await world.state('q')).version;
      assert.equal(version, 3);
    },
  );

  scenario('a new loop of the same process and a new process write under new ids', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'a');
    const first = (await world.state('q')).writers.map(({ id }) => id);
    await world.run(node.service.deleteQueue('q'));
    await node.create('q');
    await node.send('q', 'b');
    const second = (await world.state('q')).writers.map(({ id }) => id);
    node.kill();
    await world.startNode().send('q', 'c');
    const third = (await world.state('q')).writers.map(({ id }) => id);
    assert.equal(first.length, 1);
    assert.equal(second.length, 1);
    assert.equal(third.length, 2);
    assert.equal(new Set([...first, ...second, ...third]).size, 3);
  });
});
