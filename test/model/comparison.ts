/** Compares what src/core answered and has become with what the reference model says, in the words of the model. */
import assert from 'node:assert/strict';
import type { CommandResult } from '../../src/core/command.ts';
import type { StoredMessage } from '../../src/core/message.ts';
import type { QueueState } from '../../src/core/queue-state.ts';
import { has, iterate } from '../../src/core/range-set.ts';
import { locate, runIndexOf } from '../../src/core/run-index.ts';
import type { ModelOutcome } from './model-command.ts';
import type { ModelMessage } from './model-message.ts';
import type { QueueModel } from './queue-model.ts';

export type SegmentPlace = ReturnType<typeof locate>;

/** `state`: what the transition began with. */
export function compareOutcomes(
  state: QueueState,
  actual: readonly CommandResult[],
  expected: readonly ModelOutcome[],
): void {
  assert.deepEqual(actual.map(inWordsOfTheModel), expected.map(withoutLeases));
  for (const { outcome } of actual)
    if (outcome.kind === 'received')
      for (const { handle } of outcome.messages)
        assert.deepEqual([handle.incarnation, handle.leaseVersion], [state.incarnation, state.version + 1]);
}

/** `bodyAt`: of a message in a segment. */
export function compareStates(
  state: QueueState,
  model: QueueModel,
  bodyAt: (place: SegmentPlace) => StoredMessage,
): void {
  const index = runIndexOf(state.segments);
  const seen = model.messages.map((message) => describeMessage(state, message.sequence));
  const expected = model.messages.map(({ place, ...message }) => describeModel(place, message));
  assert.deepEqual(seen, expected);
  const { deliveries, delayed, intents } = state;
  const live = deliveries.size + delayed.size + intents.size + readySize(state);
  assert.equal(live, model.messages.length);
  for (const message of model.messages) {
    const place = locate(index, message.sequence);
    const body = state.tail.get(message.sequence)?.message ?? bodyAt(place);
    const shift = message.spilled ? place!.run.sentAtShiftMillis : 0;
    assert.deepEqual(
      [body.messageId, body.body, body.sentAtMillis + shift],
      [message.id, message.body, message.sentAt],
    );
  }
  compareFairness(state, model);
  assert.equal(state.nextSequence, model.nextSequence);
  assert.equal(state.purgeWatermark, model.purgedBelow);
  assert.equal(state.collectedBelow, model.collectedBelow);
  assert.deepEqual(lastNumbers(state.outgoingLinks), model.given);
  assert.deepEqual(lastNumbers(state.incomingLinks), model.taken);
}

function compareFairness({ fairness }: QueueState, { fairness: expected, messages }: QueueModel): void {
  const { rates, quiet, busyBelow, quietInARow, minute } = fairness;
  const groups = [...rates.values()].map(({ count, peak }) => `${count} ${peak}`).sort();
  const names = new Set([...expected.sent.keys(), ...expected.peaks.keys()]);
  const of = (name: string) => `${expected.sent.get(name) ?? 0} ${expected.peaks.get(name) ?? 0}`;
  assert.deepEqual(groups, [...names].map(of).sort());
  assert.deepEqual([busyBelow, quietInARow, minute], [expected.busyBelow, expected.inARow, expected.minute]);
  assert.deepEqual(
    [...iterate(quiet)],
    messages.filter((message) => message.quiet).map(({ sequence }) => sequence),
  );
}

function lastNumbers(links: QueueState['outgoingLinks']): Map<string, number> {
  return new Map([...links].map(([incarnation, { lastNumber }]) => [incarnation, lastNumber]));
}

function readySize({ ready }: QueueState): number {
  let total = 0;
  for (let i = 0; i < ready.length; i += 2) total += ready[i + 1]! - ready[i]!;
  return total;
}

function withoutLeases(outcome: ModelOutcome): unknown {
  if (outcome.kind !== 'received') return outcome;
  return { ...outcome, messages: outcome.messages.map(({ lease: _, ...message }) => message) };
}

function inWordsOfTheModel({ outcome, effect }: CommandResult): unknown {
  switch (outcome.kind) {
    case 'visibility':
      return { kind: 'visibility', result: outcome.entries[0], effect };
    case 'sent': {
      const results = outcome.entries.map((entry) =>
        entry.kind === 'too-large' ? `too-large ${entry.maximumBytes}` : entry.kind,
      );
      return { kind: 'sent', results, effect };
    }
    case 'received':
      return {
        kind: 'received',
        unreadable: outcome.unreadable,
        effect,
        messages: outcome.messages.map(({ message, handle, receiveCount, firstReceivedAtMillis }) => ({
          sequence: handle.sequence,
          id: message.messageId,
          body: message.body,
          sentAt: message.sentAtMillis,
          deadLetterSource: message.deadLetterSourceArn,
          count: receiveCount,
          firstAt: firstReceivedAtMillis,
        })),
      };
    default:
      return { ...outcome, effect };
  }
}

function describeMessage(state: QueueState, sequence: number): unknown {
  const delivery = state.deliveries.get(sequence);
  const dueAt = state.delayed.get(sequence);
  const intent = state.intents.get(sequence);
  const segment = locate(runIndexOf(state.segments), sequence)?.segment;
  const common = { sequence, segment };
  if (has(state.ready, sequence)) return { ...common, kind: 'ready' };
  if (dueAt !== undefined) return { ...common, kind: 'delayed', dueAt };
  if (delivery) {
    const { visibleAtMillis, leasedAtMillis, receiveCount, firstReceivedAtMillis } = delivery;
    const { receivedElsewhere = 0 } = delivery;
    return {
      ...common,
      kind: 'delivered',
      visibleAt: visibleAtMillis,
      leasedAt: leasedAtMillis,
      count: receiveCount,
      elsewhere: receivedElsewhere,
      firstAt: firstReceivedAtMillis,
    };
  }
  if (!intent) return { ...common, kind: 'nowhere' };
  const { targetIncarnation, number, receiveCount, firstReceivedAtMillis, receivedElsewhere = 0 } = intent;
  return {
    ...common,
    kind: 'moving',
    target: targetIncarnation,
    number,
    count: receiveCount,
    elsewhere: receivedElsewhere,
    firstAt: firstReceivedAtMillis,
  };
}

function describeModel(
  place: ModelMessage['place'],
  { sequence, segment }: Omit<ModelMessage, 'place'>,
): unknown {
  if (place.kind !== 'delivered') return { sequence, segment, ...place };
  const { lease: _, ...shown } = place;
  return { sequence, segment, ...shown };
}
