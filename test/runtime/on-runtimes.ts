/**
 * `just runtimes [name …]`: every unit test and the smoke test on each runtime okuri promises, then the three ways to
 * start it that the README names. `name:smoke` leaves out the unit tests. Ends with `N passed, N failed`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { installRuntimes, type Runtime, type RuntimeKind, repository } from './runtimes.ts';
import { launch, untilReady } from './served.ts';
import { smoke } from './smoke.ts';

const tally = { passed: 0, failed: 0 };

function unitTestsOn(runtime: Runtime): void {
  const files = testFiles();
  const command = {
    node: ['--import', 'tsx', '--test', '--test-reporter=tap', ...oneProcess(runtime), ...files],
    bun: ['test', '--timeout=60000', ...files.map((file) => `./${file}`)],
    deno: ['test', '--allow-all', '--no-check', '--quiet', ...files],
  }[runtime.kind];
  const done = spawnSync(runtime.binary, command, {
    cwd: repository,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    // A test that hangs must not hang everything behind it.
    timeout: 240_000,
    killSignal: 'SIGKILL',
    env: { ...process.env, NO_COLOR: '1' },
  });
  const output = `${done.stdout}\n${done.stderr}`;
  const { passed, failed } = countsOf(runtime.kind, output);
  // A runner that ran nothing, or failed otherwise than by a test, is a failure too.
  const broken = failed === 0 && (done.status !== 0 || passed === 0);
  tally.passed += passed;
  tally.failed += broken ? 1 : failed;
  console.log(
    `${runtime.name}: ${passed} unit tests passed, ${failed} failed${broken ? `, exit ${done.status}` : ''}`,
  );
  if (broken || failed > 0) console.log(output);
}

/** Bun and Deno run all files in one process; so does Node from 22.8 on, which saves a minute of starting processes. */
function oneProcess({ version }: Runtime): readonly string[] {
  return Number(version.split('.')[0]) >= 24 ? ['--test-isolation=none'] : [];
}

function testFiles(): readonly string[] {
  const found = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `${folder}/${name}`),
  );
  return found.sort();
}

/** The last counts of a TAP stream, of `bun test` or of `deno test`; there a test of ours is a step of its suite. */
function countsOf(kind: RuntimeKind, output: string): { readonly passed: number; readonly failed: number } {
  const last = (expression: RegExp) => [...output.matchAll(expression)].at(-1);
  const number = (expression: RegExp) => Number(last(expression)?.[1] ?? 0);
  if (kind === 'node') {
    const lost = number(/^# fail (\d+)/gm) + number(/^# cancelled (\d+)/gm) + number(/^# skipped (\d+)/gm);
    return { passed: number(/^# pass (\d+)/gm), failed: lost };
  }
  if (kind === 'bun')
    return { passed: number(/^ *(\d+) pass$/gm), failed: number(/^ *(\d+) (?:fail|skip)$/gm) };
  const passed = last(/\b(\d+) passed(?: \((\d+) steps?\))?/g);
  const failed = last(/\b(\d+) failed(?: \((\d+) steps?\))?/g);
  return { passed: Number(passed?.[2] ?? passed?.[1] ?? 0), failed: Number(failed?.[2] ?? failed?.[1] ?? 0) };
}

async function check(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
    tally.passed += 1;
    console.log(`${name}: passed`);
  } catch (error) {
    tally.failed += 1;
    console.log(`${name}: FAILED`, error);
  }
}

const SERVE: Readonly<Record<RuntimeKind, readonly string[]>> = {
  node: ['--import', 'tsx', 'src/cli/main.ts', 'serve'],
  bun: ['src/cli/main.ts', 'serve'],
  deno: ['run', '--allow-all', 'src/cli/main.ts', 'serve'],
};

/** As the README says it. A package runner between us and okuri gets no signals to pass on here: only the start counts. */
const README_START: Readonly<Record<RuntimeKind, (binary: string) => readonly string[]>> = {
  node: () => ['npm', 'run', 'serve'],
  bun: (binary) => [binary, 'run', 'serve'],
  deno: (binary) => [binary, 'task', 'serve'],
};

async function startsAsDocumented(runtime: Runtime): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'okuri-start-'));
  const served = await launch(README_START[runtime.kind](runtime.binary), {
    OKURI_DATA_DIR: join(folder, 'data'),
    PATH: `${dirname(runtime.binary)}${delimiter}${process.env.PATH ?? ''}`,
  });
  try {
    await untilReady(served);
    const metrics = await (await fetch(`http://127.0.0.1:${served.healthPort}/metrics`)).text();
    const expected = `runtime="${runtime.kind} ${runtime.version}"`;
    if (!metrics.includes(expected)) throw new Error(`not ${expected}:\n${metrics.slice(0, 2_000)}`);
  } finally {
    served.signal('SIGTERM');
    await served.ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

const SMOKE_ONLY = ':smoke';
const installed = installRuntimes();
const wanted = process.argv.length > 2 ? process.argv.slice(2) : installed.map(({ name }) => name);
for (const each of wanted) {
  const runtime = installed.find(({ name }) => name === each.replace(SMOKE_ONLY, ''));
  if (runtime === undefined) throw new Error(`no runtime is called ${each}`);
  if (!each.endsWith(SMOKE_ONLY)) unitTestsOn(runtime);
  await check(`${runtime.name}: smoke`, () => smoke([runtime.binary, ...SERVE[runtime.kind]]));
  await check(`${runtime.name}: starts as the README says`, () => startsAsDocumented(runtime));
}
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed === 0 ? 0 : 1);
