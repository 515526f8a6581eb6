/**
 * Moves between two queues, of dead letters and by move tasks, step by step, with nodes that stop after any step and wake up later with what they knew:
 * no message is lost, and none is in the dead-letter queue twice or there and back at once (DESIGN.md section 6 †).
 *
 * A node that appends reads the target, then the source, then swaps against that very state of the target. Deleting
 * and recreating either queue may come between any two steps.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Command, MovedMessage } from '../../src/core/command.ts';
import type { Incarnation } from '../../src/core/ids.ts';
import type { QueueState } from '../../src/core/queue-state.ts';
import { pendingNumbers } from '../../src/core/redrive.ts';
import type { MoveSourceView, MoveTarget } from '../../src/core/resources.ts';
import {
  deleteOf,
  newMessage,
  OneQueue,
  purgeOf,
  receiveOf,
  redrive,
  sendOf,
  sourceArn,
  writer,
} from './one-queue.ts';

type Step =
  | {
      readonly kind:
        | 'send'
        | 'receive'
        | 'purge'
        | 'read-target'
        | 'delete-target'
        | 'create-target'
        | 'consume';
    }
  | { readonly kind: 'delete-source' | 'carry' }
  | { readonly kind: 'start-task' | 'step-task' | 'cancel-task' }
  | { readonly kind: 'learn-gone' | 'forget' }
  /** `append`: undisturbed, both steps of it. */
  | { readonly kind: 'append' | 'read-both' | 'swap' | 'resolve' | 'return'; readonly node: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: 'send' as const }) },
  { weight: 5, arbitrary: fc.constant({ kind: 'receive' as const }) },
  {
    weight: 4,
    arbitrary: fc.record(
      { kind: fc.constantFrom('purge', 'read-target', 'delete-target', 'create-target', 'consume') },
      { noNullPrototype: true },
    ),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'carry' as const }) },
  {
    weight: 4,
    arbitrary: fc.record(
      { kind: fc.constantFrom('start-task', 'step-task', 'step-task', 'step-task', 'cancel-task') },
      { noNullPrototype: true },
    ),
  },
  {
    weight: 12,
    arbitrary: fc.record(
      {
        kind: fc.constantFrom('append', 'append', 'read-both', 'swap', 'resolve', 'resolve', 'return'),
        node: fc.nat(3),
      },
      { noNullPrototype: true },
    ),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'delete-source' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'learn-gone' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'forget' as const }) },
) as fc.Arbitrary<Step>;

/** What a node knows: moves it carries, what it has read, how far the target has told it to be. */
interface Node {
  readonly source: Incarnation;
  readonly target: Incarnation;
  readonly messages: readonly MovedMessage[];
  read?: { readonly state: QueueState; readonly view: MoveSourceView };
  through?: number;
}

class Moves {
  #serial = 0;
  #source = this.#queue(redrive(1));
  #target: OneQueue | undefined = this.#queue();
  /** What the source's nodes know of the target, and since which state of the source: void for any later one. */
  #known: MoveTarget = { kind: 'missing' };
  #knownAt: QueueState | undefined;
  readonly #nodes: Node[] = [];
  #tasks = 0;
  #bodies = 0;
  /** Bodies by the target's incarnation, appended once each. */
  readonly #appended = new Map<Incarnation, Set<string>>();
  /** Incarnations that were gone at some read: links to them may be forgotten at any time since. */
  readonly #gone = new Set<Incarnation>();
  /** Sent to the present source and not purged. */
  readonly #sent = new Set<string>();

  run(step: Step): void {
    switch (step.kind) {
      case 'send': {
        const message = newMessage(`m${++this.#bodies}`);
        this.#sent.add(message.content.body);
        this.#source.commit(sendOf(message));
        break;
      }
      case 'receive':
        this.#source.target = this.#knownTarget();
        this.#source.commit(receiveOf(10, 0));
        break;
      case 'purge':
        this.#source.commit(purgeOf());
        this.#sent.clear();
        break;
      case 'read-target':
        this.#readTarget();
        break;
      case 'delete-target':
        this.#target = undefined;
        break;
      case 'create-target':
        this.#target ??= this.#queue();
        break;
      case 'consume':
        if (this.#target)
          this.#target.commit(deleteOf(...this.#target.receive(1).map(({ handle }) => handle)));
        break;
      case 'delete-source':
        this.#source = this.#queue(redrive(1));
        this.#sent.clear();
        break;
      case 'carry':
        this.#carry();
        break;
      case 'start-task':
        this.#source.commit({
          kind: 'start-move-task',
          task: {
            id: taskId(++this.#tasks),
            toMove: 0,
            destinationArn: sourceArn.replace('source', 'target'),
          },
        });
        break;
      case 'step-task':
        this.#source.target = this.#knownTarget();
        this.#source.commit({
          kind: 'step-move-task',
          id: taskId(this.#tasks),
          runner: writer,
          messagesMax: 2,
          lastTry: false,
        });
        break;
      case 'cancel-task':
        this.#source.commit({ kind: 'cancel-move-task', id: taskId(this.#tasks) });
        break;
      case 'learn-gone': {
        const present = [this.#source.state.incarnation, this.#target?.state.incarnation];
        for (const incarnation of [
          ...this.#source.state.outgoingLinks.keys(),
          ...(this.#target?.state.incomingLinks.keys() ?? []),
        ])
          if (!present.includes(incarnation)) this.#gone.add(incarnation);
        break;
      }
      case 'forget': {
        const gone = [...this.#gone];
        this.#source.commit({ kind: 'forget-links', incoming: [], outgoing: gone });
        this.#target?.commit({ kind: 'forget-links', incoming: gone, outgoing: [] });
        break;
      }
      default: {
        const node = this.#nodes.at(-1 - step.node);
        if (!node) break;
        if (step.kind !== 'append') this.#walk(node, step.kind);
        else for (const kind of ['read-both', 'swap'] as const) this.#walk(node, kind);
      }
    }
    this.#check();
  }

  #readTarget(): void {
    this.#known = this.#target
      ? { kind: 'present', incarnation: this.#target.state.incarnation }
      : { kind: 'missing' };
    this.#knownAt = this.#source.state;
  }

  #knownTarget(): MoveTarget {
    if (this.#knownAt !== this.#source.state) this.#readTarget();
    return this.#known;
  }

  #walk(node: Node, kind: 'read-both' | 'swap' | 'resolve' | 'return'): void {
    const source = this.#source.state;
    const target = this.#target?.state;
    if (kind === 'read-both' && target?.incarnation === node.target) {
      const pending = pendingNumbers(source.intents, node.target);
      const view: MoveSourceView =
        source.incarnation === node.source ? { kind: 'present', pending } : { kind: 'gone' };
      node.read = { state: target, view };
    }
    if (kind === 'swap' && target && node.read?.state === target) this.#swap(node);
    if (kind === 'resolve' && node.through !== undefined && source.incarnation === node.source)
      this.#source.commit({ kind: 'resolve-moves', targetIncarnation: node.target, through: node.through });
    // Only a read that shows another incarnation, or none, makes a target gone: for ever.
    if (kind === 'return' && target?.incarnation !== node.target && source.incarnation === node.source)
      this.#source.commit({ kind: 'return-moves', targetIncarnation: node.target });
  }

  #carry(): void {
    const { state } = this.#source;
    for (const target of new Set([...state.intents.values()].map((intent) => intent.targetIncarnation))) {
      const messages = [...state.intents]
        .filter(([, intent]) => intent.targetIncarnation === target)
        .sort(([, a], [, b]) => a.number - b.number)
        .map(([sequence, intent]) => {
          const { message } = state.tail.get(sequence)!;
          const { messageId } = intent.redriven ? newMessage() : message;
          return { ...intent, message: { ...message, messageId }, contentBytes: 4 };
        });
      this.#nodes.push({ source: state.incarnation, target, messages });
    }
  }

  #swap(node: Node): void {
    const target = this.#target!;
    target.source = node.read!.view;
    const before = target.state;
    const command: Command = {
      kind: 'append-moved',
      source: { name: 'source', incarnation: node.source, arn: sourceArn },
      messages: node.messages,
    };
    const outcome = target.outcome(command);
    assert.ok(outcome.kind === 'appended');
    node.through = outcome.through;
    const ids = this.#appended.get(node.target) ?? new Set();
    for (const [sequence, { message }] of target.state.tail) {
      if (sequence < before.nextSequence) continue;
      assert.ok(!ids.has(message.body), 'appended twice');
      ids.add(message.body);
    }
    this.#appended.set(node.target, ids);
  }

  #check(): void {
    const live = new Set(bodiesOf(this.#source.state, 'anywhere'));
    const moved = new Set([...this.#appended.values()].flatMap((ids) => [...ids]));
    for (const id of this.#sent) assert.ok(live.has(id) || moved.has(id), 'lost');
    const there = this.#target && this.#appended.get(this.#target.state.incarnation);
    for (const id of bodiesOf(this.#source.state, 'receivable')) assert.ok(!there?.has(id), 'in both queues');
  }

  #queue(attributes = {}): OneQueue {
    this.#serial++;
    return new OneQueue(attributes, this.#serial.toString(16).padStart(32, '0') as Incarnation);
  }
}

const taskId = (n: number) => `00000000-0000-4000-9000-${String(n).padStart(12, '0')}`;

function bodiesOf(state: QueueState, where: 'anywhere' | 'receivable'): string[] {
  return [...state.tail]
    .filter(([sequence]) => where === 'anywhere' || !state.intents.has(sequence))
    .map(([, { message }]) => message.body);
}

describe('moves between two queues', () => {
  it('give no number twice: a link that was forgotten is not begun anew by who knew the target before', () => {
    const moves = new Moves();
    for (const kind of ['send', 'receive', 'read-target', 'receive', 'carry'] as const) moves.run({ kind });
    moves.run({ kind: 'append', node: 0 });
    for (const kind of ['delete-target', 'send', 'receive', 'learn-gone'] as const) moves.run({ kind });
    moves.run({ kind: 'resolve', node: 0 });
    for (const kind of ['forget', 'receive', 'carry'] as const) moves.run({ kind });
    for (const node of [0, 1]) moves.run({ kind: 'resolve', node });
  });

  it('neither lose nor double a message, whoever stops or wakes up when', () => {
    const asked = Number(globalThis.process?.env.OKURI_MODEL_RUNS ?? '');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
        const moves = new Moves();
        for (const each of steps) moves.run(each);
      }),
      { numRuns: asked > 0 ? asked : 1_000 },
    );
  });
});
