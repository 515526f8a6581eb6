import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { pageKinds } from '../../../src/core/pages.ts';
import { FifoRun, seen } from './fifo-run.ts';
import { scriptArbitrary } from './fifo-script.ts';

const asked = Number(globalThis.process?.env.OKURI_MODEL_RUNS ?? '');
const numRuns = asked > 0 ? asked : 150;

describe('a FIFO queue', () => {
  it('does what the reference model does, for any schedule', () => {
    fc.assert(
      fc.property(scriptArbitrary, (script) => {
        const run = new FifoRun();
        for (const step of script) run.step(step);
      }),
      { numRuns },
    );
    assert.deepEqual([...seen.pages].sort(), [...pageKinds].sort());
    for (const what of ['received', 'repeated', 'duplicates', 'expired', 'moved', 'compacted'] as const)
      assert.ok(seen[what] > 0, what);
  });
});
