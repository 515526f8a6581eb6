/**
 * Who owns a folder, and whether that owner still lives. No process id is ever looked up: numbers are reused, every
 * container has its process 1, and two containers on one volume cannot see each other's processes.
 *
 * Evidence, best first:
 * - The owner listens on a Unix socket in the folder. A connection that is accepted proves life, also of a stopped
 *   process, and from another container on the same machine, because the kernel finds the listener by the inode.
 * - A refused connection proves death, but only where the kernel that refuses is the one the owner ran on and sees the
 *   same file system: same boot, same device number (another mount of one network share has other inodes).
 * - Anywhere else (rebooted, another machine, no sockets on this file system) the record itself is watched: a
 *   living owner rewrites it at each heartbeat.
 */
import { readFile, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { relative, resolve } from 'node:path';

export interface LockTiming {
  readonly heartbeatMillis: number;
  /** An owner whose record stood still for this long, and of whom nothing else is known, has lost the folder. */
  readonly takeoverMillis: number;
  /** An owner this late with its heartbeat looks whether it still owns the folder before it writes. */
  readonly fenceMillis: number;
}

/**
 * Rewriting a line every other second is nothing to a disk. Five heartbeats survive a busy machine; an owner looks
 * twice as early as another may take over. A start after a reboot waits for as long as a takeover takes.
 */
export const LOCK_TIMING: LockTiming = { heartbeatMillis: 2_000, takeoverMillis: 10_000, fenceMillis: 5_000 };

/** `sun_path` is 104 bytes on the BSDs and 108 on Linux, with its terminator. */
const SOCKET_PATH_BYTES_MAX = 103;
/** A connection within one machine takes far less; whoever holds one longer is no knocker. */
export const CONNECT_MILLIS = 2_000;

export interface Owner {
  /** Random; tells this hold of the folder from every other. */
  readonly nonce: string;
  /** For the person who reads the error. */
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  /** The running kernel: changes with every boot. */
  readonly kernel: string;
  /** The device number of the folder as the owner saw it. */
  readonly device: string;
  /** Name of the socket beside the record; absent where the file system has none. */
  readonly socket?: string;
  readonly beats: number;
  /** Set by an owner that stopped in an orderly way. */
  readonly released?: true;
}

export function parseOwner(record: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(record);
    if (typeof value !== 'object' || value === null) return undefined;
    const owner = value as Partial<Owner>;
    return typeof owner.nonce === 'string' && typeof owner.kernel === 'string' ? (owner as Owner) : undefined;
  } catch {
    return undefined;
  }
}

export async function kernelIdentity(): Promise<string> {
  try {
    return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  } catch {
    // Outside Linux no containers share a folder behind one kernel; the host's name stands for its kernel.
    return `${process.platform}:${hostname()}`;
  }
}

export async function deviceIdentity(folder: string): Promise<string> {
  return String((await stat(folder)).dev);
}

/** The shorter of the absolute and the relative path, or undefined when neither fits a socket address. */
export function socketAddress(path: string): string | undefined {
  const absolute = resolve(path);
  const near = relative(process.cwd(), absolute);
  const address = near !== '' && near.length < absolute.length ? near : absolute;
  return Buffer.byteLength(address) <= SOCKET_PATH_BYTES_MAX ? address : undefined;
}

export type SocketEvidence = 'accepted' | 'refused' | 'unclear';

export function knock(path: string): Promise<SocketEvidence> {
  const address = socketAddress(path);
  if (address === undefined) return Promise.resolve('unclear');
  return new Promise((settle) => {
    const socket = connect(address);
    const timer = setTimeout(() => end('unclear'), CONNECT_MILLIS);
    const end = (evidence: SocketEvidence) => {
      clearTimeout(timer);
      socket.destroy();
      settle(evidence);
    };
    socket.once('connect', () => end('accepted'));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      // EAGAIN: the queue of a stopped but living listener is full. ECONNRESET: it accepted and ended.
      if (error.code === 'ECONNREFUSED') end('refused');
      else end(error.code === 'EAGAIN' || error.code === 'ECONNRESET' ? 'accepted' : 'unclear');
    });
  });
}
