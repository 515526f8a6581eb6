/**
 * The embedded default: objects as files in one folder of one process.
 *
 *   objects/<key>@   the objects (file-store-walk.ts, file-store-object.ts)
 *   temp/            writes under way; what a crash left there is removed at the next start and never seen as an object
 *   lock/            who owns the folder (file-store-lock.ts)
 *
 * - A write is a temporary file, fsync, rename, fsync of the folder: after a crash an object is the old one or the
 *   new one, whole, and what was answered is there.
 * - Conditional operations are atomic because one process owns the folder and works on one key at a time.
 * - Before each change that becomes visible the lock is asked again, so a process that lost its folder stops.
 * - A failure before the rename is a StoreError (nothing was written); from the rename on it is `unknown`.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, rename, rm, stat, unlink, utimes } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { FileStoreClock, type LocalClocks } from './file-store-clock.ts';
import { DurableFolders, syncFolder } from './file-store-folders.ts';
import {
  asStoreError,
  isMissing,
  makeFolder,
  openOrMissing,
  readFully,
  readHeader,
  writeDurably,
} from './file-store-io.ts';
import { type FolderLock, type FolderLockOptions, lockFolder } from './file-store-lock.ts';
import { decodeHeader, encodeHeader, HEADER_BYTES } from './file-store-object.ts';
import { objectPath, walkKeys } from './file-store-walk.ts';
import { assertKey, assertListRequest, LIST_LIMIT_MAX } from './key-rules.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import type {
  DeleteIfMatchOutcome,
  DeleteOutcome,
  ETag,
  GetOutcome,
  ListedObject,
  ListPage,
  ListRequest,
  ObjectStore,
  PutIfAbsentOutcome,
  PutIfMatchOutcome,
  PutOutcome,
  StoreTime,
  UnknownOutcome,
} from './object-store.ts';

export interface FileStoreOptions extends FolderLockOptions {
  /** Created when it isn't there. */
  readonly folder: string;
  /** The local clocks, for tests. */
  readonly clocks?: LocalClocks;
}

interface Stored {
  readonly etag: ETag;
  readonly time: StoreTime;
}

/** A LIST opens this many files at a time. */
const OPEN_FILES_MAX = 16;
/** A folder that vanishes again and again under one put means that somebody else deletes there. */
const RENAME_ATTEMPTS_MAX = 10;

export class FileStore implements ObjectStore {
  readonly #objects: string;
  readonly #temp: string;
  readonly #lock: FolderLock;
  readonly #clock: FileStoreClock;
  readonly #folders: DurableFolders;
  readonly #mutex = new KeyedMutex();
  #writes = 0;

  /** @throws StoreError when another process has the folder, or it can't be made or written. */
  static async open(options: FileStoreOptions): Promise<FileStore> {
    const folder = resolve(options.folder);
    const temp = join(folder, 'temp');
    try {
      await makeFolder(folder);
      const lock = await lockFolder(folder, options);
      try {
        // Every write goes through temp/, so the time of its last change is when the last process last wrote.
        const floorMillis = (await stat(temp).catch(() => undefined))?.mtimeMs ?? 0;
        await rm(temp, { recursive: true, force: true });
        await mkdir(temp, { mode: 0o700 });
        await mkdir(join(folder, 'objects'), { recursive: true, mode: 0o700 });
        await syncFolder(folder);
        await syncFolder(dirname(folder));
        return new FileStore(folder, lock, new FileStoreClock(options.clocks ?? systemClocks, floorMillis));
      } catch (error) {
        await lock.release();
        throw error;
      }
    } catch (error) {
      throw asStoreError(error, `the folder ${folder} can't be used`);
    }
  }

  private constructor(folder: string, lock: FolderLock, clock: FileStoreClock) {
    this.#objects = join(folder, 'objects');
    this.#temp = join(folder, 'temp');
    this.#lock = lock;
    this.#clock = clock;
    this.#folders = new DurableFolders(this.#objects);
  }

  /** Finishes what runs and lets the next process in. Later calls fail. */
  async close(): Promise<void> {
    await this.#mutex.idle();
    await this.#lock.release();
  }

  async get(key: string, options?: { readonly ifNoneMatch?: ETag }): Promise<GetOutcome> {
    assertKey(key);
    const path = objectPath(this.#objects, key);
    return this.#reading(path, async (file): Promise<GetOutcome> => {
      if (file === undefined) return { kind: 'missing' };
      if (options?.ifNoneMatch !== undefined) {
        if ((await readHeader(file, path)).etag === options.ifNoneMatch) return { kind: 'unchanged' };
      }
      const { size } = await file.stat();
      const bytes = new Uint8Array(size);
      await readFully(file, bytes);
      const { etag, millis } = decodeHeader(bytes, path);
      return { kind: 'done', body: bytes.subarray(HEADER_BYTES), etag, lastModified: milliseconds(millis) };
    });
  }

  async put(key: string, body: Uint8Array): Promise<PutOutcome> {
    assertKey(key);
    const bytes = body.slice();
    return this.#mutex.run(key, () => this.#write(key, bytes));
  }

  async putIfAbsent(key: string, body: Uint8Array): Promise<PutIfAbsentOutcome> {
    assertKey(key);
    const bytes = body.slice();
    return this.#mutex.run(key, async () =>
      (await this.#stored(key)) === undefined ? this.#write(key, bytes) : { kind: 'conflict' },
    );
  }

  async putIfMatch(key: string, body: Uint8Array, etag: ETag): Promise<PutIfMatchOutcome> {
    assertKey(key);
    const bytes = body.slice();
    return this.#mutex.run(key, async () => {
      const stored = await this.#stored(key);
      if (stored === undefined) return { kind: 'missing' };
      return stored.etag === etag ? this.#write(key, bytes) : { kind: 'conflict' };
    });
  }

  async list(request: ListRequest): Promise<ListPage> {
    assertListRequest(request);
    const limit = request.limit ?? LIST_LIMIT_MAX;
    const objects: ListedObject[] = [];
    try {
      let keys: string[] = [];
      for await (const key of walkKeys(this.#objects, request)) {
        keys.push(key);
        // One more than asked for tells whether more follows; keys that were deleted meanwhile don't count.
        if (keys.length < OPEN_FILES_MAX && objects.length + keys.length <= limit) continue;
        objects.push(...(await this.#listed(keys)));
        keys = [];
        if (objects.length > limit) return { objects: objects.slice(0, limit), truncated: true };
      }
      objects.push(...(await this.#listed(keys)));
    } catch (error) {
      throw asStoreError(error, `listing ${request.prefix} failed`);
    }
    return { objects, truncated: false };
  }

  async delete(key: string): Promise<DeleteOutcome> {
    assertKey(key);
    return this.#mutex.run(key, () => this.#remove(key));
  }

  async deleteIfMatch(key: string, etag: ETag): Promise<DeleteIfMatchOutcome> {
    assertKey(key);
    return this.#mutex.run(key, async () => {
      const stored = await this.#stored(key);
      if (stored === undefined) return { kind: 'missing' };
      return stored.etag === etag ? this.#remove(key) : { kind: 'conflict' };
    });
  }

  async #listed(keys: readonly string[]): Promise<ListedObject[]> {
    const found = await Promise.all(
      keys.map(async (key) => {
        const stored = await this.#stored(key);
        return stored === undefined
          ? undefined
          : { key, bytes: stored.bodyBytes, etag: stored.etag, lastModified: stored.time };
      }),
    );
    return found.filter((each) => each !== undefined);
  }

  async #stored(key: string): Promise<(Stored & { readonly bodyBytes: number }) | undefined> {
    const path = objectPath(this.#objects, key);
    return this.#reading(path, async (file) => {
      if (file === undefined) return undefined;
      const { etag, millis } = await readHeader(file, path);
      return { etag, time: milliseconds(millis), bodyBytes: (await file.stat()).size - HEADER_BYTES };
    });
  }

  async #reading<Result>(
    path: string,
    read: (file: FileHandle | undefined) => Promise<Result>,
  ): Promise<Result> {
    let file: FileHandle | undefined;
    try {
      await this.#lock.ensureHeld();
      file = await openOrMissing(path);
      return await read(file);
    } catch (error) {
      throw asStoreError(error, `reading ${path} failed`);
    } finally {
      await file?.close();
    }
  }

  async #write(
    key: string,
    body: Uint8Array,
  ): Promise<(Stored & { readonly kind: 'done' }) | UnknownOutcome> {
    const path = objectPath(this.#objects, key);
    const etag = `"${randomUUID().replaceAll('-', '')}"` as ETag;
    const { millis, behind } = this.#clock.read();
    this.#writes += 1;
    const temp = join(this.#temp, String(this.#writes));
    try {
      await writeDurably(temp, encodeHeader(etag, millis), body);
      await this.#lock.ensureHeld();
      await this.#renameInto(temp, path);
    } catch (error) {
      await unlink(temp).catch(() => {});
      throw asStoreError(error, `writing ${path} failed`);
    }
    try {
      const folder = dirname(path);
      await syncFolder(folder);
      // Made anew by another put between our first look and our rename: its entry must be durable too.
      await this.#folders.ensure(folder);
      if (behind) await utimes(this.#temp, millis / 1000, millis / 1000);
    } catch (error) {
      return {
        kind: 'unknown',
        throttled: false,
        reason: `${path} was renamed but not synced: ${String(error)}`,
      };
    }
    return { kind: 'done', etag, time: milliseconds(millis) };
  }

  async #renameInto(temp: string, path: string): Promise<void> {
    const folder = dirname(path);
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#folders.ensure(folder);
        await rename(temp, path);
        return;
      } catch (error) {
        if (!isMissing(error) || attempt === RENAME_ATTEMPTS_MAX) throw error;
        this.#folders.forget(folder);
      }
    }
  }

  async #remove(key: string): Promise<{ readonly kind: 'done' } | UnknownOutcome> {
    const path = objectPath(this.#objects, key);
    try {
      await this.#lock.ensureHeld();
      await unlink(path);
    } catch (error) {
      if (isMissing(error)) return { kind: 'done' };
      throw asStoreError(error, `deleting ${path} failed`);
    }
    try {
      await syncFolder(dirname(path));
    } catch (error) {
      // Another delete may have removed the folder with it; whatever removed it synced nothing for us.
      if (!isMissing(error))
        return { kind: 'unknown', throttled: false, reason: `${path}: ${String(error)}` };
    }
    await this.#folders.removeEmpty(dirname(path));
    return { kind: 'done' };
  }
}

const systemClocks: LocalClocks = { wallMillis: () => Date.now(), monotonicMillis: () => performance.now() };

function milliseconds(millis: number): StoreTime {
  return { millis, resolutionMillis: 1 };
}
