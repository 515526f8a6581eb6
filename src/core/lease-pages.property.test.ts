/** A queue with pages of deliveries answers like one without, whatever is asked of both. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  incarnation,
  newMessage,
  OneQueue,
  purgeOf,
  receiveOf,
  redrive,
  setOf,
  targetIncarnation,
  tidyOf,
} from '../../test/model/one-queue.ts';
import type { Command, CommandResult, NewMessage } from './command.ts';
import { hasVisible } from './counts.ts';
import { queueLimits } from './limits.ts';
import type { QueueState } from './queue-state.ts';
import type { ReceiptHandle } from './receipt-handle.ts';
import type { PreparedPage, PreparedSegment } from './resources.ts';

const bounded = {
  ...queueLimits,
  leaseInlineMax: 4,
  leasePageEntries: 3,
  tailBytesMax: 100,
  inFlightMax: 25,
};
const unbounded = { ...bounded, leaseInlineMax: 1_000 };

/** A handle is drawn as "the n-th from the latest": each queue has its own, with tokens of its own. */
type Drawn =
  | { readonly kind: 'send'; readonly messages: readonly NewMessage[]; readonly delaySeconds: number }
  | { readonly kind: 'receive'; readonly maxMessages: number; readonly seconds: number }
  | { readonly kind: 'delete' | 'release'; readonly back: readonly number[] }
  | { readonly kind: 'change-visibility'; readonly back: readonly number[]; readonly seconds: number }
  | { readonly kind: 'plain'; readonly command: Command };

interface Step {
  readonly batch: readonly Drawn[];
  /** Lands between the batch's uploads and its swap. */
  readonly rival: readonly Drawn[];
  readonly waitMillis: number;
}

const back = fc.array(fc.nat(40), { minLength: 1, maxLength: 6 });
const seconds = fc.constantFrom(0, 2, 10, 10, 40);
const plain = fc.oneof(
  { weight: 1, arbitrary: fc.constant(purgeOf()) },
  { weight: 2, arbitrary: fc.constantFrom(redrive(2), { RedrivePolicy: '' }).map(setOf) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('30', '60', '345600')
      .map((period) => setOf({ MessageRetentionPeriod: period })),
  },
  {
    weight: 2,
    arbitrary: fc.nat(5).map((through) => ({ kind: 'resolve-moves', targetIncarnation, through }) as const),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'return-moves', targetIncarnation } as const) },
  { weight: 2, arbitrary: fc.constant(tidyOf()) },
);
const drawn: fc.Arbitrary<Drawn> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      messages: fc.array(
        fc.nat(9).map((n) => newMessage(`${n}`)),
        { minLength: 1, maxLength: 8 },
      ),
      delaySeconds: fc.constantFrom(0, 0, 0, 5),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('receive' as const),
      maxMessages: fc.integer({ min: 1, max: 10 }),
      seconds,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'release' as const), back }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('change-visibility' as const), back, seconds }),
  },
  { weight: 2, arbitrary: plain.map((command) => ({ kind: 'plain' as const, command })) },
);
const step: fc.Arbitrary<Step> = fc.record({
  batch: fc.array(drawn, { minLength: 1, maxLength: 3 }),
  rival: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(drawn, { minLength: 1, maxLength: 2 }) },
  ),
  waitMillis: fc.constantFrom(0, 1, 1_000, 4_000, 15_000),
});

class Side {
  readonly queue = new OneQueue();
  readonly handles: ReceiptHandle[] = [];
  #purges = false;

  constructor(limits: typeof queueLimits) {
    this.queue.limits = limits;
  }

  play({ batch, rival, waitMillis }: Step): unknown {
    const { queue } = this;
    queue.nowMillis += waitMillis;
    const kinds = [...batch, ...rival].map((entry) =>
      entry.kind === 'plain' ? entry.command.kind : entry.kind,
    );
    this.#purges = kinds.includes('purge');
    // Messages come back from a target only once it is gone.
    queue.target = kinds.includes('return-moves')
      ? { kind: 'missing' }
      : { kind: 'present', incarnation: targetIncarnation };
    const commands = batch.map((entry) => this.#commandOf(entry));
    const segments: PreparedSegment[] = [];
    const pages: PreparedPage[] = [];
    let before: unknown;
    if (rival.length > 0) {
      queue.attempt(commands, segments, pages);
      before = this.#learn(queue.commit(...rival.map((entry) => this.#commandOf(entry))));
    }
    return [before, this.#learn(queue.commitPrepared(commands, segments, pages))];
  }

  #commandOf(entry: Drawn): Command {
    switch (entry.kind) {
      case 'send': {
        const { messages, delaySeconds } = entry;
        return { kind: 'send', entries: messages.map((message) => ({ message, delaySeconds })) };
      }
      case 'receive':
        return receiveOf(entry.maxMessages, entry.seconds);
      case 'change-visibility':
        return {
          kind: 'change-visibility',
          entries: this.#pick(entry.back).map((handle) => ({ handle, timeoutSeconds: entry.seconds })),
        };
      case 'plain':
        return entry.command;
      default:
        return { kind: entry.kind, handles: this.#pick(entry.back) };
    }
  }

  #pick(back: readonly number[]): ReceiptHandle[] {
    return back.map(
      (n) => this.handles.at(-1 - n) ?? { incarnation, sequence: 1, leaseVersion: 1, token: noToken },
    );
  }

  /** The answers without what is drawn anew for every attempt. */
  #learn(results: readonly CommandResult[]): unknown {
    // A purge is an effect, so the transition is swapped in, and what else had one makes no difference.
    const purged = this.#purges;
    return results.map(({ outcome, effect: own }) => {
      const effect = own || purged;
      if (outcome.kind !== 'received') return { outcome, effect };
      for (const { handle } of outcome.messages) this.handles.push(handle);
      const messages = outcome.messages.map(({ handle: { token: _, ...handle }, ...leased }) => ({
        ...leased,
        handle,
      }));
      return { outcome: { ...outcome, messages }, effect };
    });
  }
}

const noToken = '0'.repeat(16) as ReceiptHandle['token'];

function shown(state: QueueState): unknown {
  const deliveries = [...state.deliveries].map(([sequence, { token: _, ...rest }]) => [sequence, rest]);
  return {
    version: state.version,
    ready: state.ready,
    delayed: state.delayed,
    deliveries: deliveries.sort(([a], [b]) => (a as number) - (b as number)),
    intents: state.intents,
    tail: [...state.tail.keys()],
    live: [...state.segments.values()].map(({ liveCount, runs }) => ({ liveCount, runs })),
  };
}

describe('pages of deliveries', () => {
  it('answer as if everything were in the manifest', () => {
    let paged = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const [small, large] = [new Side(bounded), new Side(unbounded)];
        for (const one of steps) {
          assert.deepEqual(small.play(one), large.play(one));
          assert.deepEqual(shown(small.queue.whole), shown(large.queue.state));
          assert.deepEqual(small.queue.counts, large.queue.counts);
          const { state, nowMillis } = small.queue;
          assert.equal(hasVisible(state, nowMillis), hasVisible(large.queue.state, nowMillis));
          if (state.leasePages.size > 0) paged++;
        }
      }),
      { numRuns: 100 },
    );
    assert.ok(paged > 0);
  });
});
