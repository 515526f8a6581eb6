/** The end of a move task's marker (task-finder.ts). */
import { moveTaskKey } from '../format/object-keys.ts';
import { StoreError } from '../store/object-store.ts';
import type { Environment } from './environment.ts';

/** Of a task that is over, which it will always be, or was never started. A DELETE that is lost leaves it for the next look. */
export async function dropMarker({ store, log }: Environment, queue: string, id: string): Promise<void> {
  try {
    await store.delete(moveTaskKey(queue, id));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.warn('the marker of a message move task stays for now', { queue, error });
  }
}
