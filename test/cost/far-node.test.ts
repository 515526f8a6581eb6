/**
 * A node far from the store beside a near one that is never idle (engine/turn.ts). Without a turn of its own the far
 * one lands nothing at all at a linger of 20 ms: its swap takes longer than the near one's window.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Distance } from '../../bench/simulated-store.ts';
import { Workload } from '../../bench/workload.ts';

const near: Distance = {
  put: { medianMillis: 10, p99Millis: 34 },
  get: { medianMillis: 4, p99Millis: 16 },
};
const far: Distance = {
  put: { medianMillis: 120, p99Millis: 410 },
  get: { medianMillis: 60, p99Millis: 240 },
};

async function droughts(lingerMillis: number, ratePerSecond: number, distances: readonly Distance[]) {
  const result = await new Workload({
    seed: 5,
    nodes: distances.length,
    distances,
    ratePerSecond,
    lastNodeShare: 0.05,
    seconds: 60,
    tuning: { lingerMillis },
  }).run();
  assert.equal(result.failed, 0);
  return result.longestDroughtMillis;
}

describe('a far node', () => {
  for (const [lingerMillis, ratePerSecond] of [
    [0, 200],
    [20, 100],
    [20, 500],
    [100, 100],
  ] as const)
    it(`is never without a commit for 5 s at linger ${lingerMillis}, ${ratePerSecond}/s`, async () => {
      for (const millis of await droughts(lingerMillis, ratePerSecond, [near, far]))
        assert.ok(millis <= 5_000, `${millis.toFixed(0)} ms`);
    });

  it('gets its turn among several near ones too', async () => {
    for (const millis of await droughts(20, 200, [near, near, near, far]))
      assert.ok(millis <= 5_000, `${millis.toFixed(0)} ms`);
  });
});
