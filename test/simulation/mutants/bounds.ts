/**
 * Smaller bounds for the product, under which what takes 64 writers or 256 KiB happens in every run. No faults: the
 * product with them must be as clean as without, and the baseline of mutants.ts shows it.
 */
import type { Patch } from './mutant.ts';

const limits = 'src/core/limits.ts';

export const bounds = {
  'two-writers': [
    { file: limits, text: 'export const WRITERS_MAX = 64;', by: 'export const WRITERS_MAX = 2;' },
  ],
  'small-tail': [
    {
      file: limits,
      text: 'export const TAIL_BYTES_MAX = 256 * 1024;',
      by: 'export const TAIL_BYTES_MAX = 4 * 1024;',
    },
  ],
} as const satisfies Readonly<Record<string, readonly Patch[]>>;

export type BoundsName = keyof typeof bounds;
