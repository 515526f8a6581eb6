import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { queueLimits } from '../../src/core/limits.ts';
import { QueueRun } from './queue-run.ts';
import { groupScriptArbitrary, scriptArbitrary } from './script.ts';

// A name of its own, so that a long search can be asked for without slowing every other property.
const asked = Number(globalThis.process?.env.OKURI_MODEL_RUNS ?? '');
const numRuns = asked > 0 ? asked : 150;

describe('the state machine', () => {
  it('does what the model does, on any schedule', () => {
    fc.assert(
      fc.property(scriptArbitrary, (script) => {
        const run = new QueueRun();
        for (const step of script) run.step(step);
      }),
      { numRuns },
    );
    assert.ok(true);
  });

  it('does what the model does with message groups, too', () => {
    fc.assert(
      fc.property(groupScriptArbitrary, (script) => {
        const run = new QueueRun(queueLimits);
        for (const step of script) run.step(step);
      }),
      { numRuns },
    );
    assert.ok(true);
  });
});
