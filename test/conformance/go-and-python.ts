/** The Python environments, each by a requirements file, and the Go programs, each by its go.sum. */
import { mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { cache, found, here, installed, tool } from './toolchain.ts';

const REQUIREMENTS = 'requirements.txt';

/** @returns the folder of `python` and `aws`. */
export async function pythonEnvironment(requirements = REQUIREMENTS): Promise<string> {
  const file = join(here, requirements);
  const folder = await installed('python', [file], async (empty) => {
    await tool('python3', ['-m', 'venv', empty]);
    await tool(join(empty, 'bin', 'pip'), ['install', '--quiet', '--no-deps', '-r', file]);
  });
  return join(folder, 'bin');
}

/**
 * @param name the folder of a Go module.
 * @param versions its module file: another one than go.mod has a .sum of its own beside it.
 * @returns the built program.
 */
export async function goProgram(name: string, versions = 'go.mod'): Promise<string> {
  const program = join(cache, versions === 'go.mod' ? name : `${name}-${basename(versions, '.mod')}`);
  mkdirSync(cache, { recursive: true });
  const build = ['build', '-mod=readonly', `-modfile=${versions}`, '-o', program, '.'];
  await tool('go', build, join(here, name));
  return program;
}

export function pythonVersion(name: string, requirements = REQUIREMENTS): string {
  return found(new RegExp(`^${name}==(.+)$`, 'm').exec(readFileSync(join(here, requirements), 'utf8')), name);
}

export function goVersion(name: string, module: string, versions = 'go.mod'): string {
  const file = readFileSync(join(here, name, versions), 'utf8');
  return found(new RegExp(`${module} v(\\S+)`).exec(file), module);
}
