/**
 * Smaller bounds for the product, under which what takes 64 writers or 256 KiB happens in every run. No faults: the
 * product with them must be as clean as without: the baseline of mutants.ts and `dst.ts --under small` show it.
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
  /** All of them at once. */
  small: [
    { file: limits, text: 'export const WRITERS_MAX = 64;', by: 'export const WRITERS_MAX = 3;' },
    {
      file: limits,
      text: 'export const TAIL_BYTES_MAX = 256 * 1024;',
      by: 'export const TAIL_BYTES_MAX = 3 * 1024;',
    },
    {
      file: limits,
      text: 'export const INLINE_MESSAGE_BYTES_MAX = 64 * 1024;',
      by: 'export const INLINE_MESSAGE_BYTES_MAX = 200;',
    },
    {
      file: limits,
      text: 'export const SEGMENT_BYTES_MAX = 1024 * 1024;',
      by: 'export const SEGMENT_BYTES_MAX = 1024;',
    },
    { file: limits, text: 'export const IN_FLIGHT_MAX = 120_000;', by: 'export const IN_FLIGHT_MAX = 20;' },
    { file: limits, text: 'export const INTENTS_MAX = 100;', by: 'export const INTENTS_MAX = 2;' },
  ],
} as const satisfies Readonly<Record<string, readonly Patch[]>>;

export type BoundsName = keyof typeof bounds;
