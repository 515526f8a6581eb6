/** Files read and written whole, and what their failures mean behind the store port. */
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { decodeHeader, HEADER_BYTES } from './file-store-object.ts';
import { type ETag, StoreError } from './object-store.ts';

export async function writeDurably(path: string, header: Uint8Array, body: Uint8Array): Promise<void> {
  const bytes = new Uint8Array(header.length + body.length);
  bytes.set(header);
  bytes.set(body, header.length);
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function readHeader(
  file: FileHandle,
  path: string,
): Promise<{ readonly etag: ETag; readonly millis: number }> {
  const bytes = new Uint8Array(HEADER_BYTES);
  await readFully(file, bytes);
  return decodeHeader(bytes, path);
}

/** Fills `bytes` from the start of the file; what the file is too short for stays zero. */
export async function readFully(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, offset, bytes.length - offset, offset);
    if (bytesRead === 0) return;
    offset += bytesRead;
  }
}

export async function openOrMissing(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

/** A full disk or an exhausted table may have room again; a missing permission or a damaged file stays. */
const RETRYABLE_CODES = new Set([
  'ENOSPC',
  'EDQUOT',
  'EMFILE',
  'ENFILE',
  'EAGAIN',
  'EBUSY',
  'EINTR',
  'ENOMEM',
  'EIO',
]);

export function asStoreError(error: unknown, what: string): StoreError {
  if (error instanceof StoreError) return error;
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return new StoreError(`${what}: ${String(error)}`, { retryable: RETRYABLE_CODES.has(code), cause: error });
}

/**
 * Makes a folder and what is missing above it. Not `mkdir` with `recursive`: on Node that never ends where a mkdir
 * answers ENOENT below a parent that exists, as under /proc.
 */
export async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder && !(await isFolder(parent))) await makeFolder(parent);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (!(await isFolder(folder))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}
