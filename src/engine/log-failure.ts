/**
 * What the engine does of its own accord (sweeps, compaction, looking for move tasks) has nobody to tell when it fails, and
 * is tried again later. A store that fails is a warning, our own mistake an error; neither may cost the process.
 */
import { StoreError } from '../store/object-store.ts';
import type { Log } from './environment.ts';
import { Unavailable } from './queue-api.ts';

export function logFailure(
  log: Log,
  message: string,
  error: unknown,
  fields: Readonly<Record<string, unknown>> = {},
): void {
  const level = error instanceof StoreError || error instanceof Unavailable ? 'warn' : 'error';
  log[level](message, { ...fields, error });
}
