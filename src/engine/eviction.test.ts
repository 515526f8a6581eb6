/** Loops of queues that nobody uses any more leave the memory of a process. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { bodiesOf, receiveDefaults, scenario, second } from '../../test/support/world.ts';
import { loopsMax } from './settings.ts';

describe('a process that meets many queues', () => {
  scenario('forgets the longest unused and reads them again when they are wanted', async (world) => {
    const node = world.startNode();
    await node.create('first');
    await node.send('first', 'kept in the bucket');
    for (let n = 0; n < loopsMax; n++) await node.create(`queue-${n}`);
    const before = node.store.count();
    assert.deepEqual(bodiesOf(await node.receive('first')), ['kept in the bucket']);
    const asked = node.store.count() - before;
    assert.ok(asked >= 2, `a GET and a swap, not ${asked}`);
    const again = node.store.count();
    await node.send('first', 'at hand');
    assert.equal(node.store.count() - again, 1);
  });

  scenario('keeps more of them while receives wait on all, one after the other', async (world) => {
    const node = world.startNode({ listTags: false });
    const queues = Array.from({ length: loopsMax + 20 }, (_, n) => `queue-${n}`);
    await world.run(Promise.all(queues.map((queue) => node.service.createQueue(queue, new Map()))));
    const wait = () => Promise.all(queues.map((queue) => node.receiving(queue, { waitSeconds: 1 })));
    await world.run(wait());
    await node.create('another');
    node.store.log.length = 0;
    const again = wait();
    await world.clock.advance(20);
    const polls = node.store.count('get m/');
    assert.ok(polls < 20, `${polls} queues were read again`);
    await world.run(again);
  });

  scenario('keeps those with a poll waiting', async (world) => {
    const node = world.startNode();
    await node.create('first');
    const parked = node.service.receive('first', { ...receiveDefaults(), waitSeconds: 20 });
    await world.clock.advance(second);
    for (let n = 0; n < loopsMax; n++) await node.create(`queue-${n}`);
    await node.send('first', 'x');
    const received = await world.run(parked, 5 * second);
    assert.equal(received.kind === 'done' && received.messages.length, 1);
  });
});
