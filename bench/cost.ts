/**
 * `just cost` prints what messages cost and writes it into the documents; `just cost --check` fails when what they say
 * is not what the code does. The same on every machine: virtual time, one seed.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import {
  type CostFigures,
  endToEndRuns,
  measure,
  measureIdle,
  oneSidedRuns,
  otherRuns,
  prices,
} from './cost-runs.ts';
import { fullTable, shortTable, withTable } from './cost-table.ts';

const figures: CostFigures[] = [];
for (const run of [...endToEndRuns, ...otherRuns, ...oneSidedRuns]) figures.push(await measure(run));
const full = fullTable(figures, await measureIdle());

const documents: readonly (readonly [path: string, content: string])[] = [
  ['docs/cost.md', full],
  ['README.md', shortTable(figures)],
];

if (process.argv.includes('--check')) {
  let stale = 0;
  for (const [path, content] of documents) {
    const text = readFileSync(path, 'utf8');
    if (text === withTable(text, content)) continue;
    stale++;
    console.error(`not ok: ${path} does not say what the code does; \`just cost\` gives\n\n${content}\n`);
  }
  console.log(`${documents.length - stale} passed, ${stale} failed`);
  process.exit(stale === 0 ? 0 : 1);
}

console.log(`${prices}\n\n${full}`);
for (const [path, content] of documents) writeFileSync(path, withTable(readFileSync(path, 'utf8'), content));
process.exit(0);
