/**
 * Installing what the clients are written with, pinned, into the git-ignored .cache. Anything that is missing on the
 * machine is an error that names it.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../faults/okuri-process.ts';

const run = promisify(execFile);
export const cache = join(repository, '.cache', 'conformance');
export const here = join(repository, 'test', 'conformance');

/**
 * @param files what decides the contents: another text of theirs is another folder.
 * @param install fills the folder it is given.
 * @returns the folder, whole.
 */
export async function installed(
  name: string,
  files: readonly string[],
  install: (folder: string) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file)).update('\0');
  const folder = join(cache, `${name}-${hash.digest('hex').slice(0, 12)}`);
  const marker = join(folder, 'complete');
  if (existsSync(marker)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  console.log(`installing ${basename(folder)}`);
  await install(folder);
  writeFileSync(marker, '');
  return folder;
}

/** @returns what it printed. @throws Error that says what it said. */
export async function tool(command: string, args: readonly string[], cwd = repository): Promise<string> {
  try {
    const { stdout } = await run(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    throw new Error(`${command} ${args.join(' ')} failed`, { cause: error });
  }
}

export function found(match: RegExpExecArray | null, name: string): string {
  if (match?.[1] === undefined) throw new Error(`no version of ${name} is pinned`);
  return match[1];
}
