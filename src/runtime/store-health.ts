/**
 * Whether the store answers, seen from the requests that are made anyway; every failure goes to the log. A node whose
 * store has failed for a while is taken out of rotation; since it then gets no requests that could show the recovery,
 * it asks by itself.
 *
 * - The kinds of request fail apart: on a full disk only writes do, a policy may deny any one of them. An answer ends
 *   the failing of its own kind alone, and each failing kind is asked for with a request of that kind.
 * - A failure is an error, whether or not it can be retried (access denied, no such bucket), or an outcome `unknown`.
 *   Every other outcome is an answer, also a conflict.
 * - One damaged object, or one request that was lost, is no failing store: the next question, five seconds later, is
 *   about another key and gets its answer.
 */
import type { Clock, Log } from '../engine/environment.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { StoreFailureLog } from './store-failure-log.ts';

export interface StoreHealth {
  /** The same store, watched. */
  readonly store: ObjectStore;
  /** How long nothing but failures has come back for reads, or for writes; 0 when the last answer was a good one. */
  failingForMillis(): number;
  /** Asks the store for what fails at present; whoever wants to know calls it now and then. */
  askWhenFailing(): Promise<void>;
}

/** `swap`: a conditional PUT, which a proxy or a policy may refuse where it takes a plain one. */
type RequestKind = 'get' | 'put' | 'swap' | 'list' | 'delete';

interface Failing {
  readonly sinceMillis: number;
  /** Of the last body that was not written. */
  readonly bytes: number;
}

/** @param ownKey a throw-away object, which nobody else writes; it is there only while writes are asked for. */
export function watchStore(inner: ObjectStore, clock: Clock, log: Log, ownKey: string): StoreHealth {
  const failing = new Map<RequestKind, Failing>();
  const failures = new StoreFailureLog(clock, log);
  let asking = false;

  function failed(kind: RequestKind, bytes: number, reason: string): void {
    const sinceMillis = failing.get(kind)?.sinceMillis ?? clock.monotonicMillis();
    failing.set(kind, { sinceMillis, bytes });
    failures.failed(kind, reason);
  }

  async function watched<T extends { readonly kind: string; readonly reason?: string }>(
    kind: RequestKind,
    request: Promise<T>,
    bytes = 0,
  ): Promise<T> {
    try {
      const outcome = await request;
      if (outcome.kind === 'unknown') {
        failed(kind, bytes, outcome.reason ?? 'no answer');
      } else {
        failing.delete(kind);
        if (failing.size === 0) failures.answers();
      }
      return outcome;
    } catch (error) {
      failed(kind, bytes, error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  const store: ObjectStore = {
    get: (key, options) => watched('get', inner.get(key, options)),
    put: (key, body) => watched('put', inner.put(key, body), body.length),
    putIfAbsent: (key, body) => watched('swap', inner.putIfAbsent(key, body), body.length),
    putIfMatch: (key, body, etag) => watched('swap', inner.putIfMatch(key, body, etag), body.length),
    list: async (request) => {
      const listed = inner.list(request).then((page) => ({ kind: 'done', page }));
      return (await watched('list', listed)).page;
    },
    delete: (key) => watched('delete', inner.delete(key)),
    deleteIfMatch: (key, etag) => watched('delete', inner.deleteIfMatch(key, etag)),
  };

  const questions: Readonly<Record<RequestKind, (bytes: number) => Promise<unknown>>> = {
    get: () => store.get(ownKey),
    put: async (bytes) => {
      // As large as what was not written: a disk that is nearly full still takes a byte.
      const { kind } = await store.put(ownKey, new Uint8Array(bytes));
      if (kind === 'done') await store.delete(ownKey);
    },
    swap: async (bytes) => {
      const { kind } = await store.putIfAbsent(ownKey, new Uint8Array(bytes));
      if (kind === 'done') await store.delete(ownKey);
    },
    list: () => store.list({ prefix: ownKey, limit: 1 }),
    delete: () => store.delete(ownKey),
  };

  return {
    store,
    failingForMillis: () => {
      // Nothing is answered without reads, uploads or commits; LIST and DELETE serve ListQueues and the collection of garbage alone.
      const needed = [failing.get('get'), failing.get('put'), failing.get('swap')];
      const since = needed.flatMap((each) => each?.sinceMillis ?? []);
      return since.length === 0 ? 0 : clock.monotonicMillis() - Math.min(...since);
    },
    askWhenFailing: async () => {
      if (failing.size === 0) failures.answers();
      // A store that hangs is asked once, not once more each time.
      if (asking) return;
      asking = true;
      await Promise.allSettled([...failing].map(([kind, { bytes }]) => questions[kind](bytes)));
      asking = false;
    },
  };
}
