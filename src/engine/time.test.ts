/** The store's time in the life of queues: DESIGN.md section 7 †. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Fault } from '../../test/support/scripted-store.ts';
import { bodiesOf, entryOf, hour, minute, scenario, second, type World } from '../../test/support/world.ts';
import type { PutOutcome } from '../store/object-store.ts';

const retention = { MessageRetentionPeriod: '60' } as const;

/** Writes on both sides of a minute: this node's bounds are confirmed by the second. */
async function confirmed(world: World, node: ReturnType<World['startNode']>): Promise<void> {
  await node.create('other');
  await node.send('other', 'x');
  await world.clock.advance(61 * second);
  await node.send('other', 'x');
}

describe('retention', () => {
  scenario('ends messages when their time is over, and not before', async (world) => {
    const node = world.startNode();
    await confirmed(world, node);
    await node.create('q', retention);
    await node.send('q', 'x');
    await world.clock.advance(50 * second);
    assert.deepEqual(await node.counts('q'), [1, 0, 0]);
    await world.clock.advance(11 * second);
    assert.deepEqual(await node.counts('q'), [0, 0, 0]);
    assert.deepEqual(await node.receive('q'), []);
    await node.send('q', 'y');
    assert.equal((await world.state('q')).tail.size, 1, 'the next commit dropped it');
  });

  scenario('ends messages in time for a node that only reads', async (world) => {
    // Its bounds came from its start, and nothing it does would confirm them.
    const [writer, reader] = [world.startNode(), world.startNode()];
    await reader.create('q', retention);
    await writer.send('q', 'x');
    await world.clock.advance(20 * hour);
    await reader.counts('q');
    await world.clock.advance(second);
    assert.deepEqual(await reader.counts('q'), [0, 0, 0]);
    assert.deepEqual(await reader.receive('q'), []);
    await world.clock.advance(minute);
    assert.ok(reader.store.count() < 20, `${reader.store.count()} requests`);
  });

  scenario('hides no message for a day when the Date of the store lies once', async (world) => {
    const node = world.startNode();
    await confirmed(world, node);
    await node.create('q');
    await node.send('q', 'x');
    world.storeSkewMillis = 24 * hour;
    await node.send('other', 'a lie');
    world.storeSkewMillis = 0;
    await node.receiveOne('q', { visibilityTimeoutSeconds: 30 });
    await world.clock.advance(31 * second);
    assert.deepEqual(bodiesOf(await node.receive('q', { waitSeconds: 3 })), ['x']);
  });

  scenario('ends what is in flight and delayed too', async (world) => {
    const node = world.startNode();
    await confirmed(world, node);
    await node.create('q', retention);
    await node.send('q', 'x');
    await node.receiveOne('q', { visibilityTimeoutSeconds: 600 });
    await world.run(node.service.send('q', 'AIDATEST', [{ ...entryOf('y'), delaySeconds: 900 }]));
    await world.clock.advance(62 * second);
    await node.send('q', 'z');
    assert.deepEqual(bodiesOf(await node.receive('q')), ['z']);
    assert.equal((await world.state('q')).tail.size, 1);
  });

  scenario('ends nothing early when the Date of the store lies once', async (world) => {
    // 1. messages of a minute's retention; 2. one answer says that it is a day later; 3. commits go on.
    const node = world.startNode();
    await node.create('q', retention);
    await node.send('q', 'x');
    world.storeSkewMillis = 24 * hour;
    await node.send('q', 'y');
    world.storeSkewMillis = 0;
    for (let n = 0; n < 4; n++) {
      await node.send('q', `z${n}`);
      await world.clock.advance(10 * second);
      assert.deepEqual(await node.counts('q'), [3 + n, 0, 0]);
    }
  });

  scenario('ends nothing early when a node begins while the Date of the store lies', async (world) => {
    const node = world.startNode();
    await node.create('q', retention);
    await node.send('q', 'x');
    world.storeSkewMillis = 24 * hour;
    const late = world.startNode();
    await late.send('q', 'y');
    assert.deepEqual(await late.counts('q'), [2, 0, 0]);
    await late.create('fresh', retention);
    world.storeSkewMillis = 0;
    await late.send('fresh', 'z');
    await world.clock.advance(50 * second);
    await node.send('fresh', 'z');
    assert.deepEqual(await world.startNode().counts('fresh'), [2, 0, 0]);
  });

  scenario('ends nothing early on a node whose own clock is a year ahead', async (world) => {
    const [right, wrong] = [world.startNode(), world.startNode({ skewMillis: 365 * 24 * hour })];
    await right.create('q', retention);
    await right.send('q', 'x');
    await wrong.send('q', 'y');
    await world.clock.advance(50 * second);
    await wrong.send('q', 'z');
    assert.deepEqual(await wrong.counts('q'), [3, 0, 0]);
    assert.ok(
      wrong.complaints.some((complaint) => complaint.includes('clock')),
      'it says so',
    );
  });
});

describe('stamps', () => {
  scenario('are high enough after long idling', async (world) => {
    // 1. a process learns the store's time and idles for a week; 2. the store's clock drifted ahead of ours; 3. a send
    // is stamped from bounds that widened meanwhile: a stamp in the past would shorten the life of the message.
    const node = world.startNode();
    await node.create('q', retention);
    await node.send('q', 'early');
    await world.clock.advance(7 * 24 * hour);
    world.storeSkewMillis = 2 * minute;
    await node.send('q', 'x');
    const { tail } = await world.state('q');
    const sentAt = [...tail.values()].at(-1)!.message.sentAtMillis;
    assert.ok(sentAt >= world.clock.wallMillis() + world.storeSkewMillis - second, 'not below the store');
  });

  scenario('are high enough after the machine slept', async (world) => {
    // The monotonic clock stood still for an hour, the wall clock went on.
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'early');
    world.storeSkewMillis += hour;
    node.clock.skewMillis += hour;
    await node.send('q', 'x');
    const sentAt = [...(await world.state('q')).tail.values()].at(-1)!.message.sentAtMillis;
    assert.ok(sentAt >= world.clock.wallMillis() + hour - second);
  });

  scenario('of a process that just began rest on the time of the store, not its own', async (world) => {
    const node = world.startNode({ skewMillis: -30 * 24 * hour });
    await node.create('q');
    await node.send('q', 'x');
    const message = await node.receiveOne('q');
    assert.ok(Math.abs(message.message.sentAtMillis - world.clock.wallMillis()) < second);
    assert.ok(Math.abs(message.firstReceivedAtMillis - world.clock.wallMillis()) < second);
  });
});

const withoutClock: Fault = async ({ land }) => ({ ...(await land()), time: undefined }) as PutOutcome;

describe('a store whose answers tell no time', () => {
  scenario('is asked again before a process goes by its own clock', async (world) => {
    // Found by the simulation (kept seed clocks-1): 1. the answer to the start-up PUT came by a cache; 2. the process
    // was taken to have bounds, had none, and stamped by its own clock, which was behind: retention ended it early.
    await world.startNode().create('q', retention);
    const node = world.startNode({ skewMillis: -hour });
    node.store.script({ method: 'put', key: 'probe/', times: 2 }, withoutClock);
    await node.send('q', 'x');
    const [entry] = (await world.state('q')).tail.values();
    assert.ok(Math.abs(entry!.message.sentAtMillis - world.clock.wallMillis()) < second);
  });

  scenario('never is served by the own clock in the end', async (world) => {
    const node = world.startNode();
    for (const method of ['put', 'putIfAbsent', 'putIfMatch'] as const)
      node.store.script({ method, key: '', times: 1e9 }, withoutClock);
    await node.create('q');
    await node.send('q', 'x');
    assert.equal((await node.receiveOne('q')).message.body, 'x');
  });
});

describe('visibility and delay', () => {
  scenario('agree among nodes whose clocks are hours apart', async (world) => {
    const [slow, fast] = [
      world.startNode({ skewMillis: -5 * hour }),
      world.startNode({ skewMillis: 5 * hour }),
    ];
    await slow.create('q', { VisibilityTimeout: '10' });
    await slow.send('q', 'x');
    await slow.receiveOne('q');
    await world.clock.advance(5 * second);
    assert.deepEqual(await fast.receive('q'), []);
    assert.deepEqual(await fast.counts('q'), [0, 1, 0]);
    await world.clock.advance(6 * second);
    assert.equal((await fast.receiveOne('q')).receiveCount, 2);
    await world.clock.advance(5 * second);
    assert.deepEqual(await slow.receive('q', { waitSeconds: 1 }), []);
    await world.clock.advance(6 * second);
    assert.equal((await slow.receiveOne('q', { waitSeconds: 3 })).receiveCount, 3);
  });

  scenario('a change counts from now and ends twelve hours after the receive', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'x');
    const message = await node.receiveOne('q');
    await world.clock.advance(20 * second);
    assert.equal(await node.changeVisibility('q', message, 30), 'done');
    await world.clock.advance(20 * second);
    assert.deepEqual(await node.counts('q'), [0, 1, 0]);
    assert.equal(await node.changeVisibility('q', message, 43_200), 'beyond-limit');
    assert.equal(await node.changeVisibility('q', message, 43_000), 'done');
    await world.clock.advance(43_001 * second);
    assert.equal((await node.receiveOne('q')).receiveCount, 2);
  });

  scenario('an expired handle still deletes while nobody else got the message', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'x');
    const message = await node.receiveOne('q', { visibilityTimeoutSeconds: 1 });
    await world.clock.advance(minute);
    await node.delete('q', message);
    assert.deepEqual(await node.counts('q'), [0, 0, 0]);
  });
});
