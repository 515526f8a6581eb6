/**
 * Runs a schedule against src/core and the reference model side by side, with bounds so small that pages of every kind
 * come and go all the time, and stops at the first difference. One promise is checked without the model too: of each
 * group messages come for the first time in the order in which they were sent.
 */
import assert from 'node:assert/strict';
import type { Command, CommandResult } from '../../../src/core/command.ts';
import { type Incarnation, messageIdFrom } from '../../../src/core/ids.ts';
import { queueLimits } from '../../../src/core/limits.ts';
import type { StoredMessage } from '../../../src/core/message.ts';
import { groupHashOf } from '../../../src/core/message-groups.ts';
import type { QueueState } from '../../../src/core/queue-state.ts';
import { has } from '../../../src/core/range-set.ts';
import type { ReceiptHandle } from '../../../src/core/receipt-handle.ts';
import { attemptHashOf } from '../../../src/core/receive-attempts.ts';
import type { PreparedPage, PreparedSegment } from '../../../src/core/resources.ts';
import { decodeManifestObject, encodeManifest } from '../../../src/format/manifest-codec.ts';
import { fifoQueue, messageIn } from '../fifo.ts';
import { redrive, sourceArn, sourceIncarnation } from '../one-queue.ts';
import type { ModelCommand, ModelOutcome, ModelWorld } from './fifo-command.ts';
import { compaction } from './fifo-compaction.ts';
import { FifoModel, type Lease } from './fifo-model.ts';
import type { Draw, Step } from './fifo-script.ts';

const nonce = new Uint8Array(16).fill(7);
const limits = {
  ...queueLimits,
  tailBytesMax: 700,
  inlineMessageBytesMax: 350,
  segmentBytesMax: 500,
  inFlightMax: 14,
  intentsMax: 2,
  delayedInlineMax: 3,
  delayedPageEntries: 2,
  leaseInlineMax: 3,
  leasePageEntries: 2,
  readyRangesMax: 2,
  readyPageRanges: 1,
  segmentsInlineMax: 4,
  segmentPageEntries: 2,
  deduplicationInlineMax: 3,
  deduplicationPageEntries: 2,
};

interface Drawn {
  readonly command: Command;
  readonly model: ModelCommand;
}

/** How often what is rare was seen, over all schedules: a property of nothing is none. */
export const seen = {
  received: 0,
  repeated: 0,
  duplicates: 0,
  expired: 0,
  moved: 0,
  compacted: 0,
  pages: new Set<string>(),
};

export class FifoRun {
  readonly #queue = fifoQueue();
  readonly #handles: { readonly handle: ReceiptHandle; readonly lease: Lease }[] = [];
  readonly #lastNew = new Map<string, number>();
  readonly #seen = new Set<number>();
  #model = new FifoModel();
  #targets = 0;
  #serial = 0;

  constructor() {
    this.#queue.limits = limits;
    this.#queue.source = { kind: 'present', pending: new Set(Array.from({ length: 1_000 }, (_, i) => i)) };
    this.#newTarget();
  }

  step(step: Step): void {
    const queue = this.#queue;
    queue.nowMillis += step.advance;
    const present = queue.target;
    if (step.target !== 'there') queue.target = { kind: 'missing' };
    const batch = this.#batch(step.batch);
    if (step.target === 'gone') batch.push(this.#return());
    const commands = batch.map(({ command }) => command);
    const prepared: PreparedSegment[] = [];
    const pages: PreparedPage[] = [];
    queue.nowMillis += step.clockOffset;
    for (const rival of step.rivals) {
      // The batch gets as far as its swap, uploads included, and loses.
      queue.attempt(commands, prepared, pages);
      const others = this.#batch(rival.filter(({ kind }) => kind !== 'append'));
      this.#land(others, [], []);
    }
    queue.collectBelow = step.collect ? queue.state.version : 0;
    this.#land(batch, prepared, pages);
    queue.collectBelow = 0;
    queue.nowMillis -= step.clockOffset;
    if (step.target === 'gone') this.#newTarget();
    else queue.target = present;
  }

  #newTarget(): void {
    const incarnation = `${++this.#targets}`.padStart(32, '0') as Incarnation;
    this.#queue.target = { kind: 'present', incarnation };
  }

  get #targetIncarnation(): Incarnation {
    return `${this.#targets}`.padStart(32, '0') as Incarnation;
  }

  #land(batch: readonly Drawn[], prepared: PreparedSegment[], pages: PreparedPage[]): void {
    const queue = this.#queue;
    const world = this.#world();
    const model = this.#model.clone();
    const expected = model.apply(
      batch.map(({ model: command }) => command),
      world,
    );
    const results = queue.commitPrepared(
      batch.map(({ command }) => command),
      prepared,
      pages,
    );
    const outcomes = results.map((result, i) => {
      if (batch[i]!.model.kind !== 'compact') return inWordsOfTheModel(result);
      if (result.effect) seen.compacted++;
      return { kind: 'compacted' };
    });
    assert.deepEqual(outcomes, expected.map(withoutLeases));
    results.forEach((result, i) => {
      this.#learn(result, expected[i]!);
    });
    this.#model = model;
    this.#compare();
  }

  #world(): ModelWorld {
    const { time, target } = this.#queue;
    return {
      now: time.nowMillis,
      stamp: time.stampMillis,
      manifestTime: time.manifestMillis,
      targetIsThere: target.kind === 'present',
      inFlightMax: limits.inFlightMax,
      intentsMax: limits.intentsMax,
    };
  }

  #learn({ outcome }: CommandResult, expected: ModelOutcome): void {
    if (outcome.kind === 'sent')
      seen.duplicates += outcome.entries.filter(({ kind }) => kind === 'duplicate').length;
    if (outcome.kind === 'done') seen.expired += outcome.expired?.length ?? 0;
    if (outcome.kind !== 'received' || expected.kind !== 'received') return;
    seen.received += outcome.messages.length;
    outcome.messages.forEach(({ handle, message }, i) => {
      const { sequence } = handle;
      const { lease } = expected.messages[i]!;
      const before = this.#handles.find((other) => other.lease.lease === lease);
      if (before) {
        seen.repeated++;
        assert.deepEqual(handle, before.handle);
      }
      this.#handles.push({ handle, lease: { sequence, lease } });
      if (this.#seen.has(sequence)) return;
      this.#seen.add(sequence);
      const { groupId } = message;
      assert.ok(sequence > (this.#lastNew.get(groupId!) ?? 0), `${sequence} overtakes its group`);
      this.#lastNew.set(groupId!, sequence);
    });
  }

  #compare(): void {
    const queue = this.#queue;
    const { state, whole } = queue;
    const { messages } = this.#model;
    assert.deepEqual(
      messages.map(({ sequence, group }) => placeOf(whole, sequence, group)),
      messages.map(({ sequence, place }) => {
        if (place.kind !== 'held') return { sequence, ...place };
        const { lease: _, leasedAt: __, attempt: ___, turn: ____, ...rest } = place;
        return { sequence, ...rest };
      }),
    );
    assert.equal(Object.keys(queue.places).length, messages.length);
    assert.deepEqual(queue.counts, this.#model.counts(queue.nowMillis));
    assert.equal(state.nextSequence, this.#model.nextSequence);
    seen.moved = Math.max(seen.moved, this.#model.given);
    for (const kind of ['delayed', 'lease', 'ready', 'segments', 'deduplication'] as const)
      if (state[`${kind}Pages`].size > 0) seen.pages.add(kind);
    const decoded = decodeManifestObject(encodeManifest(state, nonce));
    assert.deepEqual(decoded, { kind: 'ok', content: { kind: 'queue', state } });
  }

  #batch(draws: readonly Draw[]): Drawn[] {
    return draws.flatMap((draw) => this.#draw(draw) ?? []);
  }

  #draw(draw: Draw): Drawn | undefined {
    switch (draw.kind) {
      case 'send':
        return this.#send(draw.entries);
      case 'receive': {
        const { max, seconds } = draw;
        const attempt = draw.attempt === undefined ? undefined : `attempt ${draw.attempt}`;
        return {
          command: {
            kind: 'receive',
            maxMessages: max,
            visibilityTimeoutSeconds: seconds,
            waits: false,
            attempt: attempt === undefined ? undefined : attemptHashOf(attempt),
          },
          model: { kind: 'receive', max, seconds, attempt },
        };
      }
      case 'purge':
        return { command: { kind: 'purge', cooldownMillis: 0 }, model: { kind: 'purge' } };
      case 'set':
        return settingOf(draw);
      case 'compact': {
        const command = compaction(this.#queue, draw.picks);
        return command && { command, model: { kind: 'compact' } };
      }
      case 'append':
        return this.#append(draw);
      case 'resolve': {
        const through = Math.max(0, this.#model.given + draw.lead);
        const targetIncarnation = this.#targetIncarnation;
        return {
          command: { kind: 'resolve-moves', targetIncarnation, through },
          model: { kind: 'resolve', through },
        };
      }
      default:
        return this.#withHandles(draw);
    }
  }

  #withHandles(
    draw: Draw & { readonly kind: 'delete' | 'change-visibility' | 'release' },
  ): Drawn | undefined {
    const at = (pick: number) => this.#handles.at(-1 - (pick % (this.#handles.length || 1)));
    if (draw.kind === 'delete') {
      const picked = draw.picks.flatMap((pick) => at(pick) ?? []);
      return {
        command: { kind: 'delete', handles: picked.map(({ handle }) => handle) },
        model: { kind: 'delete', leases: picked.map(({ lease }) => lease) },
      };
    }
    const one = at(draw.pick);
    if (!one) return undefined;
    const { handle, lease } = one;
    if (draw.kind === 'release')
      return { command: { kind: 'release', handles: [handle] }, model: { kind: 'release', lease } };
    const { seconds } = draw;
    return {
      command: { kind: 'change-visibility', entries: [{ handle, timeoutSeconds: seconds }] },
      model: { kind: 'change-visibility', lease, seconds },
    };
  }

  #send(entries: (Draw & { readonly kind: 'send' })['entries']): Drawn {
    const drawn = entries.map(({ group, body: bodyChoice, id, padding }) => {
      const body = `${bodyChoice}`.padEnd(1 + padding);
      const explicitId = id === undefined ? undefined : `${id}`;
      const message = {
        ...messageIn(`group ${group}`, body),
        deduplication: { explicitId, bodyHash: `hash of ${body}` },
      };
      return { message, entry: { id: message.messageId, group: `group ${group}`, body, explicitId } };
    });
    return {
      command: { kind: 'send', entries: drawn.map(({ message }) => ({ message, delaySeconds: undefined })) },
      model: { kind: 'send', entries: drawn.map(({ entry }) => entry) },
    };
  }

  #append({ count, group, skip }: Draw & { readonly kind: 'append' }): Drawn {
    const first = Math.max(1, this.#model.taken + 1 + skip);
    const messages = Array.from({ length: count }, (_, i) => {
      const id = messageIdFrom(new Uint8Array(16).fill(++this.#serial % 256).fill(i, 15));
      return { number: first + i, id, group: `group ${group}`, count: 1 + i };
    });
    const source = { name: 'source.fifo', incarnation: sourceIncarnation, arn: sourceArn };
    return {
      command: {
        kind: 'append-moved',
        source,
        messages: messages.map(({ number, id, group: groupId, count: receiveCount }) => ({
          number,
          message: letter(id, groupId),
          contentBytes: 6,
          receiveCount,
          firstReceivedAtMillis: 5,
        })),
      },
      model: { kind: 'append', messages },
    };
  }

  #return(): Drawn {
    const targetIncarnation = this.#targetIncarnation;
    return { command: { kind: 'return-moves', targetIncarnation }, model: { kind: 'return' } };
  }
}

function letter(messageId: string, groupId: string): StoredMessage {
  return {
    messageId,
    senderId: 'AKIDEXAMPLE',
    sentAtMillis: 900_000,
    body: 'letter',
    attributes: new Map(),
    traceHeader: undefined,
    groupId,
    deadLetterSourceArn: undefined,
    deduplicationId: 'of another queue',
  };
}

function settingOf({ name, value }: Draw & { readonly kind: 'set' }): Drawn {
  const policy = value === '' ? '' : redrive(Number(value)).RedrivePolicy;
  const changes = new Map([[name, name === 'RedrivePolicy' ? policy : value]]);
  const model = {
    DelaySeconds: () => ({ delaySeconds: Number(value) }),
    RedrivePolicy: () => ({ maxReceiveCount: value === '' ? undefined : Number(value) }),
    ContentBasedDeduplication: () => ({ byContent: value === 'true' }),
    DeduplicationScope: () => ({ scope: value as 'queue' | 'messageGroup' }),
  }[name]!();
  return { command: { kind: 'set-attributes', changes }, model: { kind: 'set', changes: model } };
}

function withoutLeases(outcome: ModelOutcome): unknown {
  if (outcome.kind !== 'received') return outcome;
  return { ...outcome, messages: outcome.messages.map(({ lease: _, ...message }) => message) };
}

function inWordsOfTheModel({ outcome, effect }: CommandResult): unknown {
  if (outcome.kind !== 'received') return { ...outcome, effect };
  assert.equal(outcome.unreadable, false);
  const messages = outcome.messages.map(({ message, handle, receiveCount }) => ({
    sequence: handle.sequence,
    id: message.messageId,
    group: message.groupId,
    count: receiveCount,
  }));
  return { kind: 'received', messages, effect };
}

function placeOf(state: QueueState, sequence: number, group: string): unknown {
  const delivery = state.deliveries.get(sequence);
  const intent = state.intents.get(sequence);
  const dueAt = state.delayed.get(sequence);
  if (has(state.ready, sequence)) return { sequence, kind: 'ready' };
  if (dueAt !== undefined) return { sequence, kind: 'delayed', dueAt };
  const hash = (delivery ?? intent)?.group;
  assert.equal(hash, groupHashOf(group), `the group of sequence ${sequence}`);
  const { receiveCount: count, receivedElsewhere: elsewhere = 0 } = (delivery ?? intent)!;
  if (delivery) return { sequence, kind: 'held', visibleAt: delivery.visibleAtMillis, count, elsewhere };
  return { sequence, kind: 'moving', number: intent!.number, count, elsewhere };
}
