/** The programs that need npm packages of their own, by the lock file in their folder. */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repository } from '../faults/okuri-process.ts';
import { here, installed, tool } from './toolchain.ts';

/** @returns the program's path: beside its packages, and below what it shares with others, as in this folder. */
export async function nodeProgram(client: string, program: string): Promise<string> {
  const names = ['package.json', 'package-lock.json', program].map((name) => join(client, name));
  const copied = [...names, 'job-records.ts'];
  const sources = copied.map((name) => join(here, name));
  const folder = await installed(client, sources, async (empty) => {
    for (const name of copied) {
      mkdirSync(dirname(join(empty, name)), { recursive: true });
      copyFileSync(join(here, name), join(empty, name));
    }
    await tool('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], join(empty, client));
  });
  return join(folder, client, program);
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
