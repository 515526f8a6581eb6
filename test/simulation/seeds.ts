/**
 * Which seeds a command plays: the kept ones (seeds.txt: each failed once), the fixed set of CI, and fresh ones, of
 * which every fourth has a weather of its own (focus.ts).
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { type Focus, focusNames } from './focus.ts';

/**
 * A line each, `<seed>: <what was wrong>`, and only ever appended to in one write: of two jobs that fail together
 * neither can lose what the other keeps.
 */
const keptFile = new URL('./seeds.txt', import.meta.url);

export interface KeptSeed {
  readonly seed: string;
  /** What was wrong then. */
  readonly found: string;
}

export function keptSeeds(file: URL = keptFile): string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  // Two jobs may have found the same one.
  return [...new Set(lines.flatMap((line) => /^([^:]+): /.exec(line)?.[1] ?? []))];
}

/** Kept for ever: the next run, here or in CI, plays it first. */
export function keepSeed({ seed, found }: KeptSeed, file: URL = keptFile): void {
  if (!keptSeeds(file).includes(seed)) appendFileSync(file, `${seed}: ${found.replaceAll('\n', ' ')}\n`);
}

const swarmSeeds = 24;
const seedsOfEachFocus = 2;
/** Of crashes short ones, for scenes of one instant each; of pages until one ends by retention; of groups until a segment can't be read; of tasks until a destination is gone. */
const seedsOfFocus: Partial<Record<Focus, number>> = { crashes: 12, pages: 7, groups: 4, tasks: 5 };

/** Together they reach every kind of fault and scene (reached.ts). */
export function fixedSeeds(): string[] {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  return [
    ...numbers(swarmSeeds).map(String),
    ...focusNames.flatMap((focus) =>
      numbers(seedsOfFocus[focus] ?? seedsOfEachFocus).map((number) => `${focus}-${number}`),
    ),
  ];
}

export function freshSeed(first: number, index: number): string {
  const number = first + index;
  const focus = index % 4 === 3 ? focusNames[((index - 3) / 4) % focusNames.length] : undefined;
  return focus === undefined ? String(number) : `${focus}-${number}`;
}
