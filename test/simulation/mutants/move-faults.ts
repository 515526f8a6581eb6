/** Faults of moves between queues: DESIGN.md section 6. */
import type { Mutant } from './mutant.ts';
import { mover, purge, redrive, resources } from './spoiled-files.ts';

export const moveFaults: readonly Mutant[] = [
  {
    name: 'no-next-number-check',
    breaks: 'the target appends only the next number of a link',
    focus: 'moves',
    patches: [
      {
        file: redrive,
        text: 'if (moved.number !== lastNumber + 1 || !view.pending.has(moved.number)) continue;',
        by: 'if (!view.pending.has(moved.number)) continue;',
      },
    ],
  },
  {
    name: 'no-look-for-the-intent',
    breaks: 'an append needs the intent still there',
    dagger: true,
    focus: 'moves',
    patches: [
      {
        file: redrive,
        text: 'if (moved.number !== lastNumber + 1 || !view.pending.has(moved.number)) continue;',
        by: 'if (moved.number !== lastNumber + 1) continue;',
      },
      {
        file: redrive,
        text: "if (view.kind === 'gone') {",
        by: "if (view.kind === 'gone' && source.name === '') {",
      },
    ],
  },
  {
    name: 'source-not-read-again',
    breaks: 'an append re-reads the source after the target state it swaps against',
    dagger: true,
    focus: 'moves',
    patches: [
      {
        file: resources,
        text: 'this.#sourcesVersion === this.#view.current.state.version ? this.#sources.get(incarnation) : undefined;',
        by: 'this.#sources.get(incarnation);',
      },
      {
        file: resources,
        text: 'if (this.#sourcesVersion !== version) this.#sources.clear();',
        by: '',
      },
    ],
  },
  {
    name: 'resolves-more-than-was-appended',
    breaks: 'the source removes what the target has',
    focus: 'moves',
    patches: [{ file: mover, text: 'through: outcome.through });', by: 'through: outcome.through + 1 });' }],
  },
  {
    name: 'resolves-before-the-append',
    breaks: 'intent, append, remove: in that order',
    focus: 'moves',
    patches: [
      {
        file: mover,
        text: "const outcome = await target.submit({ kind: 'append-moved', source, messages }, bytes);",
        by: `await this.#loop.submit({ kind: 'resolve-moves', targetIncarnation, through: messages.at(-1)!.number });
    const outcome = await target.submit({ kind: 'append-moved', source, messages }, bytes);`,
      },
    ],
  },
  {
    name: 'returned-under-the-watermark',
    breaks: 'a message that returns from a target that is gone stays purged',
    focus: 'moves',
    patches: [
      {
        file: redrive,
        text: 'if (sequence < draft.purgeWatermark) draft.endBody(sequence);',
        by: 'if (sequence < 0) draft.endBody(sequence);',
      },
    ],
  },
  {
    name: 'purge-takes-what-is-moving',
    breaks: 'a purge of the source leaves intents',
    focus: 'moves',
    patches: [
      {
        file: purge,
        text: '    if (!draft.intents.current.has(sequence)) draft.tail.delete(sequence);',
        by: '    draft.tail.delete(sequence);\n  for (const sequence of draft.intents.current.keys()) draft.intents.delete(sequence);',
      },
    ],
  },
  {
    name: 'gone-target-is-forgotten',
    breaks: 'a target that is gone gives its messages back',
    focus: 'moves',
    patches: [
      {
        file: mover,
        text: "await this.#loop.submit({ kind: 'return-moves', targetIncarnation });",
        by: "await this.#loop.submit({ kind: 'resolve-moves', targetIncarnation, through: 1e9 });",
      },
    ],
  },
  {
    name: 'received-once-too-often',
    breaks: 'a letter moves when its receives are used up',
    focus: 'moves',
    patches: [
      {
        file: redrive,
        text: 'receivedHere(previous) < policy.maxReceiveCount',
        by: 'receivedHere(previous) <= policy.maxReceiveCount',
      },
    ],
  },
  {
    name: 'letters-are-never-moved',
    breaks: 'every intent comes to its end',
    focus: 'moves',
    patches: [
      {
        file: mover,
        text: 'while (this.#intents().size > 0 && !this.#stop.aborted) {',
        by: 'while (this.#intents().size > 1 && !this.#stop.aborted) {',
      },
      {
        file: mover,
        text: 'if (this.#running || this.#intents().size === 0) return;',
        by: 'if (this.#running || this.#intents().size <= 1) return;',
      },
    ],
  },
];
