/**
 * Segments in memory, least recently used first out, for the whole process. Loading is shared: two commits that want
 * one segment ask the store once.
 */

import type { Incarnation } from '../core/ids.ts';
import type { SegmentId, SegmentReference } from '../core/queue-state.ts';
import { objectKey } from '../format/object-keys.ts';
import { type DecodedSegment, decodeSegment } from '../format/segment-codec.ts';
import { StoreError } from '../store/object-store.ts';
import { afterwards } from './afterwards.ts';
import type { Counters } from './counters.ts';
import type { Environment } from './environment.ts';

export type LoadResult =
  | { readonly kind: 'loaded'; readonly segment: DecodedSegment }
  /** The store has no such object. */
  | { readonly kind: 'missing' }
  /** Damaged, or of a newer format. Asking again does not help. */
  | { readonly kind: 'damaged'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

export interface SegmentPlace {
  readonly queueName: string;
  readonly incarnation: Incarnation;
  readonly reference: SegmentReference;
}

interface Loading {
  readonly result: Promise<LoadResult>;
  /** Somebody who wants it will want it again. */
  keep: boolean;
}

export class BodyCache {
  readonly #environment: Environment;
  readonly #counters: Counters;
  readonly #bytesMax: number;
  readonly #segments = new Map<string, DecodedSegment>();
  readonly #loading = new Map<string, Loading>();
  #bytes = 0;

  constructor(environment: Environment, counters: Counters, bytesMax: number) {
    this.#environment = environment;
    this.#counters = counters;
    this.#bytesMax = bytesMax;
  }

  get(incarnation: Incarnation, id: SegmentId): DecodedSegment | undefined {
    const cacheKey = `${incarnation}/${id}`;
    const segment = this.#segments.get(cacheKey);
    if (!segment) return undefined;
    this.#segments.delete(cacheKey);
    this.#segments.set(cacheKey, segment);
    return segment;
  }

  /** `keep`: false for who reads it once, so that nobody else's bodies make room for it. */
  load(place: SegmentPlace, id: SegmentId, keep = true): Promise<LoadResult> {
    const cacheKey = `${place.incarnation}/${id}`;
    const cached = this.get(place.incarnation, id);
    if (cached) return Promise.resolve({ kind: 'loaded', segment: cached });
    const running = this.#loading.get(cacheKey);
    if (running) {
      running.keep ||= keep;
      return running.result;
    }
    const result = afterwards(this.#load(place, cacheKey), () => this.#loading.delete(cacheKey));
    this.#loading.set(cacheKey, { result, keep });
    return result;
  }

  async #load(place: SegmentPlace, cacheKey: string): Promise<LoadResult> {
    const { baseVersion, nonce } = place.reference;
    const { queueName: name, incarnation } = place;
    const key = objectKey({ name, incarnation, kind: 'seg', baseVersion, nonce });
    try {
      const outcome = await this.#environment.store.get(key);
      if (outcome.kind !== 'done') return { kind: 'missing' };
      const decoded = decodeSegment(outcome.body, incarnation);
      if (decoded.kind === 'damaged') return { kind: 'damaged', reason: decoded.reason };
      if (decoded.kind === 'newer') return { kind: 'damaged', reason: `format ${decoded.formatVersion}` };
      this.#counters.loadedSegments++;
      if (this.#loading.get(cacheKey)?.keep !== false) this.#keep(cacheKey, decoded.segment);
      return { kind: 'loaded', segment: decoded.segment };
    } catch (error) {
      if (error instanceof StoreError) return { kind: 'failed', reason: error.message };
      throw error;
    }
  }

  #keep(cacheKey: string, segment: DecodedSegment): void {
    this.#segments.set(cacheKey, segment);
    this.#bytes += segment.bytes;
    for (const [oldest, old] of this.#segments) {
      if (this.#bytes <= this.#bytesMax || oldest === cacheKey) break;
      this.#segments.delete(oldest);
      this.#bytes -= old.bytes;
    }
  }
}
