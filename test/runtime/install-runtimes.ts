/** Puts the pinned runtimes into .cache, for whoever starts one by its path (CI), and tells their versions. */
import { installRuntimes } from './runtimes.ts';

for (const { name, version } of installRuntimes()) console.log(`${name} ${version}`);
