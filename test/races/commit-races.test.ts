/**
 * Two or three commit loops on one queue, whatever the order in which the store's answers, time and the callers come,
 * with answers lost, requests sent twice and clients that hang up. `OKURI_RACE_RUNS` asks for a longer search.
 */
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { drawnOrder, type Order, scheduledOrder } from './order.ts';
import { type ClientStep, Race } from './race.ts';
import { type Fate, fates } from './race-ground.ts';

const asked = Number(globalThis.process?.env.OKURI_RACE_RUNS ?? '');
const numRuns = asked > 0 ? asked : 250;

const anyNode = fc.nat(2);
const anyStep: fc.Arbitrary<ClientStep> = fc.oneof(
  fc.record({ kind: fc.constant('send' as const), node: anyNode }, { noNullPrototype: true }),
  fc.record(
    {
      kind: fc.constant('take' as const),
      node: anyNode,
      waitSeconds: fc.constantFrom(0, 0, 2),
      visibilitySeconds: fc.constantFrom(30, 30, 1),
      maxMessages: fc.constantFrom(10, 1),
      after: fc.constantFrom('keep', 'delete', 'delete', 'give back'),
      afterNode: anyNode,
      hangsUp: fc.constantFrom(false, false, false, true),
    },
    { noNullPrototype: true },
  ),
);

const nodes = fc.integer({ min: 2, max: 3 });
const clients = fc.array(fc.array(anyStep, { minLength: 1, maxLength: 5, size: 'max' }), {
  minLength: 1,
  maxLength: 5,
  size: 'max',
});
/** Most requests fare well, or nothing would get far. */
const drawnFates: fc.Arbitrary<Fate[]> = fc.array(
  fc.oneof({ weight: 1, arbitrary: fc.constant('plain' as const) }, fc.constantFrom(...fates)),
  { maxLength: 40, size: 'max' },
);

async function race(
  order: Order,
  nodeCount: number,
  steps: readonly (readonly ClientStep[])[],
  drawn: readonly Fate[],
): Promise<void> {
  const run = new Race(order, nodeCount);
  try {
    await run.run(steps, drawn);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new Error(`${what}\n${run.ground.history.join('\n')}`, { cause: error });
  }
}

describe('commit loops that race for one queue', () => {
  it('lose, double and bring back nothing, in the order of a scheduler', async () => {
    await fc.assert(
      fc.asyncProperty(nodes, clients, drawnFates, fc.scheduler(), (count, steps, drawn, scheduler) =>
        race(scheduledOrder(scheduler), count, steps, drawn),
      ),
      { numRuns, includeErrorInReport: true },
    );
  });

  it('lose, double and bring back nothing, in an order that can be shrunk', async () => {
    const places = fc.array(fc.nat(7), { maxLength: 300, size: 'max' });
    await fc.assert(
      fc.asyncProperty(nodes, clients, drawnFates, places, (count, steps, drawn, order) =>
        race(drawnOrder(order), count, steps, drawn),
      ),
      { numRuns, includeErrorInReport: true },
    );
  });
});
