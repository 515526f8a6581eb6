/**
 * Immutable objects in memory, decoded, least recently used first out, for the whole process: one cache for segments
 * and one for pages. Loading is shared: two commits that want one object ask the store once.
 */

import type { Incarnation } from '../core/ids.ts';
import { type ObjectKeyParts, type ObjectKind, objectKey } from '../format/object-keys.ts';
import { StoreError } from '../store/object-store.ts';
import { afterwards } from './afterwards.ts';
import type { Environment } from './environment.ts';

export type LoadResult<T> =
  | { readonly kind: 'loaded'; readonly value: T }
  /** The store has no such object. */
  | { readonly kind: 'missing' }
  /** Damaged, or of a newer format. Asking again does not help. */
  | { readonly kind: 'damaged'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

export type NotLoaded = Exclude<LoadResult<unknown>, { kind: 'loaded' }>;

/** For the log. */
export function whyNotLoaded(result: NotLoaded): string {
  return result.kind === 'missing' ? 'the store has no such object' : result.reason;
}

export type Decoded<T> =
  | { readonly kind: 'ok'; readonly value: T /** What keeping it costs. */; readonly bytes: number }
  | { readonly kind: 'damaged'; readonly reason: string }
  | { readonly kind: 'newer'; readonly formatVersion: number };

interface Loading<T> {
  readonly result: Promise<LoadResult<T>>;
  /** Somebody who wants it will want it again. */
  keep: boolean;
}

export class ImmutableCache<T> {
  readonly #environment: Environment;
  readonly #bytesMax: number;
  readonly #decode: (bytes: Uint8Array, parts: ObjectKeyParts) => Decoded<T>;
  readonly #kept = new Map<string, { readonly value: T; readonly bytes: number }>();
  readonly #loading = new Map<string, Loading<T>>();
  #bytes = 0;

  constructor(
    environment: Environment,
    bytesMax: number,
    decode: (bytes: Uint8Array, parts: ObjectKeyParts) => Decoded<T>,
  ) {
    this.#environment = environment;
    this.#bytesMax = bytesMax;
    this.#decode = decode;
  }

  /** `id`: base version and nonce, as in the key. */
  get(incarnation: Incarnation, kind: ObjectKind, id: string): T | undefined {
    const cacheKey = `${incarnation}/${kind}/${id}`;
    const entry = this.#kept.get(cacheKey);
    if (!entry) return undefined;
    this.#kept.delete(cacheKey);
    this.#kept.set(cacheKey, entry);
    return entry.value;
  }

  /** What this process has just written itself, as it would be decoded. */
  keep({ incarnation, kind, baseVersion, nonce }: ObjectKeyParts, value: T, bytes: number): void {
    this.#keep(`${incarnation}/${kind}/${baseVersion}-${nonce}`, { value, bytes });
  }

  /** `keep`: false for who reads it once, so that nobody else's objects make room for it. */
  load(parts: ObjectKeyParts, keep = true): Promise<LoadResult<T>> {
    const { incarnation, kind, baseVersion, nonce } = parts;
    const id = `${baseVersion}-${nonce}`;
    const cached = this.get(incarnation, kind, id);
    if (cached !== undefined) return Promise.resolve({ kind: 'loaded', value: cached });
    const cacheKey = `${incarnation}/${kind}/${id}`;
    const running = this.#loading.get(cacheKey);
    if (running) {
      running.keep ||= keep;
      return running.result;
    }
    const result = afterwards(this.#load(parts, cacheKey), () => this.#loading.delete(cacheKey));
    this.#loading.set(cacheKey, { result, keep });
    return result;
  }

  async #load(parts: ObjectKeyParts, cacheKey: string): Promise<LoadResult<T>> {
    try {
      const outcome = await this.#environment.store.get(objectKey(parts));
      if (outcome.kind !== 'done') return { kind: 'missing' };
      const decoded = this.#decode(outcome.body, parts);
      if (decoded.kind === 'damaged') return decoded;
      if (decoded.kind === 'newer') return { kind: 'damaged', reason: `format ${decoded.formatVersion}` };
      if (this.#loading.get(cacheKey)?.keep !== false) this.#keep(cacheKey, decoded);
      return { kind: 'loaded', value: decoded.value };
    } catch (error) {
      if (error instanceof StoreError) return { kind: 'failed', reason: error.message };
      throw error;
    }
  }

  #keep(cacheKey: string, entry: { readonly value: T; readonly bytes: number }): void {
    this.#kept.set(cacheKey, entry);
    this.#bytes += entry.bytes;
    for (const [oldest, old] of this.#kept) {
      if (this.#bytes <= this.#bytesMax || oldest === cacheKey) break;
      this.#kept.delete(oldest);
      this.#bytes -= old.bytes;
    }
  }
}
