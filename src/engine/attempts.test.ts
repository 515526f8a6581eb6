/** What a lost answer may not do: every attempt is looked for before anything is applied again (DESIGN.md section 3 †). */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { answerLost, Gate, refused, requestLost, sentTwice } from '../../test/support/scripted-store.ts';
import { bodiesOf, entryOf, kindOf, scenario, second, type World } from '../../test/support/world.ts';
import { manifestKey, objectsPrefix } from '../format/object-keys.ts';

const swapOf = (queue: string) => ({ method: 'putIfMatch', key: manifestKey(queue) }) as const;

async function everything(world: World): Promise<string[]> {
  return bodiesOf(await world.startNode().receive('q'));
}

describe('an attempt whose answer was no proof', () => {
  scenario('a send whose answer was lost is there once', async (world) => {
    // 1. the swap lands; 2. its answer is lost; 3. the GET shows its writer entry: done, not again.
    const node = world.startNode();
    await node.create('q');
    node.store.script(swapOf('q'), answerLost);
    await node.send('q', 'a');
    assert.deepEqual(await everything(world), ['a']);
    assert.equal(node.engine.counters().lateHits, 1);
  });

  scenario('a send whose request was lost is applied again, once', async (world) => {
    const node = world.startNode();
    await node.create('q');
    node.store.script(swapOf('q'), requestLost);
    await node.send('q', 'a');
    assert.deepEqual(await everything(world), ['a']);
    assert.equal(node.engine.counters().unknowns, 1);
  });

  scenario('a send that was refused before it left is sent again', async (world) => {
    const node = world.startNode();
    await node.create('q');
    node.store.script({ ...swapOf('q'), times: 3 }, refused);
    await node.send('q', 'a');
    assert.deepEqual(await everything(world), ['a']);
  });

  scenario("a 412 for one's own success is a success", async (world) => {
    // 1. a proxy sends the swap twice; 2. the first copy lands; 3. the second gets 412, which is all we hear.
    const node = world.startNode();
    await node.create('q');
    node.store.script(swapOf('q'), sentTwice);
    await node.send('q', 'a');
    assert.deepEqual(await everything(world), ['a']);
    assert.equal(node.engine.counters().conflicts, 1);
    assert.equal(node.engine.counters().lateHits, 1);
  });

  scenario('an older attempt that lands first is found when the newer one conflicts', async (world) => {
    // 1. attempt 1 is on its way, its client gave up; 2. the GET shows nothing of it; 3. attempt 2 is sent on the same
    // base; 4. attempt 1 lands; 5. attempt 2 gets 412; 6. the GET shows attempt 1: its outcomes stand.
    const node = world.startNode();
    await node.create('q');
    const [older, newer] = [new Gate(), new Gate()];
    node.store.script(swapOf('q'), older.late);
    node.store.script({ ...swapOf('q'), skip: 1 }, newer.before);
    const sent = node.sending('q', 'a');
    await world.run(newer.reached);
    assert.equal(await older.landLate(), 'done');
    newer.open();
    assert.equal((await world.run(sent)).kind, 'done');
    assert.deepEqual(await everything(world), ['a']);
    assert.equal((await world.state('q')).version, 3, 'create, attempt 1, receive');
  });

  scenario('an older attempt that lands after the newer one changes nothing', async (world) => {
    // 1. attempt 1 is held; 2. attempt 2 lands; 3. attempt 1 arrives: its base is gone, 412.
    const node = world.startNode();
    await node.create('q');
    const older = new Gate();
    node.store.script(swapOf('q'), older.late);
    await node.send('q', 'a');
    assert.equal(await older.landLate(), 'conflict');
    await node.send('q', 'b');
    assert.deepEqual(await everything(world), ['a', 'b']);
  });

  scenario('an attempt that lands under others is found below their commits', async (world) => {
    // 1. attempt 1 of A lands, its answer is lost; 2. B commits on top; 3. A's GET shows B's version: still A's entry.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await b.send('q', 'b1');
    const gate = new Gate();
    a.store.script(swapOf('q'), answerLost);
    a.store.script({ method: 'get', key: manifestKey('q') }, gate.before);
    const sent = a.sending('q', 'a');
    await world.run(gate.reached);
    await b.send('q', 'b2');
    gate.open();
    assert.equal((await world.run(sent)).kind, 'done');
    assert.deepEqual(await everything(world), ['a', 'b1', 'b2']);
  });

  scenario('a receive is answered with the tokens of the attempt that landed', async (world) => {
    // 1. attempt 1 leases with its tokens and is on its way; 2. attempt 2 leases with others; 3. attempt 1 lands;
    // 4. attempt 2 gets 412. The client must get the handles of attempt 1: those of 2 hold nothing.
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'a');
    const [older, newer] = [new Gate(), new Gate()];
    node.store.script(swapOf('q'), older.late);
    node.store.script({ ...swapOf('q'), skip: 1 }, newer.before);
    const received = node.receiving('q');
    await world.run(newer.reached);
    await older.landLate();
    newer.open();
    const messages = await world.run(received);
    assert.equal(messages[0]?.receiveCount, 1);
    await node.delete('q', ...messages);
    assert.deepEqual(await node.counts('q'), [0, 0, 0], 'the handle held the message');
  });

  scenario('a delete whose answer was lost took effect once', async (world) => {
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'a');
    const message = await node.receiveOne('q');
    node.store.script(swapOf('q'), answerLost);
    await node.delete('q', message);
    await node.delete('q', message);
    assert.deepEqual(await node.counts('q'), [0, 0, 0]);
  });

  scenario('a purge is not repeated over later sends of others', async (world) => {
    // 1. A's purge lands, its answer is lost; 2. B sends; 3. A looks first: purging again would take B's message.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await a.send('q', 'old');
    const gate = new Gate();
    a.store.script(swapOf('q'), answerLost);
    a.store.script({ method: 'get', key: manifestKey('q') }, gate.before);
    const purged = a.service.purgeQueue('q').then(kindOf);
    await world.run(gate.reached);
    await b.send('q', 'new');
    gate.open();
    assert.equal(await world.run(purged), 'done');
    assert.deepEqual(await everything(world), ['new']);
  });

  scenario('a purge that lost its race takes what came first and nothing later', async (world) => {
    // 1. A's purge waits before the store; 2. B's send lands; 3. the purge conflicts, is applied anew: after the send.
    const [a, b] = [world.startNode(), world.startNode()];
    await a.create('q');
    await a.send('q', 'old');
    const gate = new Gate();
    a.store.script(swapOf('q'), gate.before);
    const purged = a.service.purgeQueue('q').then(kindOf);
    await world.run(gate.reached);
    await b.send('q', 'between');
    const held = await b.receiveOne('q');
    gate.open();
    assert.equal(await world.run(purged), 'done');
    await b.delete('q', held);
    await b.send('q', 'later');
    assert.deepEqual(await everything(world), ['later']);
  });

  scenario('is looked for again when the view moved on while something was loaded', async (world) => {
    // 1. attempt 1 (a send, beside a receive) is on its way; 2. the GET shows nothing of it; 3. by now a delayed message
    // is due: the next apply needs its segment; 4. attempt 1 lands; 5. the segment is missing, which makes the view
    // read the manifest: it shows attempt 1; 6. applied on that, the send would be there twice.
    const node = world.startNode();
    await node.create('q');
    const delayed = { ...entryOf('d'.repeat(100_000)), delaySeconds: 5 };
    await world.run(node.service.send('q', 'AIDATEST', [delayed]));
    const [segment] = await world.keys(objectsPrefix);
    await world.bucket.delete(segment!);
    const [dueAtMillis] = (await world.state('q')).delayed.values();
    await world.clock.advance(dueAtMillis! - world.clock.wallMillis() - 8);
    const [older, loading] = [new Gate(), new Gate()];
    node.store.script(swapOf('q'), older.late);
    node.store.script({ method: 'get', key: objectsPrefix }, loading.before);
    const sent = node.sending('q', 'a');
    const received = node.receiving('q', { visibilityTimeoutSeconds: 0 });
    await world.run(loading.reached);
    assert.equal(await older.landLate(), 'done');
    loading.open();
    assert.equal((await world.run(sent)).kind, 'done');
    await world.run(received);
    const { tail } = await world.state('q');
    assert.deepEqual(
      [...tail.values()].map(({ message }) => message.body),
      ['a'],
    );
  });

  scenario('that may still land is waited for when a later look finds nothing to do', async (world) => {
    // 1. a visibility change just within twelve hours is on its way; 2. a second later the same change is beyond them:
    // nothing to swap; 3. attempt 1 lands: the answer must be its outcome.
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'a');
    const message = await node.receiveOne('q');
    await world.clock.advance(10 * second);
    const older = new Gate();
    node.store.script(swapOf('q'), older.late);
    node.store.script({ ...swapOf('q'), skip: 1, times: 100 }, requestLost);
    const changed = node.service.changeVisibility('q', [
      { receiptHandle: message.receiptHandle, visibilityTimeoutSeconds: 43_189 },
    ]);
    await world.clock.advance(4 * second);
    assert.equal(await older.landLate(), 'done');
    const outcome = await world.run(changed);
    assert.deepEqual(outcome.kind === 'done' && outcome.entries, [{ kind: 'done' }]);
  });

  scenario('that never landed holds nobody up when a later look finds nothing to do', async (world) => {
    // 1. a visibility change just within twelve hours never arrives; 2. a moment later the same change is beyond them:
    // nothing to swap, and the version that attempt 1 aimed at stays free for as long as nobody else commits.
    const node = world.startNode();
    await node.create('q');
    await node.send('q', 'a');
    const message = await node.receiveOne('q');
    await world.clock.advance(10 * second - 20);
    node.store.script(swapOf('q'), requestLost);
    const changed = node.service.changeVisibility('q', [
      { receiptHandle: message.receiptHandle, visibilityTimeoutSeconds: 43_190 },
    ]);
    await world.clock.advance(200);
    const sent = node.sending('q', 'b');
    const began = world.clock.wallMillis();
    const [change, send] = await world.run(Promise.all([changed, sent]));
    assert.ok(world.clock.wallMillis() - began < 2 * second, 'both are answered within two seconds');
    assert.deepEqual(change.kind === 'done' && change.entries, [{ kind: 'beyond-limit' }]);
    assert.equal(send.kind, 'done');
    assert.equal(node.engine.counters().unknowns, 1);
  });
});
