/**
 * The whole service, two processes of it on one bucket, does what a plain model of SQS allows, whatever clients and
 * operators do. `OKURI_SERVICE_MODEL_RUNS` asks for a longer search; a failure prints its seed and path, and the
 * commands that are left of it, with the replay path for `fc.commands`.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { redrivePolicy } from '../../support/world.ts';
import { counts } from './count-command.ts';
import { deletes, visibilityChanges } from './handle-commands.ts';
import { lastLook } from './last-look.ts';
import { creates, deadName, lists, lookUps, purges, queueDeletes, settings } from './queue-commands.ts';
import { racingReceives, receives, vanishings } from './receive-commands.ts';
import { crashes, sends, wakes } from './send-commands.ts';
import type { ServiceCommand } from './service-command.ts';
import { ServiceUnderTest } from './service-under-test.ts';
import { SqsModel } from './sqs-model.ts';
import { advances, outlivings, restarts } from './world-commands.ts';

const asked = Number(globalThis.process?.env.OKURI_SERVICE_MODEL_RUNS ?? '');
const numRuns = asked > 0 ? asked : 200;

/** As often as they are named: fc.commands draws evenly. */
function often<T>(times: number, command: fc.Arbitrary<T>): fc.Arbitrary<T>[] {
  return Array.from({ length: times }, () => command);
}

const commands = fc.commands(
  [
    ...often<ServiceCommand>(12, sends),
    ...often(12, receives),
    ...often(3, racingReceives),
    ...often(2, vanishings),
    ...often(2, wakes),
    ...often(8, deletes),
    ...often(6, visibilityChanges),
    ...often(6, counts),
    ...often(10, advances),
    ...often(2, creates),
    ...often(3, settings),
    lookUps,
    lists,
    queueDeletes,
    purges,
    ...often(2, restarts),
    crashes,
    outlivings,
  ],
  { maxCommands: 60, size: 'max' },
);

/** What the first queue is like; there is a second one for its dead letters. */
const firstAttributes: fc.Arbitrary<Readonly<Record<string, string>>> = fc.constantFrom(
  {},
  { VisibilityTimeout: '2' },
  { VisibilityTimeout: '2', RedrivePolicy: redrivePolicy(deadName, 2) },
  { MessageRetentionPeriod: '60', RedrivePolicy: redrivePolicy(deadName, 1) },
);

async function start(attributes: Readonly<Record<string, string>>) {
  const real = new ServiceUnderTest();
  const model = new SqsModel();
  const setBy = { attributesSetAt: real.now, attributesSetBy: real.life(0) };
  for (const [name, given] of [
    [deadName, {}],
    ['jobs', attributes],
  ] as const) {
    assert.equal(await real.node(0).create(name, given), 'created');
    model.queues.set(name, { name, attributes: new Map(Object.entries(given)), ...setBy });
  }
  return { model, real };
}

describe('two processes of the service on one bucket', () => {
  it('do what the model of SQS allows', async () => {
    await fc.assert(
      fc.asyncProperty(firstAttributes, commands, async (attributes, drawn) => {
        const started = await start(attributes);
        try {
          await fc.asyncModelRun(() => started, drawn);
          await lastLook(started.model, started.real);
        } catch (error) {
          const what = error instanceof Error ? error.message : String(error);
          throw new Error(`${what}\n${started.real.history.join('\n')}`, { cause: error });
        } finally {
          started.real.world.end();
        }
      }),
      { numRuns, includeErrorInReport: true },
    );
  });
});
