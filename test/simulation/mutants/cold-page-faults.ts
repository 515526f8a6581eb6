/** Faults of pages of ready ranges and of segments: docs/design/0005-pages.md. */
import type { Mutant } from './mutant.ts';
import { counts, named, purge } from './spoiled-files.ts';

const ready = 'src/core/ready-pages.ts';
const segments = 'src/core/segments-pages.ts';
const retention = 'src/core/retention.ts';
const replace = 'src/core/replace-segments.ts';
const layout = 'src/core/compaction-layout.ts';

const collectionOfPages: readonly Mutant[] = [
  {
    name: 'a-segment-in-a-page-is-garbage',
    breaks: 'a segment that moves into a page is as alive as before',
    dagger: true,
    focus: 'pages',
    patches: [{ file: named, text: 'if (hull) for', by: 'if (hull && state.version < 0) for' }],
  },
  {
    name: 'the-sweep-looks-into-no-page',
    breaks: 'what a page of segments names is not collected',
    dagger: true,
    focus: 'pages',
    patches: [
      {
        file: named,
        text: "named.add(nameOf({ kind: 'seg', ...segment }));",
        by: 'void segment;',
      },
    ],
  },
  {
    name: 'the-sweep-goes-on-past-an-unreadable-page',
    breaks: 'a page that cannot be read stops the collection of its queue',
    dagger: true,
    focus: 'pages',
    patches: [
      {
        file: named,
        text: "  if (result.kind === 'failed') throw new StoreError(result.reason, { retryable: true });\n",
        by: '',
      },
      {
        file: named,
        text: "if (!segments || !isPageOf('segments', segments, reference)) return undefined;",
        by: 'if (!segments) continue;',
      },
    ],
  },
];

const writingOfPages: readonly Mutant[] = [
  {
    name: 'a-ready-page-is-used-unseen-after-a-conflict',
    breaks: 'after a conflict a page may be reused only if all it covers is unchanged',
    dagger: true,
    focus: 'pages',
    patches: [
      {
        file: ready,
        text: 'if (size(rest) + size(content) !== size(draft.ready) || holdsTail(draft, content)) continue;',
        by: 'if (holdsTail(draft, content)) continue;',
      },
    ],
  },
  {
    name: 'a-page-of-segments-is-used-unseen-after-a-conflict',
    breaks: 'after a conflict a page may be reused only if all it covers is unchanged',
    dagger: true,
    focus: 'pages',
    patches: [
      {
        file: segments,
        text: 'if (!stillTrue(draft, content, quiet)) continue;',
        by: 'if ([...content.keys()].some((segment) => !draft.segments.current.has(segment))) continue;',
      },
    ],
  },
  {
    name: 'a-hull-covers-what-is-delivered',
    breaks: 'in the hull of a page of segments nothing else is alive',
    focus: 'pages',
    patches: [
      {
        file: segments,
        text: 'for (const { current } of [draft.tail, draft.delayed, draft.deliveries.inline, draft.intents])',
        by: 'for (const { current } of [draft.tail, draft.delayed, draft.intents])',
      },
    ],
  },
  {
    name: 'a-hull-covers-another-page',
    breaks: 'in the hull of a page of segments nothing else is alive',
    focus: 'pages',
    patches: [{ file: segments, text: '  yield* draft.segmentsPages.current.values();\n', by: '' }],
  },
  {
    name: 'a-ready-page-holds-the-tail',
    breaks: 'no message of the tail is in a page: retention ends those one by one',
    focus: 'pages',
    patches: [
      { file: ready, text: ' || holdsTail(draft, content)) continue;', by: ') continue;' },
      {
        file: ready,
        text: '    if (t < inTail.length && inTail[t]! < end) continue;\n',
        by: '',
      },
    ],
  },
];

const readingOfPages: readonly Mutant[] = [
  {
    name: 'a-receive-drops-a-ready-page',
    breaks: 'a page comes back whole',
    focus: 'pages',
    patches: [{ file: ready, text: '  draft.ready = union(draft.ready, content);\n', by: '' }],
  },
  {
    name: 'an-unreadable-ready-page-is-taken-for-empty',
    breaks: 'a page that cannot be read is reported and stays as it is',
    focus: 'pages',
    patches: [
      {
        file: ready,
        text: '  if (!content) return false;\n  draft.readyPages.delete(id);',
        by: '  if (!content && pages.needed.has(id)) return false;\n  draft.readyPages.delete(id);\n  if (!content) return true;',
      },
    ],
  },
  {
    name: 'an-unreadable-page-of-segments-is-dropped',
    breaks: 'a page that cannot be read is reported and stays as it is',
    focus: 'pages',
    patches: [
      {
        file: segments,
        text: '  if (!content) return false;\n  draft.segmentsPages.delete(id);',
        by: '  if (!content && pages.needed.has(id)) return false;\n  draft.segmentsPages.delete(id);\n  if (!content) return false;',
      },
    ],
  },
  {
    name: 'a-page-of-segments-stays-when-it-comes-back',
    breaks: 'a segment is named once',
    focus: 'pages',
    patches: [{ file: segments, text: '  draft.segmentsPages.delete(id);\n', by: '' }],
  },
  {
    name: 'counts-forget-ready-pages',
    breaks: 'counts are those of the messages that are there',
    focus: 'pages',
    patches: [
      {
        file: counts,
        text: '  for (const { count } of draft.readyPages.current.values()) visible += count;\n',
        by: '',
      },
    ],
  },
  {
    name: 'copies-leave-out-what-pages-hold',
    breaks: 'every live message is copied',
    focus: 'backlogs',
    patches: [
      {
        file: layout,
        text: '    intents.has(sequence) ||\n    mayBePaged(state, sequence, sequence + 1)',
        by: '    intents.has(sequence)',
      },
      { file: replace, text: 'if (liveCount > into.bodyCount)', by: 'if (liveCount > 1e9 + into.bodyCount)' },
    ],
  },
];

const endingOfPages: readonly Mutant[] = [
  {
    name: 'pages-of-segments-end-with-their-oldest',
    breaks: 'retention ends a page of segments when its youngest message has expired',
    focus: 'pages',
    patches: [
      {
        file: retention,
        text: 'if (!isExpired(draft, reference.sentAtMaxMillis)) {',
        by: 'if (!isExpired(draft, reference.sentAtMinMillis)) {',
      },
    ],
  },
  {
    name: 'retention-leaves-the-ready-pages',
    breaks: 'a page of segments ends together with all that is ready in it',
    focus: 'pages',
    patches: [
      {
        file: retention,
        text: '    if (!dropReadyWithin(draft, firstSequence, lastSequence + 1, pages)) continue;\n',
        by: '',
      },
    ],
  },
  {
    name: 'retention-drops-ready-pages-that-reach-further',
    breaks: 'a ready page with messages of others comes back before some of it ends',
    focus: 'pages',
    patches: [
      {
        file: ready,
        text: 'if (page.firstSequence >= start && page.lastSequence < end) inside',
        by: 'if (page.firstSequence < end) inside',
      },
    ],
  },
  {
    name: 'purge-leaves-ready-pages',
    breaks: 'purge ends every message below the watermark',
    focus: 'pages',
    patches: [
      {
        file: purge,
        text: '  for (const id of draft.readyPages.current.keys()) draft.readyPages.delete(id);\n',
        by: '',
      },
    ],
  },
  {
    name: 'purge-leaves-pages-of-segments',
    breaks: 'purge ends every message below the watermark',
    focus: 'pages',
    patches: [
      {
        file: purge,
        text: '  for (const id of draft.segmentsPages.current.keys()) draft.segmentsPages.delete(id);\n',
        by: '',
      },
    ],
  },
];

export const coldPageFaults: readonly Mutant[] = [
  ...collectionOfPages,
  ...writingOfPages,
  ...readingOfPages,
  ...endingOfPages,
];
