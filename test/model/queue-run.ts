/**
 * Runs a schedule against src/core and the model side by side and stops at the first difference. Plays the commit
 * loop: answers what a transition needs from a store of segments, throws a transition away when a rival wins, applies
 * it anew with the segments it has uploaded, and collects garbage by the rule of DESIGN.md section 5.
 */
import assert from 'node:assert/strict';
import type { Command, CommandResult } from '../../src/core/command.ts';
import type { LiveBody } from '../../src/core/compaction-layout.ts';
import { countMessages } from '../../src/core/counts.ts';
import type { TransitionTime } from '../../src/core/draft.ts';
import type { Incarnation, WriterId } from '../../src/core/ids.ts';
import { brokenState, brokenStep } from '../../src/core/invariants.ts';
import type { StoredMessage } from '../../src/core/message.ts';
import { newQueueState, type QueueState, type SegmentId, segmentIdOf } from '../../src/core/queue-state.ts';
import { has } from '../../src/core/range-set.ts';
import type {
  MoveSourceView,
  MoveTarget,
  Needs,
  PreparedSegment,
  Resources,
} from '../../src/core/resources.ts';
import { locate, runIndexOf } from '../../src/core/run-index.ts';
import { apply, type TransitionInput } from '../../src/core/transition.ts';
import { decodeManifestObject, encodeManifest } from '../../src/format/manifest-codec.ts';
import { Commands, type DrawnCommand } from './drawn-commands.ts';
import { deepFreeze } from './freeze.ts';
import type { ModelOutcome, ModelWorld } from './model-command.ts';
import { type ModelMessage, QueueModel } from './queue-model.ts';
import type { Draw, Step } from './script.ts';

const nonce = new Uint8Array(16).fill(7);
const startMillis = 1_700_000_000_000;

interface Batch {
  readonly drawn: readonly DrawnCommand[];
  readonly commands: readonly Command[];
  readonly writer: number;
  readonly unreadable: SegmentId | undefined;
  readonly loaded: Set<SegmentId>;
  readonly targets: Map<string, MoveTarget>;
  readonly sources: Map<Incarnation, MoveSourceView>;
  /** The state that `sources` were read after. */
  sourcesVersion: number;
  readonly prepared: PreparedSegment[];
}

export class QueueRun {
  state: QueueState;
  readonly #commands = new Commands();
  readonly #segments = new Map<SegmentId, readonly (StoredMessage | undefined)[]>();
  #model = new QueueModel();
  #target: MoveTarget = { kind: 'missing' };
  #now = startMillis;
  #serial = 0;

  constructor() {
    this.state = deepFreeze(
      newQueueState({
        incarnation: 'a'.repeat(32) as Incarnation,
        attributes: new Map(),
        timeMillis: startMillis,
        stampMillis: startMillis,
      }),
    );
  }

  step(step: Step): void {
    this.#now += step.advance;
    if (step.world === 'target-deleted') this.#target = { kind: 'missing' };
    if (step.world === 'target-created') this.#target = this.#commands.createTarget();
    const batch = this.#batch(step.batch, step);
    for (const rival of step.rivals) {
      // The batch gets as far as its swap, uploads included, and loses.
      this.#applyUntilReady(batch, step);
      const other = this.#batch(rival, { ...step, writer: step.writer + 1 });
      this.#land(other, step);
      this.#now += step.swapMillis;
    }
    this.#land(batch, step);
    this.#checkCounts(step);
  }

  #batch(draws: readonly Draw[], step: Step): Batch {
    const drawn = draws.map((draw) => this.#commands.draw(draw, this.state));
    for (const { upload } of drawn)
      if (upload)
        this.#segments.set(
          upload.id,
          upload.slots.map((slot) => slot && this.#copied(slot)),
        );
    const named = [...this.state.segments.keys()];
    return {
      drawn,
      commands: drawn.map(({ command }) => command),
      writer: step.writer,
      unreadable: step.unreadable === undefined ? undefined : named[step.unreadable % (named.length || 1)],
      loaded: new Set(),
      targets: new Map(),
      sources: new Map(),
      sourcesVersion: 0,
      prepared: [],
    };
  }

  #copied({ segment, ordinal, sentAtShiftMillis }: LiveBody): StoredMessage {
    const message = this.#segments.get(segment)![ordinal]!;
    return { ...message, sentAtMillis: message.sentAtMillis + sentAtShiftMillis };
  }

  #time(step: Step): TransitionTime {
    const nowMillis = this.#now + step.clockOffset;
    return {
      nowMillis,
      stampMillis: nowMillis + 50,
      manifestMillis: Math.max(this.state.timeMillis, nowMillis - step.lag),
    };
  }

  #applyUntilReady(batch: Batch, step: Step) {
    for (let round = 0; round < 40; round++) {
      const input: TransitionInput = {
        state: this.state,
        commands: batch.commands,
        time: this.#time(step),
        tokenSeed: this.#seed(),
        writer: { id: `${batch.writer}`.padStart(32, '0') as WriterId, attempt: ++this.#serial },
        resources: this.#resources(batch),
        collectBelow: step.collectBack === undefined ? 0 : Math.max(0, this.state.version - step.collectBack),
      };
      const result = apply(input);
      assert.deepEqual(apply(input), result, 'the same input gave another output');
      if (result.kind === 'applied') return { input, result };
      this.#fetch(result.needs, batch);
    }
    return assert.fail('a transition always needs something more');
  }

  #resources(batch: Batch): Resources {
    return {
      body: (segment, ordinal) => {
        if (!batch.loaded.has(segment)) return 'needed';
        if (segment === batch.unreadable) return 'unreadable';
        const messages = this.#segments.get(segment);
        assert.ok(messages, `segment ${segment} was collected and is still in use`);
        const message = messages[ordinal];
        assert.ok(message, `segment ${segment} has no message ${ordinal}`);
        return message;
      },
      target: (queueName) => batch.targets.get(queueName),
      source: (incarnation) =>
        batch.sourcesVersion === this.state.version ? batch.sources.get(incarnation) : undefined,
      prepared: batch.prepared,
    };
  }

  #fetch(needs: Needs, batch: Batch): void {
    for (const segment of needs.segments) {
      assert.ok(this.state.segments.has(segment) && !batch.loaded.has(segment), `needs ${segment}`);
      batch.loaded.add(segment);
    }
    for (const name of needs.targets) {
      assert.ok(!batch.targets.has(name));
      batch.targets.set(name, this.#target);
    }
    if (needs.sources.size > 0 && batch.sourcesVersion !== this.state.version) {
      batch.sources.clear();
      batch.sourcesVersion = this.state.version;
    }
    for (const incarnation of needs.sources.keys())
      batch.sources.set(incarnation, viewOf(batch, incarnation));
    for (const messages of needs.spills) {
      const named = {
        baseVersion: this.state.version,
        nonce: (++this.#serial).toString(16).padStart(16, '0'),
      };
      const id = segmentIdOf(named);
      this.#segments.set(
        id,
        messages.map(({ message }) => message),
      );
      batch.prepared.push({ id, ...named, bytes: 1 + messages.length, messages });
    }
  }

  #land(batch: Batch, step: Step): void {
    const { input, result } = this.#applyUntilReady(batch, step);
    const world = this.#world(batch, input);
    const model = this.#model.clone();
    const expected = model.apply(
      batch.drawn.map(({ model: command }) => command),
      world,
    );
    this.#compareOutcomes(result.results, expected);
    assert.equal(
      result.changed,
      expected.some(({ effect }) => effect),
      'changed',
    );
    assert.ok(result.next.kind === 'queue');
    const next = result.next.state;
    if (!result.changed) {
      assert.equal(next, this.state);
      return;
    }
    assert.equal(brokenStep(this.state, next), undefined);
    assert.equal(brokenState(next), undefined);
    this.#settle(model, next, batch);
    this.#commands.learn(result.results, expected);
    this.#model = model;
    this.state = deepFreeze(next);
    this.#compareStates();
    this.#checkCodec();
    this.#collect();
  }

  #world(batch: Batch, input: TransitionInput): ModelWorld {
    return {
      now: input.time.nowMillis,
      stamp: input.time.stampMillis,
      manifestTime: input.time.manifestMillis,
      version: this.state.version,
      collectBelow: input.collectBelow,
      target: (name) => {
        const target = batch.targets.get(name);
        assert.ok(target, 'the model meets a dead letter whose target was not asked for');
        return target.kind === 'missing' ? 'missing' : target.incarnation;
      },
      sourceIntents: (source) => {
        const view = batch.sources.get(source as Incarnation)!;
        return view.kind === 'gone' ? 'gone' : view.pending;
      },
      unreadable: (segment) => segment === batch.unreadable,
    };
  }

  #compareOutcomes(actual: readonly CommandResult[], expected: readonly ModelOutcome[]): void {
    assert.deepEqual(actual.map(inWordsOfTheModel), expected.map(withoutLeases));
    for (const { outcome } of actual)
      if (outcome.kind === 'received')
        for (const { handle } of outcome.messages)
          assert.deepEqual(
            [handle.incarnation, handle.leaseVersion],
            [this.state.incarnation, this.state.version + 1],
          );
  }

  /** Tells the model which segment each body went to, after checking the stamp it has there. */
  #settle(model: QueueModel, next: QueueState, batch: Batch): void {
    const index = runIndexOf(next.segments);
    for (const message of model.messages) {
      assert.equal(next.tail.has(message.sequence), !message.spilled, `tail of ${message.sequence}`);
      if (!message.spilled || message.segment !== undefined) continue;
      const place = locate(index, message.sequence);
      assert.ok(place);
      const prepared = batch.prepared.find(({ id }) => id === place.segment);
      assert.ok(prepared, `segment ${place.segment} was not uploaded by this batch`);
      const uploadedAt = prepared.messages[place.ordinal]!.message.sentAtMillis;
      const stamp = uploadedAt + place.run.sentAtShiftMillis;
      assert.equal(stamp, Math.max(uploadedAt, message.sentAt), 'the later stamp is kept');
      model.settle(message.sequence, place.segment, stamp);
    }
    for (const [id, reference] of next.segments)
      if (!this.state.segments.has(id)) assert.equal(reference.sentAtMaxMillis, model.youngest.get(id));
  }

  #compareStates(): void {
    const index = runIndexOf(this.state.segments);
    const seen = this.#model.messages.map((message) => describeMessage(this.state, message.sequence));
    const expected = this.#model.messages.map(({ place, ...message }) => describeModel(place, message));
    assert.deepEqual(seen, expected);
    const { deliveries, delayed, intents } = this.state;
    const live = deliveries.size + delayed.size + intents.size + readySize(this.state);
    assert.equal(live, this.#model.messages.length);
    for (const message of this.#model.messages) {
      const place = locate(index, message.sequence);
      const body = this.state.tail.get(message.sequence)?.message ?? this.#bodyAt(place);
      const shift = message.spilled ? place!.run.sentAtShiftMillis : 0;
      assert.deepEqual(
        [body.messageId, body.body, body.sentAtMillis + shift],
        [message.id, message.body, message.sentAt],
      );
    }
    assert.equal(this.state.nextSequence, this.#model.nextSequence);
    assert.equal(this.state.purgeWatermark, this.#model.purgedBelow);
    assert.equal(this.state.collectedBelow, this.#model.collectedBelow);
    assert.deepEqual(lastNumbers(this.state.outgoingLinks), this.#model.given);
    assert.deepEqual(lastNumbers(this.state.incomingLinks), this.#model.taken);
  }

  #bodyAt(place: ReturnType<typeof locate>): StoredMessage {
    const body = place && this.#segments.get(place.segment)?.[place.ordinal];
    assert.ok(body, 'a live message lost its body');
    return body;
  }

  #checkCodec(): void {
    const decoded = decodeManifestObject(encodeManifest(this.state, nonce));
    assert.ok(decoded.kind === 'ok' && decoded.content.kind === 'queue', 'the manifest does not decode');
    assert.deepEqual(decoded.content.state, this.state);
  }

  /** What no manifest names and no later manifest may name. */
  #collect(): void {
    for (const id of this.#segments.keys())
      if (!this.state.segments.has(id) && Number(id.split('-')[0]) < this.state.collectedBelow)
        this.#segments.delete(id);
  }

  #checkCounts(step: Step): void {
    const time = this.#time(step);
    const model = this.#model.clone();
    model.expire({ manifestTime: time.manifestMillis } as ModelWorld);
    assert.deepEqual(countMessages(this.state, time), model.counts(time.nowMillis));
  }

  /** Of its own for each attempt, and far from every other. */
  #seed(): Uint8Array {
    const seed = new Uint8Array(8);
    new DataView(seed.buffer).setUint32(0, ++this.#serial);
    return seed;
  }
}

function viewOf(batch: Batch, incarnation: Incarnation): MoveSourceView {
  const drawn = batch.drawn.find(({ sourceView }) => sourceView?.incarnation === incarnation);
  return drawn!.sourceView!.view;
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
        entry.kind === 'sent' ? 'sent' : `too-large ${entry.maximumBytes}`,
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
    return {
      ...common,
      kind: 'delivered',
      visibleAt: visibleAtMillis,
      leasedAt: leasedAtMillis,
      count: receiveCount,
      firstAt: firstReceivedAtMillis,
    };
  }
  if (!intent) return { ...common, kind: 'nowhere' };
  const { targetIncarnation, number, receiveCount, firstReceivedAtMillis } = intent;
  return {
    ...common,
    kind: 'moving',
    target: targetIncarnation,
    number,
    count: receiveCount,
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
