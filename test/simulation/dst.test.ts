/** A few fixed seeds in every run of the unit tests, and proof that a seed is a whole run. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runSeed } from './run.ts';
import { DigestTrace } from './trace.ts';

const calls = 400;

describe('a simulated cluster', () => {
  for (const seed of ['unit-1', 'unit-2', 'unit-3', 'unit-4', 'unit-5', 'unit-6'])
    it(`keeps every promise under seed ${seed}`, async () => {
      const { failure, landings } = await runSeed(seed, undefined, calls);
      assert.equal(failure, undefined);
      assert.ok(landings > 0);
    });

  it('plays a seed twice alike, to the last random number', async () => {
    const runs = [];
    for (let run = 0; run < 2; run++) {
      const trace = new DigestTrace();
      const { nextRandom, endedAt } = await runSeed('unit-twice', trace, calls);
      runs.push({ digest: trace.digest, lines: trace.lines, nextRandom, endedAt });
    }
    assert.deepEqual(runs[0], runs[1]);
  });

  it('tells in its trace which deliveries a call settles', async () => {
    const lines: string[] = [];
    await runSeed('unit-1', new DigestTrace((line) => lines.push(line)), calls);
    assert.deepEqual(
      lines.filter((line) => /undefined|unheard-of|NaN/.test(line)),
      [],
    );
    const settled = lines.flatMap((line) => /: (?:delete|visibility) \S+ (\S+#\d+)/.exec(line)?.[1] ?? []);
    assert.ok(settled.length > 10);
    for (const delivery of settled)
      assert.ok(
        lines.some((line) => / → received /.test(line) && line.split(' ').includes(delivery)),
        delivery,
      );
  });
});
