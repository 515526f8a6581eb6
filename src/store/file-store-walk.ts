/**
 * Keys and paths, and the walk through a folder tree in the order of keys.
 *
 * Key `m/orders` is the file `m/orders@`. The mark is no key character, so a key may also be the folder of others
 * (`a` and `a/b`), and files that somebody else put there are not objects. Names are used as they are: on a file
 * system that ignores case, keys that differ in nothing else would be one file. That is not supported.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListRequest } from './object-store.ts';

const MARK = '@';

export function objectPath(root: string, key: string): string {
  return `${join(root, ...key.split('/'))}${MARK}`;
}

/** All keys that the request asks for, in ascending order; some may be gone when they are opened. */
export async function* walkKeys(root: string, request: ListRequest): AsyncGenerator<string> {
  const depth = request.prefix.lastIndexOf('/');
  const above = depth < 0 ? '' : request.prefix.slice(0, depth + 1);
  yield* walk(root, above, request);
}

async function* walk(root: string, above: string, request: ListRequest): AsyncGenerator<string> {
  for (const name of await sortedNames(join(root, ...above.split('/')))) {
    const key = above + name;
    if (!key.endsWith('/')) {
      if (key.startsWith(request.prefix) && isAfter(key, request.startAfter)) yield key;
    } else if (key.startsWith(request.prefix) || request.prefix.startsWith(key)) {
      // Everything below starts with `key`: skip it when `startAfter` is beyond all of that.
      if (isAfter(key, request.startAfter) || request.startAfter?.startsWith(key))
        yield* walk(root, key, request);
    }
  }
}

function isAfter(key: string, startAfter: string | undefined): boolean {
  return startAfter === undefined || key > startAfter;
}

/** Objects without their mark, folders with a trailing slash: in this form names sort as whole keys do. */
async function sortedNames(folder: string): Promise<string[]> {
  const names: string[] = [];
  for (const entry of await readFolder(folder)) {
    if (entry.isDirectory()) names.push(`${entry.name}/`);
    else if (entry.name.endsWith(MARK)) names.push(entry.name.slice(0, -MARK.length));
  }
  return names.sort();
}

async function readFolder(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
