/**
 * The store of tests, of the simulator and of `OKURI_DATA_DIR=memory:`. Everything dies with the process.
 *
 * - Every operation takes effect at one instant: when the method is called. Nothing waits, so a caller's order of
 *   calls is the order of effects, and a run is the same each time. Whoever wants delays, losses and reorderings
 *   wraps this store.
 * - It calls no clock and no random source: time is handed in, tags are counted.
 * - No tag is ever used twice, not even for equal bytes.
 * - Bodies are copied on the way in and out, as a real store would: nobody can change what is stored.
 */
import { assertKey, assertListRequest, LIST_LIMIT_MAX } from './key-rules.ts';
import type {
  DeleteIfMatchOutcome,
  DeleteOutcome,
  ETag,
  GetOutcome,
  ListPage,
  ListRequest,
  ObjectStore,
  PutIfAbsentOutcome,
  PutIfMatchOutcome,
  PutOutcome,
  StoreTime,
} from './object-store.ts';

export interface MemoryStoreOptions {
  /** The store's own clock, milliseconds since the Unix epoch. */
  nowMillis(): number;
}

interface StoredObject {
  readonly body: Uint8Array;
  readonly etag: ETag;
  readonly lastModified: StoreTime;
}

export class MemoryStore implements ObjectStore {
  readonly #options: MemoryStoreOptions;
  readonly #objects = new Map<string, StoredObject>();
  /** In order; undefined after a key came or went. */
  #sortedKeys: string[] | undefined;
  #writes = 0;

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
  }

  async get(key: string, options?: { readonly ifNoneMatch?: ETag }): Promise<GetOutcome> {
    assertKey(key);
    const found = this.#objects.get(key);
    if (found === undefined) return { kind: 'missing' };
    if (options?.ifNoneMatch === found.etag) return { kind: 'unchanged' };
    return { kind: 'done', body: found.body.slice(), etag: found.etag, lastModified: found.lastModified };
  }

  async put(key: string, body: Uint8Array): Promise<PutOutcome> {
    assertKey(key);
    return this.#write(key, body);
  }

  async putIfAbsent(key: string, body: Uint8Array): Promise<PutIfAbsentOutcome> {
    assertKey(key);
    return this.#objects.has(key) ? { kind: 'conflict' } : this.#write(key, body);
  }

  async putIfMatch(key: string, body: Uint8Array, etag: ETag): Promise<PutIfMatchOutcome> {
    assertKey(key);
    const found = this.#objects.get(key);
    if (found === undefined) return { kind: 'missing' };
    return found.etag === etag ? this.#write(key, body) : { kind: 'conflict' };
  }

  async list(request: ListRequest): Promise<ListPage> {
    assertListRequest(request);
    const limit = request.limit ?? LIST_LIMIT_MAX;
    this.#sortedKeys ??= [...this.#objects.keys()].sort();
    const keys = this.#sortedKeys;
    const objects: ListPage['objects'][number][] = [];
    for (let index = firstIndex(keys, request); index < keys.length; index += 1) {
      const key = keys[index]!;
      if (!key.startsWith(request.prefix)) break;
      if (objects.length === limit) return { objects, truncated: true };
      const found = this.#objects.get(key)!;
      objects.push({ key, bytes: found.body.length, etag: found.etag, lastModified: found.lastModified });
    }
    return { objects, truncated: false };
  }

  async delete(key: string): Promise<DeleteOutcome> {
    assertKey(key);
    this.#remove(key);
    return { kind: 'done' };
  }

  async deleteIfMatch(key: string, etag: ETag): Promise<DeleteIfMatchOutcome> {
    assertKey(key);
    const found = this.#objects.get(key);
    if (found === undefined) return { kind: 'missing' };
    if (found.etag !== etag) return { kind: 'conflict' };
    this.#remove(key);
    return { kind: 'done' };
  }

  #write(key: string, body: Uint8Array): { kind: 'done'; etag: ETag; time: StoreTime } {
    this.#writes += 1;
    const etag = `"memory-${this.#writes}"` as ETag;
    const time: StoreTime = { millis: this.#options.nowMillis(), resolutionMillis: 1 };
    if (!this.#objects.has(key)) this.#sortedKeys = undefined;
    this.#objects.set(key, { body: body.slice(), etag, lastModified: time });
    return { kind: 'done', etag, time };
  }

  #remove(key: string): void {
    if (this.#objects.delete(key)) this.#sortedKeys = undefined;
  }
}

/** The first key that is after `startAfter` and not before `prefix`. Keys are ASCII: code units order them as bytes do. */
function firstIndex(keys: readonly string[], { prefix, startAfter }: ListRequest): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const key = keys[middle]!;
    const before = key < prefix || (startAfter !== undefined && key <= startAfter);
    if (before) low = middle + 1;
    else high = middle;
  }
  return low;
}
