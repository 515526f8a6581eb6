/**
 * Which seeds a command plays: the kept ones (seeds.json: each failed once), the fixed set of CI, and fresh ones, of
 * which every fourth has a weather of its own (focus.ts).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { focusNames } from './focus.ts';

const file = new URL('./seeds.json', import.meta.url);

interface KeptSeed {
  readonly seed: string;
  /** What was wrong then. */
  readonly found: string;
}

export function keptSeeds(): string[] {
  return (JSON.parse(readFileSync(file, 'utf8')) as KeptSeed[]).map(({ seed }) => seed);
}

/** Kept for ever: the next run, here or in CI, plays it first. */
export function keepSeed(kept: KeptSeed): void {
  if (keptSeeds().includes(kept.seed)) return;
  const text = readFileSync(file, 'utf8').trimEnd();
  const { seed, found } = kept;
  const entry = `  {\n    "seed": ${JSON.stringify(seed)},\n    "found": ${JSON.stringify(found)}\n  }`;
  writeFileSync(file, `${text.slice(0, -1).trimEnd()},\n${entry}\n]\n`);
}

const swarmSeeds = 24;
const seedsOfEachFocus = 2;
/** Short ones, for scenes of one instant each. */
const crashSeeds = 12;

/** Together they reach every kind of fault and scene (reached.ts). */
export function fixedSeeds(): string[] {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  return [
    ...numbers(swarmSeeds).map(String),
    ...focusNames.flatMap((focus) =>
      numbers(focus === 'crashes' ? crashSeeds : seedsOfEachFocus).map((number) => `${focus}-${number}`),
    ),
  ];
}

export function freshSeed(first: number, index: number): string {
  const number = first + index;
  const focus = index % 4 === 3 ? focusNames[((index - 3) / 4) % focusNames.length] : undefined;
  return focus === undefined ? String(number) : `${focus}-${number}`;
}
