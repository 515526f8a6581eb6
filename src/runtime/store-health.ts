/**
 * Whether the store answers, seen from the requests that are made anyway. A node whose store has failed for a while is
 * taken out of rotation; since it then gets no requests that could show the recovery, it asks by itself.
 *
 * An outcome other than `unknown` is an answer, also a conflict. A StoreError that cannot be retried is one too: it
 * says that the request was wrong, not that the store is away.
 */
import type { Clock } from '../engine/environment.ts';
import { type ObjectStore, StoreError } from '../store/object-store.ts';

export interface StoreHealth {
  /** The same store, watched. */
  readonly store: ObjectStore;
  /** How long nothing but failures has come back; 0 when the last answer was a good one. */
  failingForMillis(): number;
  /** Asks the store if it is failing at present; whoever wants to know calls it now and then. */
  askWhenFailing(): Promise<void>;
}

export function watchStore(inner: ObjectStore, clock: Clock): StoreHealth {
  let failingSince: number | undefined;

  async function watched<T extends { readonly kind: string }>(request: Promise<T>): Promise<T> {
    try {
      const outcome = await request;
      if (outcome.kind === 'unknown') failingSince ??= clock.monotonicMillis();
      else failingSince = undefined;
      return outcome;
    } catch (error) {
      if (error instanceof StoreError && !error.retryable) failingSince = undefined;
      else failingSince ??= clock.monotonicMillis();
      throw error;
    }
  }

  const store: ObjectStore = {
    get: (key, options) => watched(inner.get(key, options)),
    put: (key, body) => watched(inner.put(key, body)),
    putIfAbsent: (key, body) => watched(inner.putIfAbsent(key, body)),
    putIfMatch: (key, body, etag) => watched(inner.putIfMatch(key, body, etag)),
    list: async (request) => {
      const { page } = await watched(inner.list(request).then((page) => ({ kind: 'done', page })));
      return page;
    },
    delete: (key) => watched(inner.delete(key)),
    deleteIfMatch: (key, etag) => watched(inner.deleteIfMatch(key, etag)),
  };

  return {
    store,
    failingForMillis: () => (failingSince === undefined ? 0 : clock.monotonicMillis() - failingSince),
    askWhenFailing: async () => {
      if (failingSince === undefined) return;
      // One manifest's worth of listing: the cheapest request that needs no key of its own.
      await store.list({ prefix: 'm/', limit: 1 }).catch(() => undefined);
    },
  };
}
