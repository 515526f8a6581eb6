/** Turns the draws of a schedule into commands for src/core and for the model, and keeps the handles given out. */
import type { Command, CommandResult, MovedMessage } from '../../src/core/command.ts';
import { type CompactionLayout, layOut, liveBodies } from '../../src/core/compaction-layout.ts';
import type { DeliveryToken, Incarnation } from '../../src/core/ids.ts';
import { MESSAGE_OVERHEAD_BYTES } from '../../src/core/limits.ts';
import type { StoredMessage } from '../../src/core/message.ts';
import { type QueueState, type SegmentId, segmentIdOf } from '../../src/core/queue-state.ts';
import type { ReceiptHandle } from '../../src/core/receipt-handle.ts';
import type { MoveSourceView, MoveTarget } from '../../src/core/resources.ts';
import type { ModelCommand, ModelOutcome } from './model-command.ts';
import { type Draw, redrivePolicies } from './script.ts';

export interface DrawnCommand {
  readonly command: Command;
  readonly model: ModelCommand;
  /** What a compaction has copied. */
  readonly upload?: { readonly id: SegmentId; readonly slots: CompactionLayout['slots'] };
  /** What a read of the source of an append shows. */
  readonly sourceView?: { readonly incarnation: Incarnation; readonly view: MoveSourceView };
}

interface IssuedHandle {
  readonly handle: ReceiptHandle;
  readonly lease: number;
}

const sender = 'AKIDEXAMPLE';
const never: IssuedHandle = {
  handle: {
    incarnation: 'a'.repeat(32) as Incarnation,
    sequence: 1,
    leaseVersion: 1,
    token: 'f'.repeat(16) as DeliveryToken,
  },
  lease: 0,
};

const modelSetting: Readonly<Record<string, (value: string) => object>> = {
  VisibilityTimeout: (value) => ({ visibilitySeconds: Number(value) }),
  DelaySeconds: (value) => ({ delaySeconds: Number(value) }),
  MessageRetentionPeriod: (value) => ({ retentionSeconds: Number(value) }),
  MaximumMessageSize: (value) => ({ maximumBytes: Number(value) }),
  RedrivePolicy: (value) => ({
    redrive:
      value === ''
        ? undefined
        : { queueName: 'dead', maxReceiveCount: value === redrivePolicies.once ? 1 : 2 },
  }),
};

export class Commands {
  readonly #issued: IssuedHandle[] = [];
  readonly #targets: Incarnation[] = [];
  #serial = 0;

  createTarget(): MoveTarget {
    const incarnation = `7${this.#targets.length.toString(16).padStart(31, '0')}` as Incarnation;
    this.#targets.push(incarnation);
    return { kind: 'present', incarnation };
  }

  /** Keeps the handles that a landed batch gave out. */
  learn(results: readonly CommandResult[], expected: readonly ModelOutcome[]): void {
    results.forEach(({ outcome }, index) => {
      const model = expected[index]!;
      if (outcome.kind !== 'received' || model.kind !== 'received') return;
      outcome.messages.forEach(({ handle }, n) => {
        this.#issued.push({ handle, lease: model.messages[n]!.lease });
      });
    });
  }

  draw(draw: Draw, state: QueueState): DrawnCommand {
    switch (draw.kind) {
      case 'send':
        return this.#send(draw);
      case 'send-group': {
        const { group, count, delay } = draw;
        return this.#send({ entries: Array.from({ length: count }, () => ({ size: 10, delay })) }, group);
      }
      case 'receive':
        return {
          command: {
            kind: 'receive',
            maxMessages: draw.max,
            visibilityTimeoutSeconds: draw.seconds,
            waits: false,
          },
          model: { kind: 'receive', max: draw.max, seconds: draw.seconds },
        };
      case 'delete': {
        const picked = draw.picks.map((pick) => this.#pick(pick));
        return {
          command: { kind: 'delete', handles: picked.map(({ handle }) => handle) },
          model: { kind: 'delete', leases: picked.map(({ lease }) => lease) },
        };
      }
      case 'delete-foreign': {
        const { handle } = this.#pick(draw.pick);
        const foreign = { ...handle, incarnation: 'b'.repeat(32) as Incarnation };
        return { command: { kind: 'delete', handles: [foreign] }, model: { kind: 'delete', leases: [] } };
      }
      case 'change-visibility': {
        const { handle, lease } = this.#pick(draw.pick);
        return {
          command: { kind: 'change-visibility', entries: [{ handle, timeoutSeconds: draw.seconds }] },
          model: { kind: 'change-visibility', lease, seconds: draw.seconds },
        };
      }
      case 'release': {
        const { handle, lease } = this.#pick(draw.pick);
        return { command: { kind: 'release', handles: [handle] }, model: { kind: 'release', lease } };
      }
      case 'purge':
        return { command: { kind: 'purge', cooldownMillis: 0 }, model: { kind: 'purge' } };
      case 'tidy': {
        const collectBelow = Math.max(0, state.version - draw.back);
        return { command: { kind: 'tidy', collectBelow }, model: { kind: 'tidy', collectBelow } };
      }
      case 'set':
        return {
          command: { kind: 'set-attributes', changes: new Map([[draw.name, draw.value]]) },
          model: { kind: 'set-attributes', changes: modelSetting[draw.name]!(draw.value) },
        };
      case 'append':
        return this.#append(draw, state);
      case 'resolve':
      case 'return':
        return this.#settleMoves(draw, state);
      case 'compact':
        return this.#compact(draw, state);
      case 'forget': {
        const incoming = draw.sources.map(sourceIncarnation);
        const outgoing = draw.targets.map((target) => this.#target(target));
        return {
          command: { kind: 'forget-links', incoming, outgoing },
          model: { kind: 'forget-links', sources: incoming, targets: outgoing },
        };
      }
    }
  }

  #pick(pick: number): IssuedHandle {
    return this.#issued.at(-1 - (pick % (this.#issued.length || 1))) ?? never;
  }

  #send(draw: Pick<Draw & { kind: 'send' }, 'entries'>, groupId?: string): DrawnCommand {
    const entries = draw.entries.map(({ size, delay }) => {
      const id = this.#messageId();
      const body = 'x'.repeat(size);
      const content = { body, attributes: new Map(), traceHeader: undefined, groupId };
      return {
        entry: {
          message: { messageId: id, senderId: sender, content, contentBytes: size },
          delaySeconds: delay,
        },
        model: {
          id,
          body,
          group: groupId,
          overheadBytes: sender.length + MESSAGE_OVERHEAD_BYTES,
          delaySeconds: delay,
        },
      };
    });
    return {
      command: { kind: 'send', entries: entries.map(({ entry }) => entry) },
      model: { kind: 'send', entries: entries.map(({ model }) => model) },
    };
  }

  #append(draw: Draw & { kind: 'append' }, state: QueueState): DrawnCommand {
    const incarnation = sourceIncarnation(draw.source);
    const arn = `arn:aws:sqs:us-east-1:000000000000:source-${draw.source}`;
    const next = (state.incomingLinks.get(incarnation)?.lastNumber ?? 0) + 1;
    const first = Math.max(1, next + draw.skip);
    const messages = Array.from({ length: draw.count }, (_, n) => this.#moved(first + n, draw.size, state));
    const view: MoveSourceView =
      draw.view === 'gone'
        ? { kind: 'gone' }
        : { kind: 'present', pending: new Set(draw.view === 'none' ? [] : messages.map((m) => m.number)) };
    return {
      command: {
        kind: 'append-moved',
        source: { name: `source-${draw.source}`, incarnation, arn },
        messages,
      },
      model: {
        kind: 'append-moved',
        source: incarnation,
        sourceArn: arn,
        messages: messages.map(({ number, message, contentBytes, receiveCount, firstReceivedAtMillis }) => ({
          number,
          id: message.messageId,
          body: message.body,
          bytes: contentBytes + sender.length + MESSAGE_OVERHEAD_BYTES,
          sentAt: message.sentAtMillis,
          count: receiveCount,
          firstAt: firstReceivedAtMillis,
        })),
      },
      sourceView: { incarnation, view },
    };
  }

  #compact(draw: Draw & { kind: 'compact' }, state: QueueState): DrawnCommand {
    const named = [...state.segments.keys()];
    const picked = draw.picks.flatMap((pick) => named[pick % (named.length || 1)] ?? []);
    const from = new Set(picked);
    const { slots, bodyCount, runs } = layOut(state, from, liveBodies(state, from));
    const name = { baseVersion: state.version, nonce: `c${(++this.#serial).toString(16).padStart(15, '0')}` };
    const id = segmentIdOf(name);
    // Without any segment: one that never was.
    const ids = from.size > 0 ? [...from] : ['0-ffffffffffffffff' as SegmentId];
    const youngest = ids.map((segment) => state.segments.get(segment)?.sentAtMaxMillis ?? 0);
    const into = { ...name, bytes: 1 + bodyCount, sentAtMaxMillis: Math.max(...youngest), bodyCount, runs };
    return {
      command: { kind: 'replace-segments', from: ids, into },
      model: { kind: 'replace-segments', from: ids, into: id, baseVersion: state.version },
      upload: { id, slots },
    };
  }

  #moved(number: number, size: number, state: QueueState): MovedMessage {
    const message: StoredMessage = {
      messageId: this.#messageId(),
      senderId: sender,
      body: 'm'.repeat(size),
      attributes: new Map(),
      traceHeader: undefined,
      groupId: undefined,
      // Sent to the source some time ago: retention goes on counting from there.
      sentAtMillis: state.timeMillis - number * 1_000,
      deadLetterSourceArn: undefined,
    };
    return {
      number,
      message,
      contentBytes: size,
      receiveCount: 3,
      firstReceivedAtMillis: state.timeMillis - 500,
    };
  }

  #settleMoves(draw: Draw & { kind: 'resolve' | 'return' }, state: QueueState): DrawnCommand {
    const target = this.#target(draw.target);
    if (draw.kind === 'return')
      return {
        command: { kind: 'return-moves', targetIncarnation: target },
        model: { kind: 'return-moves', target },
      };
    const through = Math.max(0, (state.outgoingLinks.get(target)?.lastNumber ?? 0) + draw.lead);
    return {
      command: { kind: 'resolve-moves', targetIncarnation: target, through },
      model: { kind: 'resolve-moves', target, through },
    };
  }

  /** Counted back from the newest; an incarnation that never was is a target too. */
  #target(back: number): Incarnation {
    return this.#targets[this.#targets.length - 1 - back] ?? ('6'.repeat(32) as Incarnation);
  }

  #messageId(): string {
    return `00000000-0000-4000-8000-${(++this.#serial).toString(16).padStart(12, '0')}`;
  }
}

function sourceIncarnation(source: number): Incarnation {
  return `5${String(source).padStart(31, '0')}` as Incarnation;
}
