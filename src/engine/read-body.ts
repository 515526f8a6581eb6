/** The body of one live message, wherever it is. */
import type { StoredMessage } from '../core/message.ts';
import type { QueueState } from '../core/queue-state.ts';
import { locate, runIndexOf } from '../core/run-index.ts';
import { withStampShifted } from '../core/stamps.ts';
import { StoreError } from '../store/object-store.ts';
import type { EngineContext } from './context.ts';
import { whyNotLoaded } from './immutable-cache.ts';

/** @throws StoreError when its segment can't be read. */
export async function readBody(
  context: EngineContext,
  queueName: string,
  state: QueueState,
  sequence: number,
): Promise<StoredMessage> {
  const inline = state.tail.get(sequence);
  if (inline) return inline.message;
  const place = locate(runIndexOf(state.segments), sequence);
  const reference = place && state.segments.get(place.segment);
  if (!place || !reference) throw new Error(`no body for sequence ${sequence} of queue ${queueName}`);
  const { baseVersion, nonce } = reference;
  const { incarnation } = state;
  const result = await context.bodies.load({ name: queueName, incarnation, kind: 'seg', baseVersion, nonce });
  if (result.kind !== 'loaded') {
    const reason = whyNotLoaded(result);
    throw new StoreError(`segment ${place.segment} of queue ${queueName}: ${reason}`, { retryable: true });
  }
  const message = result.value.message(place.ordinal);
  if (!message)
    throw new StoreError(`segment ${place.segment} of queue ${queueName} is too short`, { retryable: false });
  return withStampShifted(message, place.run.sentAtShiftMillis);
}
