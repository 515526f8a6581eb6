/** Faults of message groups in standard queues: who comes first (docs/design/0009-fair-queues.md). */
import type { Mutant } from './mutant.ts';

const fairness = 'src/core/fairness.ts';
const walk = 'src/core/fair-walk.ts';

const faults: readonly Omit<Mutant, 'focus'>[] = [
  {
    name: 'nobody-is-quiet',
    breaks: 'what a group sends that has sent little is quiet while messages of a busy one wait',
    patches: [
      {
        file: fairness,
        text: 'if (weightOf(rate) < busiest * QUIET_PART) quiet.push(sequence);',
        by: 'if (weightOf(rate) < 0) quiet.push(sequence);',
      },
    ],
  },
  {
    name: 'who-waits-is-forgotten',
    breaks: 'a group stays busy while its messages wait, whatever else was sent since',
    patches: [
      {
        file: fairness,
        text: 'const busyBelow = busyOnesWait(draft, quiet, this.#busyBelow) ? this.#busyBelow : 0;',
        by: 'const busyBelow = this.#sent.length > 0 ? this.#busyBelow : 0;',
      },
    ],
  },
  {
    name: 'quiet-ones-have-one-turn-in-four',
    breaks: 'quiet messages are handed out before others, three of four times',
    patches: [
      {
        file: walk,
        text: 'if (this.#inARow < QUIET_IN_A_ROW_MAX) {',
        by: 'if (this.#inARow++ % 4 === 0) {',
      },
    ],
  },
  {
    name: 'quiet-ones-starve-the-oldest',
    breaks: 'the oldest is handed out after three quiet ones',
    patches: [
      {
        file: walk,
        text: 'if (this.#inARow < QUIET_IN_A_ROW_MAX) {',
        by: 'if (this.#inARow < QUIET_IN_A_ROW_MAX * 1e6) {',
      },
    ],
  },
  {
    name: 'turns-begin-anew-with-each-commit',
    breaks: 'turns are counted on from one commit to the next',
    patches: [
      {
        file: 'src/core/standard-walk.ts',
        text: '    if (this.#ready instanceof FairWalk) this.#draft.fairness.handedOut(this.#ready.quietInARow);\n',
        by: '',
      },
    ],
  },
  {
    name: 'a-quiet-one-is-handed-out-again-as-the-oldest',
    breaks: 'a message is handed out once by one commit',
    patches: [{ file: walk, text: 'if (!handedOut) return oldest;', by: 'return oldest;' }],
  },
];

/** In other weather no standard queue has message groups. */
export const fairFaults: readonly Mutant[] = faults.map((fault) => ({ ...fault, focus: 'fair' }));
