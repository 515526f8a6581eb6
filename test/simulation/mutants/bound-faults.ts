/** Faults of size, of counts, of fairness, and of what is left over. */
import type { Mutant } from './mutant.ts';
import { batch, collector, counts, register, spill, timeSource, view } from './spoiled-files.ts';

export const boundFaults: readonly Mutant[] = [
  {
    name: 'tail-is-not-spilled',
    breaks: 'the tail keeps its bound',
    patches: [
      {
        file: spill,
        text: 'const overflows = totalBytes > tailBytesMax;',
        by: 'const overflows = totalBytes > 4 * tailBytesMax;',
      },
    ],
  },
  {
    name: 'segments-are-not-cut',
    breaks: 'a segment is cut at its bound',
    patches: [
      {
        file: spill,
        text: 'currentBytes + entry.bytes > segmentBytesMax',
        by: 'currentBytes + entry.bytes > 100 * segmentBytesMax',
      },
    ],
  },
  {
    name: 'manifest-is-padded',
    breaks: 'a manifest is as large as what it holds',
    patches: [
      {
        file: 'src/format/manifest-codec.ts',
        text: 'new Uint8Array(missingBytes)',
        by: 'new Uint8Array(missingBytes + 1_000)',
      },
    ],
  },
  {
    name: 'nobody-asks-for-a-turn',
    breaks: 'a far node beside a saturated near one is never without a commit for more than 5 s',
    focus: 'far',
    patches: [
      {
        file: batch,
        text: 'if (++this.#lost >= lossesToAsk) view.askForTurn();',
        by: 'if (++this.#lost >= 1e9 * lossesToAsk) view.askForTurn();',
      },
    ],
  },
  {
    name: 'nobody-gives-a-turn',
    breaks: 'whoever commits often looks who asks for a turn',
    focus: 'far',
    patches: [
      {
        file: view,
        text: 'if (asking) this.crowd.asked(',
        by: 'if (asking && asking.id === this.writer) this.crowd.asked(',
      },
    ],
  },
  {
    name: 'delayed-counts-as-visible',
    breaks: 'visible, in flight and delayed are counted apart',
    patches: [
      {
        file: counts,
        text: 'if (dueAtMillis > time.nowMillis) delayed++;',
        by: 'if (dueAtMillis > time.nowMillis + 1e12) delayed++;',
      },
    ],
  },
  {
    name: 'in-flight-for-ever',
    breaks: 'what became visible again is not in flight',
    patches: [
      {
        file: counts,
        text: 'if (delivery.visibleAtMillis > time.nowMillis) inFlight++;',
        by: 'if (delivery.visibleAtMillis > time.nowMillis - 1e12) inFlight++;',
      },
    ],
  },
  {
    name: 'tombstones-stay',
    breaks: 'tombstones go once they are old',
    patches: [
      {
        file: collector,
        text: '      if (!isTombstoneSize(bytes) || queueNameOfManifestKey(key) === undefined) continue;',
        by: '      if (isTombstoneSize(bytes) || queueNameOfManifestKey(key) === undefined) continue;',
      },
    ],
  },
  {
    name: 'throw-aways-stay',
    breaks: 'nothing is left over that nobody collects',
    patches: [
      {
        file: collector,
        text: '      await environment.store.delete(key);\n      deleted++;',
        by: '      void key;',
      },
    ],
  },
  {
    name: 'orphans-of-the-deleted-stay',
    breaks: 'objects of an incarnation that is gone are removed',
    focus: 'names',
    patches: [
      { file: collector, text: 'if (!state) return this.#delete(objects);', by: 'if (!state) return 0;' },
    ],
  },
  {
    name: 'last-modified-is-the-time',
    breaks: "bounds come from answers to writes, never from reads: a cache's are old",
    focus: 'clocks',
    patches: [
      {
        file: timeSource,
        text: 'get: (key, options) => store.get(key, options),',
        by: `get: (key, options) =>
        heard(async () => {
          const found = await store.get(key, options);
          return found.kind === 'done' ? { ...found, time: found.lastModified } : found;
        }),`,
      },
    ],
  },
  {
    name: 'an-answer-without-a-clock-will-do',
    breaks: 'a process has bounds from its start-up PUTs (kept seed clocks-1)',
    dagger: true,
    focus: 'clocks',
    patches: [{ file: timeSource, text: 'asked < clocklessAnswersMax', by: 'asked < 1' }],
  },
  {
    name: 'refused-is-done',
    breaks: 'a request that the store refused has written nothing',
    patches: [
      {
        file: register,
        text: ': await this.#store.putIfMatch(this.#key, bytes, expected);',
        by: `: await this.#store
            .putIfMatch(this.#key, bytes, expected)
            .catch(() => ({ kind: 'done', etag: '"refused"' as ETag }) as const);`,
      },
    ],
  },
];
