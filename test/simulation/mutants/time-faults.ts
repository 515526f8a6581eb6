/** Faults of time: DESIGN.md section 7. */
import type { Mutant } from './mutant.ts';
import { clock, timeSource } from './spoiled-files.ts';

export const timeFaults: readonly Mutant[] = [
  {
    name: 'retention-by-the-upper-bound',
    breaks: 'what destroys compares with the lower bound',
    dagger: true,
    focus: 'clocks',
    patches: [
      {
        file: timeSource,
        text: '      lowerMillis: reading.lowerMillis,\n      confirmed',
        by: '      lowerMillis: reading.upperMillis,\n      confirmed',
      },
    ],
  },
  {
    name: 'stamp-by-the-lower-bound',
    breaks: 'what starts a life takes the upper bound',
    dagger: true,
    focus: 'clocks',
    patches: [
      {
        file: timeSource,
        text: 'const stampMillis = Math.max(reading.upperMillis, reading.nowMillis, nextMillis);',
        by: 'const stampMillis = reading.lowerMillis;',
      },
    ],
  },
  {
    name: 'displaced-bounds-are-forgotten',
    breaks: 'until bounds are confirmed the upper one covers what they displaced',
    focus: 'clocks',
    patches: [{ file: clock, text: 'Math.max(upper, displaced)', by: 'upper' }],
  },
  {
    name: 'failed-start-is-kept',
    breaks: 'a process whose first question for the time failed asks again',
    patches: [
      {
        file: timeSource,
        text: '      this.#primed = undefined;\n      throw error;',
        by: '      throw error;',
      },
    ],
  },
  {
    name: 'bounds-end-with-idling',
    breaks: 'a process has bounds from its start-up PUTs, also after idling',
    dagger: true,
    focus: 'clocks',
    patches: [
      {
        file: clock,
        text: '    if (bounds === undefined) return undefined;',
        by: '    if (bounds === undefined || monotonicNow - bounds.monotonic > 30_000) return undefined;',
      },
    ],
  },
  {
    name: 'sleep-is-not-seen',
    breaks: 'the upper bound goes by the larger of monotonic and wall clock',
    focus: 'sleeps',
    patches: [{ file: clock, text: 'return seen * (1 + driftPerMillisecond);', by: 'return seen * 0;' }],
  },
  {
    name: 'slept-time-does-not-drift',
    breaks: 'bounds widen by what clocks may drift, in sleep too',
    focus: 'sleeps',
    patches: [{ file: clock, text: 'return seen * (1 + driftPerMillisecond);', by: 'return seen;' }],
  },
  {
    name: 'sleep-passes-for-a-lie',
    breaks: 'a wall clock that is off is found out by the first answer after a sleep',
    focus: 'sleeps',
    patches: [{ file: clock, text: 'if (now.lower > beforeUpper ||', by: 'if (now.lower > before.upper ||' }],
  },
  {
    name: 'one-answer-confirms',
    breaks: 'manifest time moves far only when a second request a minute later confirms it',
    focus: 'clocks',
    patches: [
      {
        file: 'src/core/time.ts',
        text: 'confirmed ? lowerMillis : Math.min(lowerMillis, reachableMillis)',
        by: 'confirmed ? lowerMillis : Math.max(lowerMillis, reachableMillis * 0)',
      },
    ],
  },
  {
    name: 'visibility-by-the-local-clock',
    breaks: "visibility uses the store's time",
    patches: [
      {
        file: clock,
        text: 'const nowMillis = wallIsOff ? clampedMillis : wallMillis;',
        by: 'void clampedMillis;\n    const nowMillis = wallMillis;',
      },
    ],
  },
  {
    name: 'lost-clock-request-counts',
    breaks: 'a process has bounds from its start-up PUTs (kept seed 32)',
    focus: 'clocks',
    dagger: true,
    patches: [
      {
        file: timeSource,
        text: "if (outcome.kind === 'unknown')\n      throw",
        by: "if (outcome.kind === 'unknown' && key === '')\n      throw",
      },
      // Asked again, it would answer.
      { file: timeSource, text: 'asked < clocklessAnswersMax', by: 'asked < 1' },
    ],
  },
];
