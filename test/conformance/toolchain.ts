/**
 * Installs what the clients are written with, pinned, into the git-ignored .cache: a Python environment by
 * requirements.txt, and the Go program by its go.sum. Anything that is missing on the machine is an error.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../faults/okuri-process.ts';

const run = promisify(execFile);
const cache = join(repository, '.cache', 'conformance');
const here = join(repository, 'test', 'conformance');
const requirements = readFileSync(join(here, 'requirements.txt'), 'utf8');

/** @returns the folder of `python` and `aws`. */
export async function pythonEnvironment(): Promise<string> {
  // Another set of versions is another folder; the marker says that it is whole.
  const folder = join(
    cache,
    `python-${createHash('sha256').update(requirements).digest('hex').slice(0, 12)}`,
  );
  const marker = join(folder, 'complete');
  if (!existsSync(marker)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(cache, { recursive: true });
    console.log('installing the Python clients');
    await tool('python3', ['-m', 'venv', folder]);
    await tool(join(folder, 'bin', 'pip'), [
      'install',
      '--quiet',
      '--no-deps',
      '-r',
      join(here, 'requirements.txt'),
    ]);
    writeFileSync(marker, '');
  }
  return join(folder, 'bin');
}

/** @returns the built program. */
export async function goProgram(): Promise<string> {
  const program = join(cache, 'aws-sdk-go');
  mkdirSync(cache, { recursive: true });
  await tool('go', ['build', '-mod=readonly', '-o', program, '.'], join(here, 'aws-sdk-go'));
  return program;
}

async function tool(command: string, args: readonly string[], cwd = repository): Promise<void> {
  try {
    await run(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    throw new Error(`${command} ${args.join(' ')} failed`, { cause: error });
  }
}

export function pythonVersion(name: string): string {
  return found(new RegExp(`^${name}==(.+)$`, 'm').exec(requirements), name);
}

export function goVersion(module: string): string {
  const file = readFileSync(join(here, 'aws-sdk-go', 'go.mod'), 'utf8');
  return found(new RegExp(`${module} v(\\S+)`).exec(file), module);
}

export function nodeVersion(name: string): string {
  const file = readFileSync(join(repository, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(file) as { readonly version: string }).version;
}

function found(match: RegExpExecArray | null, name: string): string {
  if (match?.[1] === undefined) throw new Error(`no version of ${name} is pinned`);
  return match[1];
}
