/**
 * The bucket of a scale row, seen from outside the node: what its objects hold and how many bytes each commit wrote.
 *
 * - Objects under `s/` lie in one temporary file, every byte of them; the memory store keeps where they are. So a
 *   bucket of gigabytes takes no memory that would be taken for the node's. A LIST shows the size of such a place
 *   instead of the object's: nothing reads that but for tombstones, which lie under `m/`.
 * - A commit is a landed write of `m/<name>`; it is charged with all that was put under the queue's `s/` since the
 *   one before it, whoever put it.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '../../src/store/memory-store.ts';
import type { ETag, GetOutcome, ListRequest, ObjectStore } from '../../src/store/object-store.ts';
import { Sizes } from './sizes.ts';

const placeBytes = 16;

export class ScaleBucket implements ObjectStore {
  readonly #objects: MemoryStore;
  readonly #folder = mkdtempSync(join(tmpdir(), 'okuri-scale-'));
  readonly #file = openSync(join(this.#folder, 'objects'), 'w+');
  readonly #uploaded = new Map<string, number>();
  #fileBytes = 0;
  /** Since the last `watch`: bytes of each manifest written, and of all that its commit wrote. */
  manifests = new Sizes();
  commits = new Sizes();
  /** Of the manifest written last, of any queue. */
  lastManifestBytes = 0;
  /** Since the beginning. */
  manifestBytesMax = 0;

  constructor(nowMillis: () => number) {
    this.#objects = new MemoryStore({ nowMillis });
  }

  get storedBytes(): number {
    return this.#fileBytes;
  }

  watch(): void {
    this.manifests = new Sizes();
    this.commits = new Sizes();
  }

  close(): void {
    closeSync(this.#file);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async get(key: string, options?: { readonly ifNoneMatch?: ETag }): Promise<GetOutcome> {
    const found = await this.#objects.get(key, options);
    if (found.kind !== 'done' || !key.startsWith('s/')) return found;
    const place = new DataView(found.body.buffer, found.body.byteOffset);
    const body = new Uint8Array(place.getFloat64(8));
    const read = readSync(this.#file, body, 0, body.length, place.getFloat64(0));
    if (read !== body.length) throw new Error(`${key} was cut off`);
    return { ...found, body };
  }

  put(key: string, body: Uint8Array) {
    if (!key.startsWith('s/')) return this.#objects.put(key, body);
    const queue = queueOf(key);
    this.#uploaded.set(queue, (this.#uploaded.get(queue) ?? 0) + body.length);
    const place = new DataView(new ArrayBuffer(placeBytes));
    place.setFloat64(0, this.#fileBytes);
    place.setFloat64(8, body.length);
    this.#fileBytes += writeSync(this.#file, body, 0, body.length, this.#fileBytes);
    return this.#objects.put(key, new Uint8Array(place.buffer));
  }

  async putIfAbsent(key: string, body: Uint8Array) {
    const outcome = await this.#objects.putIfAbsent(key, body);
    if (outcome.kind === 'done') this.#committed(key, body);
    return outcome;
  }

  async putIfMatch(key: string, body: Uint8Array, etag: ETag) {
    const outcome = await this.#objects.putIfMatch(key, body, etag);
    if (outcome.kind === 'done') this.#committed(key, body);
    return outcome;
  }

  list(request: ListRequest) {
    return this.#objects.list(request);
  }
  delete(key: string) {
    return this.#objects.delete(key);
  }
  deleteIfMatch(key: string, etag: ETag) {
    return this.#objects.deleteIfMatch(key, etag);
  }

  #committed(key: string, body: Uint8Array): void {
    const queue = key.slice('m/'.length);
    this.manifests.add(body.length);
    this.commits.add(body.length + (this.#uploaded.get(queue) ?? 0));
    this.#uploaded.delete(queue);
    this.lastManifestBytes = body.length;
    this.manifestBytesMax = Math.max(this.manifestBytesMax, body.length);
  }
}

/** `s/<hash of 8>-<name>/…` */
function queueOf(key: string): string {
  return key.slice('s/01234567-'.length, key.indexOf('/', 's/'.length));
}
