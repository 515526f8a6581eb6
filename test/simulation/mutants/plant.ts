/** Plants changes in copies of the product and the simulator: the product itself has no switch for any of them. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Patch } from './mutant.ts';

export const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** Inside the repository, where its modules are found. */
export function scratchOf(name: string): string {
  return `${repository}.cache/${name}`;
}

/** The files that a fault changes, with what it makes of them. @throws when a text is not there exactly once */
export function spoiled(patches: readonly Patch[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const { file, text, by } of patches) {
    const source = files.get(file) ?? readFileSync(`${repository}${file}`, 'utf8');
    const times = source.split(text).length - 1;
    if (times !== 1) throw new Error(`in ${file} this text occurs ${times} times, not once: ${text}`);
    files.set(
      file,
      source.replace(text, () => by),
    );
  }
  return files;
}

/** Makes a copy of product and simulator with these changes. */
export function plant(scratch: string, folder: string, patches: readonly Patch[]): string {
  const tree = `${scratch}/${folder}`;
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(tree, { recursive: true });
  const filter = (path: string) => !path.endsWith('.test.ts');
  cpSync(`${repository}src`, `${tree}/src`, { recursive: true, filter });
  cpSync(`${repository}test/simulation`, `${tree}/test/simulation`, { recursive: true, filter });
  for (const [file, source] of spoiled(patches)) writeFileSync(`${tree}/${file}`, source);
  return tree;
}
