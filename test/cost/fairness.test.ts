/**
 * A message group that sends a hundred times as much keeps the others waiting at most twice as long: the real engine in
 * virtual time, a minute of what `just fairness` does for ten.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fairRows, measureFairness, ratioMax } from '../../bench/fairness.ts';

describe('quiet message groups of a standard queue', () => {
  for (const { title, load } of fairRows.filter(({ judged }) => judged))
    it(`wait at most ${ratioMax} times as long beside a busy one: ${title}`, async () => {
      const { beside, ratio } = await measureFairness(load, 60);
      assert.ok(beside.waiting > 1_000, `${beside.waiting} messages wait: there is no backlog`);
      assert.ok(ratio <= ratioMax, `${ratio.toFixed(2)} times`);
      assert.ok(beside.busyMillis.length > 1_000, 'the busy one is served, too');
      assert.ok(beside.manifestBytesMax < 512 * 1024, `${beside.manifestBytesMax} bytes of manifest`);
    });
});
