/**
 * `just scale`: what nothing in a queue may grow beyond (DESIGN.md section 4), row by row, and exit status 1 naming the
 * row and the bound where something does.
 *
 *     bench/scale/scale.ts [--small | --part 0.1] [--json FILE] [ROW…]
 *
 * `--small`: a hundredth of each row, for CI.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isOver, type RowFigures, smallPart } from './figures.ts';
import { rows } from './rows.ts';
import { summary, tableOf } from './table.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    small: { type: 'boolean' },
    part: { type: 'string' },
    json: { type: 'string' },
  },
});
const part = values.small ? smallPart : Number(values.part ?? 1);
if (!(part > 0 && part <= 1)) throw new TypeError('--part is above 0 and at most 1');
const unknown = positionals.filter((name) => !rows.some((row) => row.name === name));
if (unknown.length > 0)
  throw new TypeError(`no row ${unknown.join(', ')}; there are ${rows.map(({ name }) => name).join(', ')}`);

/**
 * What Node 26 allows itself in a container of 512 MiB (measured under a memory cgroup): half of it for the old
 * generation, 4 MiB for each half of the young one. On a large machine it would rather let garbage lie.
 */
const containerOptions = ['--max-old-space-size=256', '--max-semi-space-size=4'];
const child = fileURLToPath(new URL('row.ts', import.meta.url));
const results: RowFigures[] = [];
let passed = 0;
const over: string[] = [];

for (const row of rows) {
  if (positionals.length > 0 && !positionals.includes(row.name)) continue;
  console.log(`${row.name}: ${row.title}${part < 1 ? ` (× ${part})` : ''}`);
  const began = performance.now();
  try {
    const output = execFileSync(
      process.execPath,
      [...containerOptions, '--expose-gc', '--import', 'tsx', child, row.name, String(part)],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 64 * 1024 * 1024 },
    );
    const figures: RowFigures = JSON.parse(output.trimEnd().split('\n').at(-1)!);
    results.push(figures);
    console.log(tableOf(figures));
    for (const figure of figures.figures) {
      if (figure.most === undefined && figure.least === undefined) continue;
      if (isOver(figure)) over.push(`${row.name}: ${figure.name}`);
      else passed++;
    }
    if (figures.stopped !== undefined) over.push(`${row.name}: ${figures.stopped}`);
  } catch (error) {
    over.push(`${row.name}: did not run to its end (${error instanceof Error ? error.message : error})`);
  }
  console.log(`   ${((performance.now() - began) / 1000).toFixed(0)} s\n`);
}

console.log(`${summary(results)}\n`);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, undefined, 2)}\n`);
for (const each of over) console.log(`not ok: ${each}`);
console.log(`${passed} passed, ${over.length} failed`);
process.exit(over.length === 0 ? 0 : 1);
