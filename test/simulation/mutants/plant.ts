/** Plants changes in copies of the product and the simulator: the product itself has no switch for any of them. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Patch } from './mutant.ts';

export const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** Inside the repository, where its modules are found. */
export function scratchOf(name: string): string {
  return `${repository}.cache/${name}`;
}

/** Makes a copy of product and simulator with these changes. @throws when a text is not there exactly once */
export function plant(scratch: string, folder: string, patches: readonly Patch[]): string {
  const tree = `${scratch}/${folder}`;
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(tree, { recursive: true });
  const filter = (path: string) => !path.endsWith('.test.ts');
  cpSync(`${repository}src`, `${tree}/src`, { recursive: true, filter });
  cpSync(`${repository}test/simulation`, `${tree}/test/simulation`, { recursive: true, filter });
  for (const { file, text, by } of patches) {
    const source = readFileSync(`${tree}/${file}`, 'utf8');
    const times = source.split(text).length - 1;
    if (times !== 1) throw new Error(`in ${file} this text occurs ${times} times, not once: ${text}`);
    writeFileSync(
      `${tree}/${file}`,
      source.replace(text, () => by),
    );
  }
  return tree;
}
