/** The Python environments, each by a requirements file, and the Go programs, each by its go.sum. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** @param name the folder of a Go module. @returns the built program. */
export async function goProgram(name: string): Promise<string> {
  const program = join(cache, name);
  mkdirSync(cache, { recursive: true });
  await tool('go', ['build', '-mod=readonly', '-o', program, '.'], join(here, name));
  return program;
}

export function pythonVersion(name: string, requirements = REQUIREMENTS): string {
  return found(new RegExp(`^${name}==(.+)$`, 'm').exec(readFileSync(join(here, requirements), 'utf8')), name);
}

export function goVersion(name: string, module: string): string {
  const file = readFileSync(join(here, name, 'go.mod'), 'utf8');
  return found(new RegExp(`${module} v(\\S+)`).exec(file), module);
}
