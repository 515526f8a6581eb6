/** Faults of compaction: docs/design/0006-compaction.md. */
import type { Mutant } from './mutant.ts';

const replace = 'src/core/replace-segments.ts';
const layout = 'src/core/compaction-layout.ts';
const compactor = 'src/engine/compactor.ts';

export const compactionFaults: readonly Mutant[] = [
  {
    name: 'replaced-segments-need-not-be-named',
    breaks: 'a copy is named only while all that it was copied from is named',
    focus: 'backlogs',
    patches: [
      { file: replace, text: ' || replaced.some((reference) => reference === undefined)', by: '' },
      {
        file: replace,
        text: 'liveCount += reference!.liveCount',
        by: 'liveCount += reference?.liveCount ?? 0',
      },
    ],
  },
  {
    name: 'replaced-segments-are-counted-as-read',
    breaks: 'the live count of a copy is that of what it replaces as it is now',
    focus: 'backlogs',
    patches: [{ file: replace, text: '    liveCount,\n    ...(', by: '    liveCount: bodyCount,\n    ...(' }],
  },
  {
    name: 'copies-are-named-below-collected-below',
    breaks: 'apply refuses new references with a base below collectedBelow',
    dagger: true,
    focus: 'backlogs',
    patches: [
      { file: replace, text: 'into.baseVersion < collectedBelow || ', by: '' },
      // The product's own look at every step would stop it.
      {
        file: 'src/core/invariants.ts',
        text: 'if (reference.baseVersion < next.collectedBelow &&',
        by: 'if (reference.baseVersion < 0 &&',
      },
    ],
  },
  {
    name: 'copies-leave-out-what-is-in-flight',
    breaks: 'every live message is copied',
    focus: 'backlogs',
    patches: [
      { file: layout, text: '    deliveries.has(sequence) ||\n', by: '' },
      { file: replace, text: 'if (liveCount > into.bodyCount)', by: 'if (liveCount > 1e9 + into.bodyCount)' },
    ],
  },
  {
    name: 'copies-lose-their-shifts',
    breaks: 'a copy has the stamps that count',
    focus: 'backlogs',
    patches: [
      {
        file: compactor,
        text: 'if (sentAtShiftMillis === 0) return',
        by: 'if (sentAtShiftMillis >= 0) return',
      },
    ],
  },
  {
    name: 'copies-end-with-their-oldest',
    breaks: 'a segment ends with its youngest message',
    focus: 'backlogs',
    patches: [
      {
        file: compactor,
        text: 'Math.max(...[...from].map((id) => state.segments.get(id)!.sentAtMaxMillis))',
        by: 'Math.min(...[...from].map((id) => state.segments.get(id)!.sentAtMaxMillis))',
      },
    ],
  },
  {
    name: 'runs-of-copies-pass-over-others',
    breaks: 'runs of two segments never overlap',
    focus: 'backlogs',
    patches: [
      {
        file: layout,
        text: 'return other === undefined || other.first >= end;',
        by: 'return other !== undefined || end > 0;',
      },
    ],
  },
  {
    name: 'free-ordinals-are-not-written',
    breaks: 'a free ordinal takes its place in the object',
    focus: 'backlogs',
    patches: [
      {
        file: 'src/format/segment-codec.ts',
        text: 'writer.bytesEvenIfEmpty(field.messages',
        by: 'writer.bytes(field.messages',
      },
    ],
  },
  {
    name: 'compaction-trusts-its-view-of-what-is-missing',
    breaks: 'only a manifest read after a 404 says that a segment is missed',
    focus: 'backlogs',
    patches: [
      {
        file: compactor,
        text: "if ((await this.#loop.view.refresh()).kind === 'ended') return undefined;",
        by: '',
      },
    ],
  },
];
