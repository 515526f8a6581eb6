/** How fast commits may come before the tail shrinks, and how far it does. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { scenario } from '../../test/support/world.ts';
import { queueLimits } from '../core/limits.ts';
import { objectsPrefix, parseObjectKey } from '../format/object-keys.ts';
import { TailPace } from './tail-pace.ts';

const full = queueLimits.tailBytesMax;

/** The tail's bound after 40 commits, each so long after the one before. */
function boundAt(everyMillis: number, perSample = 1): number {
  const pace = new TailPace();
  for (let n = 0; n < 40; n++) pace.sample(1 + n * perSample, n * everyMillis);
  return pace.bounded(queueLimits, 39 * everyMillis).tailBytesMax;
}

describe('the pace of commits', () => {
  it('leaves the tail alone up to 32 commits a second', () => {
    assert.equal(boundAt(100), full);
    assert.equal(boundAt(1000 / 32), full);
  });

  it('shrinks it beyond, so that all tails of a second together stay as large', () => {
    assert.equal(boundAt(1000 / 64), full / 2);
    assert.equal(boundAt(4), 33_555);
    assert.equal(boundAt(1), 8_389);
    assert.equal(boundAt(0.1), full / 32);
    fc.assert(
      fc.property(fc.double({ min: 1, max: 500, noNaN: true }), (everyMillis) => {
        assert.ok((1000 / everyMillis) * boundAt(everyMillis) <= 32 * full + 1000 / everyMillis);
      }),
    );
  });

  it('counts the commits of others', () => {
    assert.equal(boundAt(100, 10), boundAt(10));
  });

  it('is not told by a few commits, and is over after a silence', () => {
    const pace = new TailPace();
    for (let n = 0; n < 31; n++) pace.sample(n, n);
    assert.equal(pace.bounded(queueLimits, 31).tailBytesMax, full);
    pace.sample(31, 31);
    assert.ok(pace.bounded(queueLimits, 31).tailBytesMax < full);
    assert.equal(pace.bounded(queueLimits, 10_000).tailBytesMax, full);
  });

  scenario('of a fast store takes bodies out of the manifest that a slow one would keep', async (world) => {
    const [fast, slow] = [world.startNode(), world.startNode()];
    fast.store.latencyMillis = 1;
    for (const [node, queue] of [
      [fast, 'fast'],
      [slow, 'slow'],
    ] as const) {
      await node.create(queue);
      for (let n = 0; n < 100; n++) {
        await node.send(queue, 'x'.repeat(1_000));
        if (node === slow) await world.clock.advance(100);
      }
    }
    assert.ok((await world.state('fast')).segments.size > 3);
    assert.equal((await world.state('slow')).segments.size, 0);
  });

  scenario('is that of the whole batch: whatever was uploaded for it is named', async (world) => {
    const node = world.startNode();
    node.store.latencyMillis = 8;
    await node.create('q');
    for (let n = 0; n < 600; n++) await node.send('q', 'x'.repeat(1_000));
    const { segments } = await world.state('q');
    assert.ok(segments.size > 1);
    const uploaded = (await world.keys(objectsPrefix)).filter((key) => parseObjectKey(key)?.kind === 'seg');
    assert.equal(uploaded.length, segments.size);
  });
});
