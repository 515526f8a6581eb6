/**
 * One process per folder. The next start takes over when the owner is dead (file-store-owner.ts says how that is
 * known), and exactly one of several simultaneous starts wins.
 *
 * `<folder>/lock/owner-<generation>.json` names the owner; the highest generation owns the folder.
 * - Generation N + 1 is created exclusively, and only after the owner of N was found dead: of all who found it dead, one succeeds.
 * - The highest record is never deleted, not even by an orderly end (which marks it released), so a number is never
 *   used twice. Otherwise: (1) A and B find N dead; (2) A takes N + 1, ends, deletes N + 1; (3) C finds nothing and
 *   takes 1; (4) B, late, takes N + 1: two owners.
 * - Lower records are deleted by the owner of a higher one. So whoever created a record looks again and gives way
 *   to a higher one: (1) B finds N dead and stalls; (2) A takes N + 1 and dies; (3) C takes N + 2 and deletes N + 1;
 *   (4) B creates N + 1 again, sees N + 2, withdraws.
 *
 * Over 300 lines, because claiming, holding and losing a folder are one protocol and are read together.
 *
 * What is left: an owner on *another machine* of a shared network folder that stops for over `takeoverMillis` loses the
 * folder. It finds out before its next write, except when it stops exactly between that look and the rename:
 * then one object may be replaced by an older state. Use a bucket when several machines must reach the data.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, stat, unlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  CONNECT_MILLIS,
  deviceIdentity,
  kernelIdentity,
  knock,
  LOCK_TIMING,
  type LockTiming,
  type Owner,
  parseOwner,
  socketAddress,
} from './file-store-owner.ts';
import { StoreError } from './object-store.ts';

const RECORD = /^owner-([0-9]+)\.json$/;
const WATCH_EVERY_MILLIS = 200;
/** Sockets of starts that died before they owned anything. A living start needs seconds. */
const STRAY_SOCKET_MILLIS = 60_000;

export interface FolderLock {
  /** @throws StoreError (not retryable) when the folder now belongs to another process or was deleted. */
  ensureHeld(): Promise<void>;
  /** Lets the next start in without a wait. May be called twice. */
  release(): Promise<void>;
}

export interface FolderLockOptions {
  /** Called once when the folder is lost; the process should stop. */
  readonly onLost?: (error: StoreError) => void;
  /** Called when only watching can tell whether the owner lives (after a reboot, say): the start takes seconds. */
  readonly onWait?: (message: string) => void;
  /** Shorter ones for tests. */
  readonly timing?: LockTiming;
}

/** @throws StoreError naming the folder and its owner when another process, or this one, has it. */
export async function lockFolder(folder: string, options: FolderLockOptions = {}): Promise<FolderLock> {
  const directory = join(folder, 'lock');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const nonce = randomUUID();
  const server = await listen(join(directory, `${nonce}.sock`));
  try {
    const self: Owner = {
      nonce,
      pid: process.pid,
      host: hostname(),
      since: new Date().toISOString(),
      kernel: await kernelIdentity(),
      device: await deviceIdentity(directory),
      ...(server === undefined ? {} : { socket: `${nonce}.sock` }),
      beats: 0,
    };
    const claimed = await claim(folder, directory, self, options);
    await removeOlder(directory, claimed.generation, self);
    return new HeldFolder({ folder, directory, self, server, ...claimed }, options);
  } catch (error) {
    await close(server);
    await unlink(join(directory, `${nonce}.sock`)).catch(() => {});
    throw error;
  }
}

async function claim(
  folder: string,
  directory: string,
  self: Owner,
  options: FolderLockOptions,
): Promise<{ readonly generation: number; readonly record: FileHandle }> {
  for (;;) {
    const newest = await newestGeneration(directory);
    if (newest > 0) {
      const { takeoverMillis } = options.timing ?? LOCK_TIMING;
      const verdict = await judge(directory, newest, self, takeoverMillis, () =>
        options.onWait?.(`watching whether the last owner of ${folder} still lives`),
      );
      if (verdict === 'changed') continue;
      if (verdict !== 'dead') throw inUse(folder, verdict);
    }
    const generation = newest + 1;
    const record = await createRecord(recordPath(directory, generation), self);
    if (record === undefined) continue;
    if ((await newestGeneration(directory)) === generation) return { generation, record };
    await record.close();
    await unlink(recordPath(directory, generation)).catch(() => {});
  }
}

/** `dead`, or the living owner, or `changed`: the record is not what it was, look again. */
async function judge(
  directory: string,
  generation: number,
  self: Owner,
  takeoverMillis: number,
  onWait: () => void,
): Promise<'dead' | 'changed' | Owner> {
  const path = recordPath(directory, generation);
  const record = await readFile(path, 'utf8').catch(() => undefined);
  if (record === undefined) return 'changed';
  // Unreadable: its writer is just writing it, or died in the middle. Watching tells which.
  const owner = parseOwner(record);
  if (owner?.released) return 'dead';
  if (owner?.socket !== undefined) {
    const evidence = await knock(join(directory, owner.socket));
    if (evidence === 'accepted') return owner;
    if (evidence === 'refused' && owner.kernel === self.kernel && owner.device === self.device) return 'dead';
  }
  onWait();
  const untilMillis = performance.now() + takeoverMillis;
  while (performance.now() < untilMillis) {
    await new Promise((wake) => setTimeout(wake, WATCH_EVERY_MILLIS));
    const again = await readFile(path, 'utf8').catch(() => undefined);
    if (again === record) continue;
    const beating = again === undefined ? undefined : parseOwner(again);
    return beating !== undefined && beating.nonce === owner?.nonce && !beating.released ? beating : 'changed';
  }
  return 'dead';
}

interface Hold {
  readonly folder: string;
  readonly directory: string;
  readonly generation: number;
  readonly self: Owner;
  readonly record: FileHandle;
  readonly server: Server | undefined;
}

class HeldFolder implements FolderLock {
  readonly #hold: Hold;
  readonly #options: FolderLockOptions;
  readonly #timing: LockTiming;
  readonly #timer: ReturnType<typeof setInterval>;
  #beats = 0;
  #lost: StoreError | undefined;
  #released: Promise<void> | undefined;
  #beating: Promise<void> | undefined;
  #beatWallMillis = Date.now();
  #beatMonotonicMillis = performance.now();

  constructor(hold: Hold, options: FolderLockOptions) {
    this.#hold = hold;
    this.#options = options;
    this.#timing = options.timing ?? LOCK_TIMING;
    this.#timer = setInterval(() => this.#beat().catch(() => {}), this.#timing.heartbeatMillis);
    this.#timer.unref();
  }

  async ensureHeld(): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    // The monotonic clock stands still while a machine sleeps, the wall clock doesn't.
    const lateMillis = Math.max(
      performance.now() - this.#beatMonotonicMillis,
      Math.abs(Date.now() - this.#beatWallMillis),
    );
    if (lateMillis > this.#timing.fenceMillis) await this.#beat();
  }

  async release(): Promise<void> {
    this.#released ??= this.#release();
    await this.#released;
  }

  async #release(): Promise<void> {
    const { folder, directory, record, server, self } = this.#hold;
    clearInterval(this.#timer);
    await this.#beating?.catch(() => {});
    if (this.#lost === undefined) await writeRecord(record, { ...self, beats: this.#beats, released: true });
    await record.close();
    await close(server);
    if (self.socket !== undefined) await unlink(join(directory, self.socket)).catch(() => {});
    this.#lost ??= new StoreError(`the folder ${folder} was closed`, { retryable: false });
  }

  #beat(): Promise<void> {
    this.#beating ??= this.#beatOnce().finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  async #beatOnce(): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    const { directory, generation, record, self } = this.#hold;
    const wallMillis = Date.now();
    const monotonicMillis = performance.now();
    this.#beats += 1;
    // Through the open file: under this path may by now be the record of another.
    await writeRecord(record, { ...self, beats: this.#beats });
    const stored = parseOwner(await readFile(recordPath(directory, generation), 'utf8').catch(() => ''));
    if (stored?.nonce !== self.nonce || (await newestGeneration(directory)) !== generation)
      throw this.#lose();
    this.#beatWallMillis = wallMillis;
    this.#beatMonotonicMillis = monotonicMillis;
  }

  #lose(): StoreError {
    this.#lost = new StoreError(
      `the folder ${this.#hold.folder} was deleted or taken over by another process; this one no longer writes to it`,
      { retryable: false },
    );
    clearInterval(this.#timer);
    this.#options.onLost?.(this.#lost);
    return this.#lost;
  }
}

function inUse(folder: string, owner: Owner): StoreError {
  return new StoreError(
    `the folder ${folder} is in use by process ${owner.pid} on ${owner.host} since ${owner.since}; ` +
      'one process at a time can keep its data there: stop that one, choose another folder, or use a bucket',
    { retryable: false },
  );
}

function recordPath(directory: string, generation: number): string {
  return join(directory, `owner-${generation}.json`);
}

async function newestGeneration(directory: string): Promise<number> {
  const names = await readdir(directory).catch(() => []);
  return Math.max(0, ...names.map((name) => Number(RECORD.exec(name)?.[1] ?? 0)));
}

async function createRecord(path: string, owner: Owner): Promise<FileHandle | undefined> {
  let record: FileHandle;
  try {
    record = await open(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
  await writeRecord(record, owner);
  return record;
}

/** One write at the start; each record is at least as long as the one before, so nothing of that remains. */
async function writeRecord(record: FileHandle, owner: Owner): Promise<void> {
  const line = new TextEncoder().encode(`${JSON.stringify(owner)}\n`);
  await record.write(line, 0, line.length, 0);
}

async function removeOlder(directory: string, generation: number, self: Owner): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const older = Number(RECORD.exec(name)?.[1] ?? generation) < generation;
    const stray =
      name.endsWith('.sock') && name !== self.socket && (await ageMillis(path)) > STRAY_SOCKET_MILLIS;
    if (older || stray) await unlink(path).catch(() => {});
  }
}

async function ageMillis(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? 0 : Date.now() - found.mtimeMs;
}

/** Undefined where a socket can't be: too long a path, or a file system without sockets. */
function listen(path: string): Promise<Server | undefined> {
  const address = socketAddress(path);
  if (address === undefined) return Promise.resolve(undefined);
  return new Promise((settle) => {
    // The caller hangs up: on Bun a connection that we end at once can look to the caller like one that failed.
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.setTimeout(CONNECT_MILLIS, () => socket.destroy());
      socket.resume();
      socket.unref();
    });
    server.once('error', () => settle(undefined));
    server.listen(address, () => {
      server.on('error', () => {});
      server.unref();
      settle(server);
    });
  });
}

function close(server: Server | undefined): Promise<void> {
  return new Promise((settle) => {
    if (server === undefined) settle();
    else server.close(() => settle());
  });
}
