/** The programs that need npm packages of their own, by the lock file in their folder. */
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../faults/okuri-process.ts';
import { here, installed, tool } from './toolchain.ts';

/** @returns the program's path, beside its packages. */
export async function nodeProgram(client: string, program: string): Promise<string> {
  const names = ['package.json', 'package-lock.json', program];
  const sources = names.map((name) => join(here, client, name));
  const folder = await installed(client, sources, async (empty) => {
    for (const [index, source] of sources.entries())
      copyFileSync(source, join(empty, names[index] as string));
    await tool('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], empty);
  });
  return join(folder, program);
}

/** The version that a client's own package.json pins. */
export function packagedVersion(client: string, name: string): string {
  const text = readFileSync(join(here, client, 'package.json'), 'utf8');
  const { dependencies } = JSON.parse(text) as { readonly dependencies: Readonly<Record<string, string>> };
  const version = dependencies[name];
  if (version === undefined) throw new Error(`no version of ${name} is pinned`);
  return version;
}

/** The version of one of okuri's own development packages. */
export function nodeVersion(name: string): string {
  const file = readFileSync(join(repository, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(file) as { readonly version: string }).version;
}
