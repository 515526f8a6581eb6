/** Faults of pages of deliveries. */
import type { Mutant } from './mutant.ts';
import { draft } from './spoiled-files.ts';

const deliveries = 'src/core/deliveries.ts';
const openPage = 'src/core/open-lease-page.ts';
const leasePages = 'src/core/lease-pages.ts';

export const leaseFaults: readonly Mutant[] = [
  {
    name: 'lease-page-of-the-past',
    breaks: 'after a conflict a page is used only if all it covers is unchanged',
    dagger: true,
    focus: 'pages',
    patches: [
      {
        file: leasePages,
        text: '    if (!isStillTrue(draft, content)) continue;',
        by: '    if (content.sequences.some((sequence) => draft.tail.current.has(sequence))) continue;',
      },
    ],
  },
  {
    name: 'lease-page-keeps-what-was-changed',
    breaks: 'a lease that is made anew leaves its page',
    patches: [{ file: deliveries, text: '    page?.take(ordinal);\n', by: '' }],
  },
  {
    name: 'lease-page-keeps-what-ended',
    breaks: 'what ends leaves its page',
    patches: [
      {
        file: deliveries,
        text: '    if (page) page.take(ordinal);\n    else this',
        by: '    if (!page) this',
      },
    ],
  },
  {
    name: 'unreadable-is-absent',
    breaks: 'a delete is not answered from a page that cannot be read',
    focus: 'pages',
    patches: [{ file: deliveries, text: "return unknown ? 'unknown' : 'absent';", by: "return 'absent';" }],
  },
  {
    name: 'pages-are-not-asked',
    breaks: 'a delivery is looked for in pages too',
    patches: [
      {
        file: draft,
        text: '    return this.deliveries.find(sequence, leaseVersion);',
        by: "    return leaseVersion > 0 ? 'absent' : this.deliveries.find(sequence, leaseVersion);",
      },
    ],
  },
  {
    name: 'page-bounds-grow-old',
    breaks: 'the manifest knows exactly when the first of a page becomes visible',
    patches: [
      { file: openPage, text: '      this.#boundLeft = true;', by: '      this.#boundLeft = false;' },
    ],
  },
  {
    name: 'retention-forgets-lease-pages',
    breaks: 'what retention ends leaves its page',
    focus: 'clocks',
    patches: [
      {
        file: deliveries,
        text: '        if (page.has(at)) page.take(at);',
        by: '        if (page.has(at)) continue;',
      },
    ],
  },
  {
    name: 'purge-forgets-lease-pages',
    breaks: 'a purge drops every page',
    focus: 'pages',
    patches: [{ file: deliveries, text: '    this.#references.replace(new Map());\n', by: '' }],
  },
  {
    name: 'leases-are-never-folded',
    breaks: 'the manifest keeps its bound',
    patches: [
      {
        file: leasePages,
        text: '  if (excess <= 0) return;',
        by: '  if (excess <= 1e9) return;',
      },
    ],
  },
  {
    name: 'ranges-of-a-page-are-not-read',
    breaks: 'what has left a page, told by ranges, does not come back',
    focus: 'stretches',
    patches: [
      {
        file: 'src/format/page-reference-codec.ts',
        text: '        values[of] = decode(other, reference);\n',
        by: '',
      },
    ],
  },
  {
    name: 'a-range-of-a-page-ends-early',
    breaks: 'everything that a range says has left a page has left it',
    focus: 'stretches',
    patches: [
      {
        file: 'src/format/left-codec.ts',
        text: 'for (let ordinal = start; ordinal < end; ordinal++) bits',
        by: 'for (let ordinal = start; ordinal < end - 1; ordinal++) bits',
      },
    ],
  },
];
