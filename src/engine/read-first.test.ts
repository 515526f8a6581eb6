/** Reading before the swap (staleness.ts): when the view is stale more often than a GET costs in PUTs. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { refused } from '../../test/support/scripted-store.ts';
import { scenario, type TestNode, type World } from '../../test/support/world.ts';

async function alternate(world: World, a: TestNode, b: TestNode, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    await b.send('q', `b${n}`);
    await a.send('q', `a${n}`);
  }
  await world.clock.advance(10_000);
}

async function requestsOfSend(node: TestNode): Promise<string[]> {
  const from = node.store.log.length;
  await node.send('q', 'one more');
  return node.store.log.slice(from);
}

describe('a writer', () => {
  scenario('tells others in the manifest how long a read and a swap take it', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await alternate(world, a, b, 3);
    b.store.latencyMillis = 60;
    await alternate(world, a, b, 20);
    const rounds = (await world.state('q')).writers
      .map(({ roundMillis }) => roundMillis)
      .sort((x, y) => x - y);
    assert.equal(rounds.length, 2);
    assert.ok(rounds[0]! >= 20 && rounds[0]! <= 25, `${rounds[0]}`);
    assert.ok(rounds[1]! >= 120 && rounds[1]! <= 125, `${rounds[1]}`);
  });
});

describe('a commit', () => {
  scenario('reads first where other nodes commit in between', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await alternate(world, a, b, 5);
    await b.send('q', 'in between');
    assert.deepEqual(await requestsOfSend(a), ['get m/q', 'putIfMatch m/q']);
  });

  scenario('does not where the queue is its own, and stops when it has become so', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    for (let n = 0; n < 5; n++) await a.send('q', 'alone');
    assert.deepEqual(await requestsOfSend(a), ['putIfMatch m/q']);
    await alternate(world, a, b, 5);
    for (let n = 0; n < 40; n++) await a.send('q', 'alone again');
    assert.deepEqual(await requestsOfSend(a), ['putIfMatch m/q']);
  });

  scenario('does not where a GET is as dear as a PUT', async (world) => {
    const [a, b] = [world.startNode({ readPriceShare: 1 }), world.startNode()];
    await a.create('q');
    await alternate(world, a, b, 5);
    await b.send('q', 'in between');
    assert.deepEqual(await requestsOfSend(a), ['putIfMatch m/q', 'get m/q', 'putIfMatch m/q']);
  });

  scenario('that reads first and finds the queue deleted says so', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await alternate(world, a, b, 5);
    await world.run(b.service.deleteQueue('q'));
    const outcome = await world.run(a.sending('q', 'too late'));
    assert.equal(outcome.kind, 'queue-missing');
  });

  scenario('that cannot read first goes on and swaps', async (world) => {
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await alternate(world, a, b, 5);
    a.store.script({ method: 'get', key: 'm/q' }, refused);
    assert.deepEqual(await requestsOfSend(a), ['get m/q', 'putIfMatch m/q']);
  });
});
