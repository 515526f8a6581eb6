/** Writes an immutable object under a name of its own. No manifest names it yet. */
import { hexFromBytes } from '../core/ids.ts';
import { type ObjectKeyParts, objectKey, objectNonceBytes } from '../format/object-keys.ts';
import { StoreError } from '../store/object-store.ts';
import type { Environment } from './environment.ts';

/** @throws StoreError, also when it is not known whether the object is there */
export async function uploadObject(
  { store, random }: Environment,
  parts: Omit<ObjectKeyParts, 'nonce'>,
  bytes: Uint8Array,
): Promise<Pick<ObjectKeyParts, 'baseVersion' | 'nonce'>> {
  const nonce = hexFromBytes(random.bytes(objectNonceBytes));
  const outcome = await store.put(objectKey({ ...parts, nonce }), bytes);
  if (outcome.kind === 'unknown')
    throw new StoreError(`upload of ${parts.kind}: ${outcome.reason}`, {
      retryable: true,
      throttled: outcome.throttled,
    });
  return { baseVersion: parts.baseVersion, nonce };
}
