/** A planted fault: what it breaks, and the text of the product that it changes. */
import type { Focus } from '../focus.ts';

export interface Patch {
  readonly file: string;
  /** Must occur exactly once in the file. */
  readonly text: string;
  readonly by: string;
}

export interface Mutant {
  readonly name: string;
  /** The promise or rule of DESIGN.md that it breaks. */
  readonly breaks: string;
  /** Its rule is marked † there: it closes an interleaving that was once found. */
  readonly dagger?: boolean;
  readonly patches: readonly Patch[];
  /** The weather in which it can do harm often enough; else the swarm's. */
  readonly focus?: Focus;
}
