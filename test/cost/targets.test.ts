/**
 * What the protocol costs must not creep up: the real engine in virtual time at 100 messages/s and a linger of 100 ms,
 * by the prices and latencies of S3. The exact figures stand in docs/cost.md (`just cost --check`).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { quantile, Workload, type WorkloadOptions } from '../../bench/workload.ts';

const usual = { seed: 11, ratePerSecond: 100, seconds: 60, tuning: { lingerMillis: 100 } };

async function measured(options: Partial<WorkloadOptions> & { readonly nodes: number }) {
  const result = await new Workload({ ...usual, ...options }).run();
  assert.equal(result.failed, 0);
  assert.ok(result.deleted > 0.98 * result.sent, `${result.deleted} of ${result.sent} were consumed`);
  return { result, dollarsPerMillion: (result.dollars / result.sent) * 1e6 };
}

describe('a million messages, sent, received and deleted', () => {
  for (const [nodes, dollarsMax, p99MillisMax, lostMax] of [
    [1, 0.5, 300, 0],
    [2, 0.6, 400, 0.12],
    [4, 0.7, 800, 0.14],
  ] as const)
    it(`cost at most $${dollarsMax} on ${nodes} nodes`, async () => {
      const { result, dollarsPerMillion } = await measured({ nodes });
      assert.ok(dollarsPerMillion <= dollarsMax, `$${dollarsPerMillion.toFixed(3)}`);
      const p99Millis = quantile(result.endToEndMillis, 0.99);
      assert.ok(p99Millis <= p99MillisMax, `end-to-end p99 ${p99Millis.toFixed(0)} ms`);
      const lost = result.lostSwaps / result.requests.conditionalPut;
      assert.ok(lost <= lostMax, `${(100 * lost).toFixed(0)} % of the swaps were lost`);
      assert.equal(result.requests.list, 0);
    });

  it('are not made to wait for company that does not come', async () => {
    const { result } = await measured({ nodes: 1, ratePerSecond: 1, seconds: 300 });
    const p50Millis = quantile(result.endToEndMillis, 0.5);
    assert.ok(p50Millis < 55, `end-to-end p50 ${p50Millis.toFixed(0)} ms`);
  });
});
