/** Faults of pages: DESIGN.md sections 4 and 5. */
import type { Mutant } from './mutant.ts';
import { counts, named, purge } from './spoiled-files.ts';

const pages = 'src/core/pages.ts';
const delayed = 'src/core/delayed-pages.ts';

export const pageFaults: readonly Mutant[] = [
  {
    name: 'a-page-is-used-unseen-after-a-conflict',
    breaks: 'after a conflict a page may be reused only if all it covers is unchanged',
    dagger: true,
    focus: 'pages',
    patches: [{ file: delayed, text: 'if (stillTrue(draft, page.content)) pointAt', by: 'pointAt' }],
  },
  {
    name: 'a-page-below-collectedBelow-is-named',
    breaks: 'new references have a base version of at least collectedBelow',
    dagger: true,
    focus: 'pages',
    patches: [
      {
        file: pages,
        text: 'prepared.filter(({ baseVersion }) => baseVersion >= collectedBelow)',
        by: 'prepared.filter(() => collectedBelow >= 0)',
      },
    ],
  },
  {
    name: 'an-unreadable-page-is-taken-for-empty',
    breaks: 'a page that cannot be read is reported and stays as it is',
    focus: 'pages',
    patches: [
      {
        file: delayed,
        text: '  if (!content) return nothing;\n  draft.delayedPages.delete(id);',
        by: '  if (!content && pages.needed.has(id)) return nothing;\n  draft.delayedPages.delete(id);\n  if (!content) return nothing;',
      },
    ],
  },
  {
    name: 'retention-does-not-bring-pages-back',
    breaks: 'retention brings back a page before it ends what may be in it',
    focus: 'pages',
    patches: [
      {
        file: 'src/core/retention.ts',
        text: 'all = unfoldWithin(draft, firstSequence, end, pages) && all;',
        by: '',
      },
    ],
  },
  {
    name: 'purge-leaves-pages',
    breaks: 'purge ends every message below the watermark',
    focus: 'pages',
    patches: [
      {
        file: purge,
        text: '  for (const id of draft.delayedPages.current.keys()) draft.delayedPages.delete(id);',
        by: '',
      },
    ],
  },
  {
    name: 'the-sweep-knows-no-pages',
    breaks: 'what a manifest names is not collected',
    dagger: true,
    focus: 'pages',
    patches: [
      {
        file: named,
        text: "['seg', state.segments], ...pages]",
        by: "['seg', state.segments], ...pages.slice(0, 0)]",
      },
    ],
  },
  {
    name: 'the-first-due-of-a-page-is-its-last',
    breaks: 'a page comes back before the first of its messages is due',
    focus: 'pages',
    patches: [
      {
        file: delayed,
        text: 'firstDueAtMillis = Math.min(firstDueAtMillis, dueAtMillis)',
        by: 'firstDueAtMillis = Math.max(Number.isFinite(firstDueAtMillis) ? firstDueAtMillis : 0, dueAtMillis)',
      },
    ],
  },
  {
    name: 'nobody-wakes-for-a-page',
    breaks: 'a parked receive is woken when a message of a page is due',
    // In `pages` sweeps commit every second, and in the swarm polls come soon: both wake everybody.
    focus: 'quiet',
    patches: [
      {
        file: counts,
        text: 'if (firstDueAtMillis > nowMillis && (next',
        by: 'if (firstDueAtMillis < 0 && (next',
      },
    ],
  },
];
