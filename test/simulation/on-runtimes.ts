/**
 * `just dst-runtimes [--count 50] [--from 1] [name …]`: the same seeds on Node, Bun and Deno, and a second time on the
 * first of them. Every line must be the same: digest of the trace, next random number, clock. Ends with
 * `N passed, N failed`, one for each seed and run that is compared.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installRuntimes, type Runtime, repository } from '../runtime/runtimes.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'string', default: '50' }, from: { type: 'string', default: '1' } },
});

const script = fileURLToPath(new URL('./dst.ts', import.meta.url));
const before = {
  node: ['--import', 'tsx'],
  bun: [],
  deno: ['run', '--allow-all', '--no-check', '--quiet'],
} as const;

async function digestsOn({ kind, binary }: Runtime): Promise<readonly string[]> {
  const args = [...before[kind], script, '--digests', '--count', values.count, '--from', values.from];
  const child = spawn(binary, args, { cwd: repository, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(child, 'close');
  return text.trim().split('\n');
}

const installed = installRuntimes();
const names = positionals.length > 0 ? positionals : ['node-24', 'bun', 'deno'];
const runtimes = names.map((name) => {
  const found = installed.find((runtime) => runtime.name === name);
  if (found === undefined) throw new Error(`no runtime is called ${name}`);
  return found;
});
const runs = [...runtimes, runtimes[0]!].map((runtime, index) => ({
  name: index === runtimes.length ? `${runtime.name} again` : runtime.name,
  runtime,
  lines: [] as readonly string[],
}));
const waiting = [...runs];
const worker = async () => {
  for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
    run.lines = await digestsOn(run.runtime);
    console.log(`${run.name}: ${run.lines.length - 1} seeds, ${run.lines.at(-1)}`);
  }
};
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker));

const expected = runs[0]!.lines;
let passed = 0;
let failed = 0;
for (let index = 0; index <= Number(values.count); index++)
  for (const { name, lines } of runs) {
    const line = expected[index];
    if (line !== undefined && lines[index] === line && !line.includes('FAILS')) {
      passed++;
      continue;
    }
    failed++;
    console.log(`FAILED on ${name}:\n  ${lines[index]}\n  ${line} on ${names[0]}`);
  }
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
