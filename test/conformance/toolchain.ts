/**
 * Installs what the clients are written with, pinned, into the git-ignored .cache: a Python environment for each list of
 * requirements, and a Go program by its go.sum. PHP clients are the packages of the Linux distribution, of whatever
 * version it has. Anything that is missing on the machine is an error.
 */
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../faults/okuri-process.ts';

const run = promisify(execFile);
const cache = join(repository, '.cache', 'conformance');
const here = join(repository, 'test', 'conformance');
/** `requirements.txt`, or `requirements-query.txt` for the last versions that speak the query protocol. */
export type Requirements = 'requirements.txt' | 'requirements-query.txt';

function read(requirements: Requirements): string {
  return readFileSync(join(here, requirements), 'utf8');
}

/** @returns the folder of `python` and `aws`. */
export async function pythonEnvironment(requirements: Requirements = 'requirements.txt'): Promise<string> {
  // Another set of versions is another folder; the marker says that it is whole.
  const folder = join(
    cache,
    `python-${createHash('sha256').update(read(requirements)).digest('hex').slice(0, 12)}`,
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
      join(here, requirements),
    ]);
    writeFileSync(marker, '');
  }
  return join(folder, 'bin');
}

/** The folder of a Go program, which is a module of its own. */
export type GoProgram = 'aws-sdk-go' | 'aws-sdk-go-v1';

/** @returns the built program. */
export async function goProgram(name: GoProgram): Promise<string> {
  const program = join(cache, name);
  mkdirSync(cache, { recursive: true });
  await tool('go', ['build', '-mod=readonly', '-o', program, '.'], join(here, name));
  return program;
}

/** Fails unless `php` and the distribution's package are there. */
export async function phpPackage(name: string): Promise<void> {
  try {
    await tool('php', ['--version']);
    await tool('dpkg', ['--status', name]);
  } catch (error) {
    throw new Error(`needs: apt-get install php-cli php-xml ${name}`, { cause: error });
  }
}

/** The upstream version of an installed package, or why there is none. */
export function packageVersion(name: string): string {
  try {
    const format = ['--show', '--showformat', '${' + 'Version}', name];
    return execFileSync('dpkg-query', format, { encoding: 'utf8', stdio: 'pipe' }).replace(/-[^-]*$/, '');
  } catch {
    return 'not installed';
  }
}

async function tool(command: string, args: readonly string[], cwd = repository): Promise<void> {
  try {
    await run(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    throw new Error(`${command} ${args.join(' ')} failed`, { cause: error });
  }
}

export function pythonVersion(name: string, requirements: Requirements = 'requirements.txt'): string {
  return found(new RegExp(`^${name}==(.+)$`, 'm').exec(read(requirements)), name);
}

export function goVersion(program: GoProgram, module: string): string {
  const file = readFileSync(join(here, program, 'go.mod'), 'utf8');
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
