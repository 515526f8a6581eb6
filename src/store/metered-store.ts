/**
 * Counts what a store is asked for, in the classes that object stores bill, and what that costs. Put it right around the
 * adapter, under the retries, so that each request counts as often as it is sent.
 *
 * A refused swap is billed like one that won, and a request without an answer may have been billed: all are counted as
 * paid. The figure is what AWS would bill for requests, not for storage and traffic.
 */
import {
  type DeleteIfMatchOutcome,
  type DeleteOutcome,
  type ETag,
  type GetOutcome,
  type ListPage,
  type ListRequest,
  type ObjectStore,
  type PutIfAbsentOutcome,
  type PutIfMatchOutcome,
  type PutOutcome,
  StoreError,
} from './object-store.ts';

/** `conditionalPut`: create and swap. `delete`: with and without a condition. */
export const REQUEST_CLASSES = ['put', 'conditionalPut', 'get', 'list', 'delete'] as const;
export type RequestClass = (typeof REQUEST_CLASSES)[number];

/**
 * S3 Standard in us-east-1, in dollars per million requests: "PUT, COPY, POST, LIST requests $0.005 per 1,000", "GET
 * $0.0004 per 1,000", DELETE free (the price list at aws.amazon.com/s3/pricing).
 */
export const DOLLARS_PER_MILLION: Readonly<Record<RequestClass, number>> = {
  put: 5,
  conditionalPut: 5,
  get: 0.4,
  list: 5,
  delete: 0,
};

export interface RequestCounts {
  readonly requests: number;
  /** Bodies only. */
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Conditions that didn't hold, a swap of a missing key included. */
  readonly conflicts: number;
  readonly unknowns: number;
  readonly errors: number;
}

export interface MeterSnapshot {
  readonly classes: Readonly<Record<RequestClass, RequestCounts>>;
  readonly dollars: number;
}

type Outcome = { readonly kind: string };

export class MeteredStore implements ObjectStore {
  readonly #store: ObjectStore;
  readonly #counts: Record<RequestClass, { -readonly [Field in keyof RequestCounts]: number }>;

  constructor(store: ObjectStore) {
    this.#store = store;
    this.#counts = {
      put: emptyCounts(),
      conditionalPut: emptyCounts(),
      get: emptyCounts(),
      list: emptyCounts(),
      delete: emptyCounts(),
    };
  }

  /** A copy: it doesn't change afterwards. */
  snapshot(): MeterSnapshot {
    const { put, conditionalPut, get, list, delete: deletes } = this.#counts;
    return {
      classes: {
        put: { ...put },
        conditionalPut: { ...conditionalPut },
        get: { ...get },
        list: { ...list },
        delete: { ...deletes },
      },
      dollars: REQUEST_CLASSES.reduce(
        (sum, each) => sum + (this.#counts[each].requests * DOLLARS_PER_MILLION[each]) / 1_000_000,
        0,
      ),
    };
  }

  async get(key: string, options?: { readonly ifNoneMatch?: ETag }): Promise<GetOutcome> {
    const outcome = await this.#counted('get', 0, this.#store.get(key, options));
    if (outcome.kind === 'done') this.#counts.get.bytesDown += outcome.body.length;
    return outcome;
  }

  put(key: string, body: Uint8Array): Promise<PutOutcome> {
    return this.#counted('put', body.length, this.#store.put(key, body));
  }

  putIfAbsent(key: string, body: Uint8Array): Promise<PutIfAbsentOutcome> {
    return this.#counted('conditionalPut', body.length, this.#store.putIfAbsent(key, body));
  }

  putIfMatch(key: string, body: Uint8Array, etag: ETag): Promise<PutIfMatchOutcome> {
    return this.#counted('conditionalPut', body.length, this.#store.putIfMatch(key, body, etag), true);
  }

  async list(request: ListRequest): Promise<ListPage> {
    const listed = this.#store.list(request).then((page) => ({ kind: 'done', page }));
    return (await this.#counted('list', 0, listed)).page;
  }

  delete(key: string): Promise<DeleteOutcome> {
    return this.#counted('delete', 0, this.#store.delete(key));
  }

  deleteIfMatch(key: string, etag: ETag): Promise<DeleteIfMatchOutcome> {
    return this.#counted('delete', 0, this.#store.deleteIfMatch(key, etag), true);
  }

  async #counted<Result extends Outcome>(
    requestClass: RequestClass,
    bytesUp: number,
    request: Promise<Result>,
    missingIsConflict = false,
  ): Promise<Result> {
    const counts = this.#counts[requestClass];
    counts.requests += 1;
    counts.bytesUp += bytesUp;
    try {
      const outcome = await request;
      if (outcome.kind === 'conflict' || (missingIsConflict && outcome.kind === 'missing'))
        counts.conflicts += 1;
      if (outcome.kind === 'unknown') counts.unknowns += 1;
      return outcome;
    } catch (error) {
      if (error instanceof StoreError) counts.errors += 1;
      else {
        // A wrong key never became a request.
        counts.requests -= 1;
        counts.bytesUp -= bytesUp;
      }
      throw error;
    }
  }
}

function emptyCounts() {
  return { requests: 0, bytesUp: 0, bytesDown: 0, conflicts: 0, unknowns: 0, errors: 0 };
}
