/**
 * Runs unmodified client programs against okuri, on the file store and on versitygw, and prints a table of what they did.
 *
 *     node --import tsx test/conformance/run.ts [NAME]... [--group ci|all] [--store file|versitygw|both]
 *
 * A program gets the endpoint, a region and credentials in its environment, and nothing else. It passes when it ends
 * with status 0 and its lines `did …` are those its row in clients.ts promises. Nothing is skipped: a tool that is
 * missing is a failure of its client, and a known failure runs like the others. Ends with `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePorts } from '../faults/free-ports.ts';
import {
  accessKeyId,
  endWithUs,
  type OkuriProcess,
  region,
  secretAccessKey,
  startOkuri,
} from '../faults/okuri-process.ts';
import { fileStore, temporaryFolder, versitygwStore } from '../faults/stores-for-okuri.ts';
import type { Client, Command } from './client.ts';
import { clients } from './clients.ts';
import { judge, type Outcome, printTable } from './outcome.ts';

/** At a time: the programs mostly wait for timeouts, and share two cores with the servers. */
const PROGRAMS_AT_A_TIME = 3;
/** The AWS CLI, a process a call, took four minutes on a machine with ten programs for each core. */
const PROGRAM_MILLIS = 480_000;
const GROUPS: Readonly<Record<string, (client: Client) => boolean>> = {
  all: () => true,
  ci: (client) => client.inCi,
};

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    store: { type: 'string', default: 'both' },
    group: { type: 'string', default: 'all' },
    'at-a-time': { type: 'string', default: `${PROGRAMS_AT_A_TIME}` },
    port: { type: 'string' },
  },
});
const stores = values.store === 'both' ? ['file', 'versitygw'] : [values.store];
const atATime = Number(values['at-a-time']);
const port = values.port === undefined ? await freePorts(8) : Number(values.port);

/** @throws TypeError for a name that nothing bears. */
function chosen(): readonly Client[] {
  const inGroup = GROUPS[values.group];
  if (inGroup === undefined) throw new TypeError(`there is no group ${values.group}`);
  for (const name of names)
    if (!clients.some((client) => client.name === name)) throw new TypeError(`there is no client ${name}`);
  return names.length === 0 ? clients.filter(inGroup) : clients.filter(({ name }) => names.includes(name));
}

async function runAll(): Promise<readonly Outcome[]> {
  const prepared = new Map<Client, Command>();
  const outcomes: Outcome[] = [];
  for (const client of chosen()) {
    try {
      prepared.set(client, await client.prepare());
    } catch (error) {
      console.log(error);
      const why = error instanceof Error ? error.message : `${error}`;
      outcomes.push({ client, store: '-', result: `FAILED: ${why}`, checks: 0, seconds: 0 });
    }
  }
  for (const store of stores) outcomes.push(...(await runOnStore(store, prepared)));
  return outcomes;
}

async function runOnStore(name: string, prepared: ReadonlyMap<Client, Command>): Promise<readonly Outcome[]> {
  if (name !== 'file' && name !== 'versitygw') throw new TypeError(`there is no store ${name}`);
  const folder = temporaryFolder();
  const store = name === 'file' ? fileStore(folder) : await versitygwStore(folder, port);
  const node = await startOkuri({
    port: port + 1,
    healthPort: port + 2,
    environment: store.environment,
    logFile: join(folder, 'okuri.log'),
  });
  const waiting = [...prepared];
  const outcomes: Outcome[] = [];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      outcomes.push(await runClient(next[0], next[1], name, node));
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  const status = await node.stop();
  await store.stop();
  if (status !== 0) throw new Error(`okuri on ${name} ended with ${status}`);
  return outcomes;
}

async function runClient(
  client: Client,
  command: Command,
  store: string,
  node: OkuriProcess,
): Promise<Outcome> {
  const began = Date.now();
  const { PATH = '', HOME = '' } = process.env;
  const child = endWithUs(
    spawn(command.command, command.args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: command.path === undefined ? PATH : `${command.path}:${PATH}`,
        HOME,
        AWS_ENDPOINT_URL: node.url,
        AWS_REGION: region,
        AWS_DEFAULT_REGION: region,
        AWS_ACCESS_KEY_ID: accessKeyId,
        AWS_SECRET_ACCESS_KEY: secretAccessKey,
      },
    }),
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const timer = setTimeout(() => child.kill('SIGTERM'), PROGRAM_MILLIS);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  clearTimeout(timer);
  const seconds = Math.round((Date.now() - began) / 1000);
  const outcome = judge({ client, store, status: code, output, seconds });
  console.log(
    `${outcome.result}: ${client.name} on ${store}, ${outcome.checks} checks in ${seconds} s, status ${code}`,
  );
  if (outcome.result.startsWith('FAILED')) console.log(output.split('\n').slice(-40).join('\n'));
  return outcome;
}

let failed = 0;
let passed = 0;
try {
  const outcomes = await runAll();
  printTable(outcomes);
  passed = outcomes.filter(({ result }) => result === 'passed').length;
  failed = outcomes.filter(({ result }) => result.startsWith('FAILED')).length;
} catch (error) {
  console.log(error);
  failed += 1;
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
