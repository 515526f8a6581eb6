/** `just build`: one executable by `bun build --compile`, then the smoke test on it. Ends with `N passed, N failed`. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { installRuntimes, repository } from './runtimes.ts';
import { smoke } from './smoke.ts';

const bun = installRuntimes().find(({ kind }) => kind === 'bun');
if (bun === undefined) throw new Error('Bun is not among the runtimes');
const output = join(repository, 'dist', 'okuri');
mkdirSync(join(repository, 'dist'), { recursive: true });
const built = spawnSync(
  bun.binary,
  ['build', '--compile', '--minify', '--bytecode', '--format=esm', 'src/cli/main.ts', '--outfile', output],
  { cwd: repository, stdio: 'inherit' },
);
if (built.status !== 0) throw new Error(`bun build ended with ${built.status}`);
try {
  await smoke([output, 'serve']);
  console.log(`${output} works\n1 passed, 0 failed`);
} catch (error) {
  console.log(error);
  console.log('0 passed, 1 failed');
  process.exit(1);
}
