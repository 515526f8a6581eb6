/**
 * The store port: the few operations okuri asks of an object store, with expected outcomes as values.
 *
 * - An outcome (`done`, `conflict`, `missing`, `unknown`) is returned, never thrown.
 * - `unknown` is for writes only: the request may or may not have taken effect, now or later. Whoever asked must
 *   find out by reading (DESIGN.md section 3); nothing below the commit loop repeats a conditional write.
 * - Everything else is a `StoreError`: nothing was written, and `retryable` says whether asking again can help.
 * - Adapters (memory, file, S3) import this file alone. One contract suite (test/contract) runs on all of them.
 */

/** An entity tag exactly as the store sent it, quotes and weakness mark included; compared only for equality. */
export type ETag = string & { readonly __brand: 'ETag' };

/**
 * The store's own clock as one response told it: the store's time at some instant while the request was in flight
 * lay in [`millis`, `millis + resolutionMillis`). S3 tells whole seconds, a local store tells milliseconds.
 */
export interface StoreTime {
  /** Milliseconds since the Unix epoch. */
  readonly millis: number;
  readonly resolutionMillis: number;
}

export type GetOutcome =
  | {
      readonly kind: 'done';
      readonly body: Uint8Array;
      readonly etag: ETag;
      readonly lastModified: StoreTime;
    }
  /** Only when `ifNoneMatch` was given: the object still has that tag. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'missing' };

/** `time` is absent when the response carried no usable clock. */
export type PutOutcome =
  | { readonly kind: 'done'; readonly etag: ETag; readonly time: StoreTime | undefined }
  | UnknownOutcome;

export type PutIfAbsentOutcome =
  | { readonly kind: 'done'; readonly etag: ETag; readonly time: StoreTime | undefined }
  | { readonly kind: 'conflict' }
  | UnknownOutcome;

export type PutIfMatchOutcome =
  | { readonly kind: 'done'; readonly etag: ETag; readonly time: StoreTime | undefined }
  | { readonly kind: 'conflict' }
  /** No object under that key. AWS answers 404, others 412 (then it is `conflict`); callers treat both as lost. */
  | { readonly kind: 'missing' }
  | UnknownOutcome;

export type DeleteOutcome = { readonly kind: 'done' } | UnknownOutcome;

export type DeleteIfMatchOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'missing' }
  | UnknownOutcome;

/** Timeout, connection lost, 5xx: the write may have landed, or may still land. */
export interface UnknownOutcome {
  readonly kind: 'unknown';
  /** The store asked us to slow down (503 SlowDown, 429): wait longer before asking again. */
  readonly throttled: boolean;
  /** For the log only; never shown to a client. */
  readonly reason: string;
}

export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
  readonly etag: ETag;
  readonly lastModified: StoreTime;
}

export interface ListPage {
  /** In ascending order of the UTF-8 bytes of the keys. */
  readonly objects: readonly ListedObject[];
  /** More keys follow: pass the last key as `startAfter`. */
  readonly truncated: boolean;
}

export interface ListRequest {
  readonly prefix: string;
  /** Only keys strictly after this one. */
  readonly startAfter?: string;
  /** At most this many (1–1000); default 1000. */
  readonly limit?: number;
}

/**
 * Keys are relative to the configured prefix, `/`-separated, of `A–Z a–z 0–9 - _ . /`; see format/object-keys.ts.
 * Every method throws `StoreError` for what is not an outcome. Bodies are read whole under the adapter's timeout.
 */
export interface ObjectStore {
  get(key: string, options?: { readonly ifNoneMatch?: ETag }): Promise<GetOutcome>;
  put(key: string, body: Uint8Array): Promise<PutOutcome>;
  putIfAbsent(key: string, body: Uint8Array): Promise<PutIfAbsentOutcome>;
  putIfMatch(key: string, body: Uint8Array, etag: ETag): Promise<PutIfMatchOutcome>;
  list(request: ListRequest): Promise<ListPage>;
  delete(key: string): Promise<DeleteOutcome>;
  deleteIfMatch(key: string, etag: ETag): Promise<DeleteIfMatchOutcome>;
}

/** A store request that failed with nothing written. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /** Whether the same request may succeed later (connection refused, timeout of a read, 5xx of a read, throttling). */
  readonly retryable: boolean;
  readonly throttled: boolean;

  constructor(
    message: string,
    options: { readonly retryable: boolean; readonly throttled?: boolean; readonly cause?: unknown },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryable = options.retryable;
    this.throttled = options.throttled ?? false;
  }
}
