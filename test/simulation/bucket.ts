/**
 * The truth of the simulated store: strongly consistent, with conditional writes. Each operation takes effect at the
 * instant it is called; nodes reach it through sim-store.ts. Tags are counted and never used twice.
 *
 * Bodies are shared, not copied: whoever changed one would change the past, and the codecs never do.
 */
import type {
  DeleteIfMatchOutcome,
  DeleteOutcome,
  ETag,
  GetOutcome,
  ListPage,
  ListRequest,
  PutIfAbsentOutcome,
  PutIfMatchOutcome,
  PutOutcome,
  StoreTime,
} from '../../src/store/object-store.ts';

export interface Stored {
  readonly body: Uint8Array;
  readonly etag: ETag;
  readonly writtenAtMillis: number;
}

/** Whose request it was, and when its process sent it. */
export interface RequestOrigin {
  readonly node: number;
  readonly sentAt: number;
}

export interface BucketEvents {
  /** Before the bucket's next operation: `body` is undefined for a deletion. */
  changed(from: RequestOrigin, key: string, body: Uint8Array | undefined): void;
}

export class Bucket {
  readonly #nowMillis: () => number;
  readonly #resolutionMillis: number;
  readonly #events: BucketEvents;
  readonly #objects = new Map<string, Stored>();
  #sorted: string[] | undefined;
  #writes = 0;

  constructor(nowMillis: () => number, resolutionMillis: number, events: BucketEvents) {
    this.#nowMillis = nowMillis;
    this.#resolutionMillis = resolutionMillis;
    this.#events = events;
  }

  keys(): readonly string[] {
    this.#sorted ??= [...this.#objects.keys()].sort();
    return this.#sorted;
  }

  peek(key: string): Stored | undefined {
    return this.#objects.get(key);
  }

  get(key: string, ifNoneMatch: ETag | undefined): GetOutcome {
    const found = this.#objects.get(key);
    if (!found) return { kind: 'missing' };
    if (found.etag === ifNoneMatch) return { kind: 'unchanged' };
    const { body, etag, writtenAtMillis } = found;
    return { kind: 'done', body, etag, lastModified: this.#time(writtenAtMillis) };
  }

  put(from: RequestOrigin, key: string, body: Uint8Array): PutOutcome {
    return this.#write(from, key, body);
  }

  putIfAbsent(from: RequestOrigin, key: string, body: Uint8Array): PutIfAbsentOutcome {
    return this.#objects.has(key) ? { kind: 'conflict' } : this.#write(from, key, body);
  }

  putIfMatch(from: RequestOrigin, key: string, body: Uint8Array, etag: ETag): PutIfMatchOutcome {
    const found = this.#objects.get(key);
    if (!found) return { kind: 'missing' };
    return found.etag === etag ? this.#write(from, key, body) : { kind: 'conflict' };
  }

  delete(from: RequestOrigin, key: string): DeleteOutcome {
    if (this.#objects.has(key)) this.#remove(from, key);
    return { kind: 'done' };
  }

  deleteIfMatch(from: RequestOrigin, key: string, etag: ETag): DeleteIfMatchOutcome {
    const found = this.#objects.get(key);
    if (!found) return { kind: 'missing' };
    if (found.etag !== etag) return { kind: 'conflict' };
    this.#remove(from, key);
    return { kind: 'done' };
  }

  list({ prefix, startAfter, limit = 1000 }: ListRequest): ListPage {
    const objects: ListPage['objects'][number][] = [];
    for (const key of this.keys()) {
      if (!key.startsWith(prefix) || (startAfter !== undefined && key <= startAfter)) continue;
      if (objects.length === limit) return { objects, truncated: true };
      const { body, etag, writtenAtMillis } = this.#objects.get(key)!;
      objects.push({ key, bytes: body.length, etag, lastModified: this.#time(writtenAtMillis) });
    }
    return { objects, truncated: false };
  }

  #write(from: RequestOrigin, key: string, body: Uint8Array): { kind: 'done'; etag: ETag; time: StoreTime } {
    const etag = `"${++this.#writes}"` as ETag;
    const writtenAtMillis = this.#nowMillis();
    if (!this.#objects.has(key)) this.#sorted = undefined;
    this.#objects.set(key, { body, etag, writtenAtMillis });
    this.#events.changed(from, key, body);
    return { kind: 'done', etag, time: this.#time(writtenAtMillis) };
  }

  #remove(from: RequestOrigin, key: string): void {
    this.#objects.delete(key);
    this.#sorted = undefined;
    this.#events.changed(from, key, undefined);
  }

  #time(millis: number): StoreTime {
    const resolutionMillis = this.#resolutionMillis;
    return { millis: Math.floor(millis / resolutionMillis) * resolutionMillis, resolutionMillis };
  }
}
