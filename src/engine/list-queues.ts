/** ListQueues: a LIST of the manifests, told from tombstones by their size. */
import { isTombstoneSize } from '../format/manifest-codec.ts';
import {
  isQueueNamePrefix,
  manifestKey,
  manifestPrefix,
  queueNameOfManifestKey,
} from '../format/object-keys.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { ListQueuesRequest, QueueList } from './queue-api.ts';

/** @throws StoreError */
export async function listQueues(store: ObjectStore, request: ListQueuesRequest): Promise<QueueList> {
  const names: string[] = [];
  if (!isQueueNamePrefix(request.prefix)) return { names, truncated: false };
  const prefix = manifestPrefix(request.prefix);
  let startAfter = request.startAfter === undefined ? undefined : manifestKey(request.startAfter);
  for (;;) {
    const page = await store.list({ prefix, ...(startAfter === undefined ? {} : { startAfter }) });
    for (const { key, bytes } of page.objects) {
      const name = queueNameOfManifestKey(key);
      if (name === undefined || isTombstoneSize(bytes)) continue;
      // One more than asked for is there: that is all `truncated` says.
      if (names.length === request.limit) return { names, truncated: true };
      names.push(name);
    }
    startAfter = page.objects.at(-1)?.key;
    if (!page.truncated || startAfter === undefined) return { names, truncated: false };
  }
}
