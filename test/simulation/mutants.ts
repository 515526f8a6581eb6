/**
 * Proof that the simulator sees: plants each fault of mutants/ in a copy of the product and runs seeds until a checker
 * names it.
 *
 *   mutants.ts                  all of them, each with the seed first that killed it last time (mutants/seeds.json)
 *   mutants.ts NAME…            these
 *   mutants.ts --marked         those of rules marked † alone, as CI does
 *   mutants.ts --hunt           from the first seed on; writes down what it finds
 *   mutants.ts --seeds 60 --seconds 90 --jobs 2
 *
 * A mutant is killed by a seed on which the product itself is clean: the baseline plays the first seeds of every
 * weather first, and each later seed that kills is played without the fault too. A survivor is a hole in the checkers.
 */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { allMutants } from './mutants/all.ts';
import type { Mutant } from './mutants/mutant.ts';
import { plant as plantIn, repository, scratchOf } from './mutants/plant.ts';

/** By mutant: the seed that killed it, and how many seeds it took to find that. */
type Kills = Readonly<Record<string, { readonly seed: string; readonly took: number }>>;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '60' },
    seconds: { type: 'string', default: '120' },
    clean: { type: 'string', default: '4' },
    hunt: { type: 'boolean', default: false },
    marked: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
  },
});

const scratch = scratchOf('mutants');
const unmutated = 'unmutated';
const plant = (folder: string, patches: Parameters<typeof plantIn>[2]) => plantIn(scratch, folder, patches);
const seedsMax = Number(values.seeds);
/** Of the unmutated product, in each weather that some mutant wants. */
const cleanSeeds = Number(values.clean);
const killsFile = new URL('./mutants/seeds.json', import.meta.url);
const known = JSON.parse(readFileSync(killsFile, 'utf8')) as Kills;
const found: Record<string, Kills[string]> = { ...known };

interface Hunt {
  readonly played: number;
  readonly found: { readonly seed: string; readonly property: string; readonly detail: string } | undefined;
}

/** A fault may make the simulated code spin for ever; the child is then ended, which names no property. */
function hunt(tree: string, seeds: readonly string[]): Promise<Hunt> {
  const script = `${tree}/test/simulation/mutants/hunt.ts`;
  const seconds = Number(values.seconds);
  const child = spawn(process.execPath, [...process.execArgv, script, String(seconds), ...seeds], {
    cwd: repository,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const tooLong = setTimeout(() => child.kill('SIGKILL'), (seconds + 120) * 1000);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearTimeout(tooLong);
      const last = text.trim().split('\n').at(-1) ?? '';
      if (code === 0 && last.startsWith('{')) resolve(JSON.parse(last) as Hunt);
      else
        resolve({
          played: 0,
          found: { seed: '', property: '', detail: `the run ended with ${code}: ${last}` },
        });
    });
  });
}

function seedsOf({ focus }: Mutant, count: number): string[] {
  return Array.from({ length: count }, (_, index) => (focus ? `${focus}-${index + 1}` : String(index + 1)));
}

/** What the product does on these seeds without any fault: undefined when it is clean. */
async function unclean(seeds: readonly string[]): Promise<string | undefined> {
  const { found } = await hunt(`${scratch}/${unmutated}`, seeds);
  return found && `seed ${found.seed}: ${found.property}: ${found.detail}`;
}

async function baseline(mutants: readonly Mutant[]): Promise<{ passed: number; failed: number }> {
  const wanted = new Map<string, Mutant>();
  for (const mutant of mutants) wanted.set(mutant.focus ?? 'swarm', mutant);
  plant(unmutated, []);
  let failed = 0;
  await inTurns([...wanted], async ([name, mutant]) => {
    const wrong = await unclean(seedsOf(mutant, cleanSeeds));
    if (wrong) failed++;
    console.log(
      `${wrong ? 'FAILED' : 'clean '} unmutated, weather ${name}: ${wrong ?? `${cleanSeeds} seeds`}`,
    );
  });
  return { passed: wanted.size - failed, failed };
}

/** Why it lives, or undefined. */
async function judge(mutant: Mutant): Promise<string | undefined> {
  const { name, patches } = mutant;
  const tree = plant(name, patches);
  const before = values.hunt ? undefined : known[name];
  const seeds = seedsOf(mutant, seedsMax);
  const { played, found: kill } = await hunt(tree, before ? [before.seed, ...seeds] : seeds);
  rmSync(tree, { recursive: true, force: true });
  if (!kill) return `SURVIVES ${played} seeds`;
  if (kill.property === '') return kill.detail;
  const { seed, property, detail } = kill;
  const took = seed === before?.seed ? before.took : played - (before ? 1 : 0);
  if (took > cleanSeeds) {
    const wrong = await unclean([seed]);
    if (wrong) return `its seed fails without it too: ${wrong}`;
  }
  found[name] = { seed, took };
  console.log(
    `killed ${name.padEnd(44)} ${mutant.dagger ? '†' : ' '} seed ${seed.padEnd(14)} (${took}) ${property}: ${detail.slice(0, 140).replaceAll('\n', ' ')}`,
  );
  return undefined;
}

async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, worker));
}

const chosen = allMutants.filter(({ name, dagger }) =>
  positionals.length > 0 ? positionals.includes(name) : dagger || !values.marked,
);
const unknownNames = positionals.filter((name) => !allMutants.some((mutant) => mutant.name === name));
if (unknownNames.length > 0) throw new Error(`no such mutants: ${unknownNames.join(', ')}`);
const totals = await baseline(chosen);
await inTurns(chosen, async (mutant) => {
  const why = await judge(mutant);
  if (why === undefined) totals.passed++;
  else {
    totals.failed++;
    console.log(`FAILED ${mutant.name.padEnd(44)} ${why} (breaks: ${mutant.breaks})`);
  }
});
rmSync(scratch, { recursive: true, force: true });
if (values.hunt) {
  const rows = allMutants.flatMap(({ name }) =>
    // As the formatter would write it.
    found[name]
      ? [
          `  ${JSON.stringify(name)}: { "seed": ${JSON.stringify(found[name].seed)}, "took": ${found[name].took} }`,
        ]
      : [],
  );
  writeFileSync(killsFile, `{\n${rows.join(',\n')}\n}\n`);
}
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed === 0 ? 0 : 1);
