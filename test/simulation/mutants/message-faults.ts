/** Faults in what happens to messages within one queue: fencing, purge, visibility, redelivery, segments' bodies. */
import type { Mutant } from './mutant.ts';
import {
  batch,
  counts,
  deletes,
  draft,
  lease,
  purge,
  receive,
  send,
  spill,
  transition,
  visibility,
} from './spoiled-files.ts';

export const messageFaults: readonly Mutant[] = [
  {
    name: 'no-token-check',
    breaks: 'fenced: a handle of an earlier delivery deletes nothing',
    patches: [
      {
        file: deletes,
        text: "return found !== 'absent' && found.delivery.token === handle.token ? found : 'void';",
        by: "return found === 'absent' ? 'void' : found;",
      },
    ],
  },
  {
    name: 'handle-of-an-old-incarnation',
    breaks: 'a recreated queue is another queue',
    focus: 'names',
    patches: [
      {
        file: deletes,
        text: "  if (handle.incarnation !== draft.base.incarnation) return 'void';",
        by: `  const held = draft.findDelivery(handle.sequence, 0);
  if (handle.incarnation !== draft.base.incarnation) return held === 'absent' ? 'void' : held;`,
      },
    ],
  },
  {
    name: 'uncommitted-expiry-is-told',
    breaks: 'an outcome that rests on retention stands once it is swapped in (kept seed 10)',
    focus: 'clocks',
    patches: [
      {
        file: deletes,
        text: 'return before?.token === handle.token || (draft.resolved.fifo !== undefined && before !== undefined);',
        by: 'return before === undefined;',
      },
    ],
  },
  {
    name: 'sequence-number-reused',
    breaks: 'sequence numbers are never used twice',
    patches: [
      {
        file: send,
        text: 'const sequence = draft.nextSequence++;',
        by: `const empty = draft.tail.current.size + draft.segments.current.size === 0;
    const sequence = empty && draft.nextSequence > 1 ? draft.nextSequence - 1 : draft.nextSequence++;`,
      },
    ],
  },
  {
    name: 'delivery-tokens-repeat',
    breaks: 'each delivery has a token of its own',
    patches: [
      {
        file: draft,
        text: 'BigInt.asUintN(64, this.#seed + this.#tokens++)',
        by: 'BigInt.asUintN(64, this.#seed + this.#tokens)',
      },
    ],
  },
  {
    name: 'redelivery-counted-twice',
    breaks: 'the receive count tells deliveries',
    patches: [
      {
        file: lease,
        text: 'receiveCount: (previous?.receiveCount ?? 0) + 1,',
        by: 'receiveCount: previous ? previous.receiveCount + 2 : 1,',
      },
    ],
  },
  {
    name: 'lease-ends-early',
    breaks: 'no delivery before the visibility timeout of the one before',
    patches: [
      {
        file: 'src/core/deliveries.ts',
        text: '      if (delivery.visibleAtMillis <= nowMillis) {',
        by: '      if (delivery.visibleAtMillis <= nowMillis + 500) {',
      },
    ],
  },
  {
    name: 'delayed-is-visible-early',
    breaks: 'no delivery before the delay is over',
    patches: [
      {
        file: 'src/core/delayed-pages.ts',
        text: '    if (dueAtMillis <= nowMillis) yield {',
        by: '    if (dueAtMillis <= nowMillis + 500) yield {',
      },
    ],
  },
  {
    name: 'delay-is-halved',
    breaks: 'a delay lasts as long as was asked',
    patches: [
      {
        file: send,
        text: 'draft.time.nowMillis + delaySeconds * 1000)',
        by: 'draft.time.nowMillis + delaySeconds * 500)',
      },
    ],
  },
  {
    name: 'timeout-asked-is-ignored',
    breaks: "a receive's own visibility timeout holds",
    patches: [
      {
        file: lease,
        text: 'command.visibilityTimeoutSeconds ?? draft.resolved.visibilityTimeoutSeconds;',
        by: 'draft.resolved.visibilityTimeoutSeconds;',
      },
    ],
  },
  {
    name: 'release-keeps-the-lease',
    breaks: 'a client that went away gets nothing leased',
    patches: [
      {
        file: visibility,
        text: "    if (held === 'unknown' || held === 'void') continue;",
        by: "    if (held === 'unknown' || held === 'void' || fresh.length === 0) continue;",
      },
    ],
  },
  {
    name: 'release-by-another-handle',
    breaks: 'a lease is released by exact token',
    patches: [
      {
        file: visibility,
        text: `    const held = heldDelivery(draft, handle);
    if (held === 'unknown') unknown = true;`,
        by: `    const there = draft.findDelivery(handle.sequence, 0);
    const held = there === 'absent' ? 'void' : there;
    if (held === 'unknown') unknown = true;`,
      },
    ],
    focus: 'swaps',
  },
  {
    name: 'purge-takes-later-sends',
    breaks: 'later sends are untouched by a purge',
    patches: [{ file: transition, text: '  purge: 2,', by: '  purge: 6,' }],
  },
  {
    name: 'purge-forgets-what-is-in-flight',
    breaks: 'a purge covers what was there',
    patches: [
      {
        file: purge,
        text: 'draft.deliveries.clear();',
        by: '',
      },
    ],
  },
  {
    name: 'purge-lost-in-a-conflict',
    breaks: 'a purge is applied anew on the fresh state',
    patches: [
      {
        file: batch,
        text: 'commands: this.#commands.map(({ command }) => command),',
        by: `commands: this.#commands.map(({ command }): Command =>
        command.kind === 'purge' && this.#failures + this.#lost > 0
          ? { kind: 'set-attributes', changes: new Map() }
          : command,
      ),`,
      },
    ],
  },
  {
    name: 'retry-brings-back-what-was-purged',
    breaks: 'a retry goes by the purge watermark of the fresh state',
    patches: [
      { file: batch, text: '  #failures = 0;', by: '  #failures = 0;\n  #first: QueueState | undefined;' },
      {
        file: batch,
        text: '      state: base.state,\n',
        by: `      state: this.#unpurged(base.state),
`,
      },
      {
        file: batch,
        text: '  #isFreshEnough(',
        by: `  /** What the first attempt knew, when somebody has purged the queue since. */
  #unpurged(state: QueueState): QueueState {
    this.#first ??= state;
    if (state.purgeWatermark === this.#first.purgeWatermark) return state;
    const { ready, delayed, deliveries, tail, segments } = this.#first;
    return { ...state, ready, delayed, deliveries, tail, segments };
  }

  #isFreshEnough(`,
      },
    ],
  },
  {
    name: 'tail-dropped-on-spill',
    breaks: 'a spill takes the whole tail',
    patches: [
      {
        file: spill,
        text: 'const leaving = tail.filter((entry) => overflows || entry.bytes > inlineMessageBytesMax);',
        by: `if (overflows) for (const { sequence, origin } of tail) if (!origin) draft.tail.delete(sequence);
  const leaving = tail.filter((entry) => overflows && entry.origin);`,
      },
    ],
  },
  {
    name: 'upload-reused-by-number',
    breaks: 'after a conflict an upload is reused only for what it holds',
    focus: 'swaps',
    patches: [
      {
        file: spill,
        text: 'places.set(message.origin ?? message.sequence,',
        by: 'places.set(message.sequence,',
      },
      {
        file: spill,
        text: 'places.get(entry.origin ?? entry.sequence)',
        by: 'places.get(entry.sequence)',
      },
    ],
  },
  {
    name: 'unreadable-body-is-dropped',
    breaks: 'an unreadable body is reported and never dropped',
    focus: 'collection',
    patches: [
      {
        file: receive,
        text: '      this.#unreadable = true;\n',
        by: '      this.#walk.leave(visible);\n      draft.endBody(sequence);\n      this.#ended = true;\n',
      },
    ],
  },
  {
    name: 'counts-mix-in-flight-and-visible',
    breaks: 'counts equal the model',
    patches: [
      {
        file: counts,
        text: '    if (delivery.visibleAtMillis > time.nowMillis) inFlight++;',
        by: '    if (delivery.visibleAtMillis > time.nowMillis + 60_000) inFlight++;',
      },
    ],
  },
];
