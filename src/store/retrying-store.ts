/**
 * Asks again, with growing random waits, where asking again can't do harm: reads, lists, deletes, and plain PUTs, whose
 * keys are written once with one body. A conditional write passes through untouched, whatever it answers: only the commit
 * loop knows how to find out what became of one (DESIGN.md section 3).
 *
 * Full jitter (a wait uniform between nothing and the bound) spreads a crowd of processes that failed together better
 * than any fixed part would. When the attempts or the time are used up, the last answer stands: an outcome
 * `unknown` is returned, an error thrown.
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

export interface RetryClock {
  sleep(millis: number, signal?: AbortSignal): Promise<void>;
  monotonicMillis(): number;
}

export interface RetryRandom {
  /** Uniform in [0, 1). */
  unit(): number;
}

/** A single lost request is the common case: half an object store's round trip later it mostly works. */
const FIRST_WAIT_MILLIS_MAX = 50;
/** "SlowDown" is about seconds: S3 splits partitions while callers hold back. */
const FIRST_THROTTLED_WAIT_MILLIS_MAX = 400;
/** No single wait is longer than a client's patience with one request allows. */
const WAIT_MILLIS_MAX = 2_000;
/** Waits of 50, 100, 200, 400 and at most 750 ms together on the way: a blip is survived, an outage is reported. */
const ATTEMPTS_MAX = 5;
/** Commands wait 10 s at most (DESIGN.md section 3); what is left after 6 s is for the swap itself. */
const TOTAL_MILLIS_MAX = 6_000;

export class RetryingStore implements ObjectStore {
  readonly #store: ObjectStore;
  readonly #clock: RetryClock;
  readonly #random: RetryRandom;

  constructor(store: ObjectStore, clock: RetryClock, random: RetryRandom) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
  }

  get(key: string, options?: { readonly ifNoneMatch?: ETag }): Promise<GetOutcome> {
    return this.#retried(() => this.#store.get(key, options));
  }

  put(key: string, body: Uint8Array): Promise<PutOutcome> {
    return this.#retried(() => this.#store.put(key, body));
  }

  list(request: ListRequest): Promise<ListPage> {
    return this.#retried(() => this.#store.list(request));
  }

  delete(key: string): Promise<DeleteOutcome> {
    return this.#retried(() => this.#store.delete(key));
  }

  putIfAbsent(key: string, body: Uint8Array): Promise<PutIfAbsentOutcome> {
    return this.#store.putIfAbsent(key, body);
  }

  putIfMatch(key: string, body: Uint8Array, etag: ETag): Promise<PutIfMatchOutcome> {
    return this.#store.putIfMatch(key, body, etag);
  }

  deleteIfMatch(key: string, etag: ETag): Promise<DeleteIfMatchOutcome> {
    return this.#store.deleteIfMatch(key, etag);
  }

  async #retried<Result extends object>(request: () => Promise<Result>): Promise<Result> {
    const startedMillis = this.#clock.monotonicMillis();
    for (let attempt = 1; ; attempt += 1) {
      const answer = await settled(request);
      const again = retryable(answer);
      const waitMillis = this.#random.unit() * waitMillisMax(attempt, again?.throttled ?? false);
      const endMillis = this.#clock.monotonicMillis() + waitMillis - startedMillis;
      if (again === undefined || attempt === ATTEMPTS_MAX || endMillis > TOTAL_MILLIS_MAX) {
        if (answer.error !== undefined) throw answer.error;
        return answer.outcome;
      }
      await this.#clock.sleep(waitMillis);
    }
  }
}

/** The bound of the wait after this attempt (from 1); the wait itself is uniform below it. */
export function waitMillisMax(attempt: number, throttled: boolean): number {
  const first = throttled ? FIRST_THROTTLED_WAIT_MILLIS_MAX : FIRST_WAIT_MILLIS_MAX;
  return Math.min(WAIT_MILLIS_MAX, first * 2 ** (attempt - 1));
}

type Answer<Result> =
  | { readonly outcome: Result; readonly error?: undefined }
  | { readonly error: StoreError };

/** Anything but a StoreError is a mistake of ours or of the caller and goes straight up. */
async function settled<Result>(request: () => Promise<Result>): Promise<Answer<Result>> {
  try {
    return { outcome: await request() };
  } catch (error) {
    if (error instanceof StoreError) return { error };
    throw error;
  }
}

function retryable(answer: Answer<object>): { readonly throttled: boolean } | undefined {
  if (answer.error !== undefined) return answer.error.retryable ? answer.error : undefined;
  const outcome = answer.outcome as { readonly kind?: string; readonly throttled?: boolean };
  return outcome.kind === 'unknown' ? { throttled: outcome.throttled ?? false } : undefined;
}
