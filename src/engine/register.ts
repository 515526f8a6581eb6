/**
 * A register under one key, advanced by compare-and-swap. Knows nothing of what it stores.
 *
 * `observedFrom` is the monotonic time at which the request began that showed (or made) a content: whatever had
 * happened before that instant, this content has seen.
 */
import type { ETag, ObjectStore, UnknownOutcome } from '../store/object-store.ts';
import type { Clock } from './environment.ts';

export interface Observed {
  readonly bytes: Uint8Array;
  readonly etag: ETag;
  readonly observedFrom: number;
}

export type ReadResult =
  | { readonly kind: 'present'; readonly observed: Observed }
  | { readonly kind: 'unchanged'; readonly observedFrom: number }
  | { readonly kind: 'absent'; readonly observedFrom: number };

export type SwapResult =
  | { readonly kind: 'done'; readonly etag: ETag; readonly observedFrom: number }
  /** Somebody else's content is there now, or nothing is. A copy of this very request may have landed all the same. */
  | { readonly kind: 'lost' }
  | UnknownOutcome;

export class Register {
  readonly #store: ObjectStore;
  readonly #clock: Clock;
  readonly #key: string;

  constructor(store: ObjectStore, clock: Clock, key: string) {
    this.#store = store;
    this.#clock = clock;
    this.#key = key;
  }

  /** @throws StoreError */
  async read(knownTag?: ETag): Promise<ReadResult> {
    const observedFrom = this.#clock.monotonicMillis();
    const outcome = await this.#store.get(this.#key, knownTag === undefined ? {} : { ifNoneMatch: knownTag });
    if (outcome.kind === 'missing') return { kind: 'absent', observedFrom };
    if (outcome.kind === 'unchanged') return { kind: 'unchanged', observedFrom };
    return { kind: 'present', observed: { bytes: outcome.body, etag: outcome.etag, observedFrom } };
  }

  /** Puts `bytes` where `expected` is, or where nothing is when `expected` is undefined. @throws StoreError */
  async swap(expected: ETag | undefined, bytes: Uint8Array): Promise<SwapResult> {
    const observedFrom = this.#clock.monotonicMillis();
    const outcome =
      expected === undefined
        ? await this.#store.putIfAbsent(this.#key, bytes)
        : await this.#store.putIfMatch(this.#key, bytes, expected);
    if (outcome.kind === 'done') return { kind: 'done', etag: outcome.etag, observedFrom };
    if (outcome.kind === 'unknown') return outcome;
    return { kind: 'lost' };
  }
}
