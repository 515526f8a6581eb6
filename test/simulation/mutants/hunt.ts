/**
 * Child process of mutants.ts: plays seeds of the tree that it lies in until one fails or the time is up, and prints
 * what it found as one line of JSON.
 *
 *   hunt.ts <seconds> <seed>…
 */
import { runSeed } from '../run.ts';

const [seconds, ...seeds] = process.argv.slice(2);
const started = performance.now();
let played = 0;
let found: { seed: string; property: string; detail: string } | undefined;
for (const seed of seeds) {
  if (performance.now() - started > Number(seconds) * 1000) break;
  played++;
  const { failure } = await runSeed(seed);
  if (!failure) continue;
  found = { seed, property: failure.property, detail: failure.detail };
  break;
}
console.log(JSON.stringify({ played, found }));
process.exit(0);
