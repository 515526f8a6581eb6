/**
 * Runs unmodified client programs against okuri, on the file store and on versitygw.
 *
 *     node --import tsx test/conformance/run.ts [--store file|versitygw|both] [--client NAME]... [--pinned]
 *
 * A program gets the endpoint, a region and credentials in its environment, and nothing else; its exit status is the
 * result. Nothing is skipped: a tool that is missing is a failure; `--pinned` asks for the clients alone whose versions
 * are ours to pin, without those of the Linux distribution. Ends with `N passed, N failed`.
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
import { type Client, type Command, clients } from './clients.ts';

/** At a time: the programs mostly wait for timeouts, and share two cores with the servers. */
const PROGRAMS_AT_A_TIME = 3;
const PROGRAM_MILLIS = 240_000;

interface Result {
  readonly client: Client;
  readonly store: string;
  readonly passed: boolean;
  readonly checks: number;
  readonly seconds: number;
}

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'both' },
    client: { type: 'string', multiple: true, default: [] },
    pinned: { type: 'boolean', default: false },
  },
});
const stores = values.store === 'both' ? ['file', 'versitygw'] : [values.store];
const chosen = clients.filter(
  ({ name, ofDistribution }) =>
    (values.client.length === 0 || values.client.includes(name)) && !(values.pinned && ofDistribution),
);
const port = await freePorts(8);

async function runAll(): Promise<readonly Result[]> {
  for (const name of values.client)
    if (!clients.some((client) => client.name === name)) throw new TypeError(`there is no client ${name}`);
  const prepared = new Map<Client, Command>();
  for (const client of chosen) prepared.set(client, await client.prepare());
  const results: Result[] = [];
  for (const store of stores) results.push(...(await runOnStore(store, prepared)));
  return results;
}

async function runOnStore(name: string, prepared: ReadonlyMap<Client, Command>): Promise<readonly Result[]> {
  const folder = temporaryFolder();
  if (name !== 'file' && name !== 'versitygw') throw new TypeError(`there is no store ${name}`);
  const store = name === 'file' ? fileStore(folder) : await versitygwStore(folder, port);
  const node = await startOkuri({
    port: port + 1,
    healthPort: port + 2,
    environment: store.environment,
    logFile: join(folder, 'okuri.log'),
  });
  const waiting = [...prepared];
  const results: Result[] = [];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      results.push(await runClient(next[0], next[1], name, node));
  };
  await Promise.all(Array.from({ length: PROGRAMS_AT_A_TIME }, worker));
  const status = await node.stop();
  await store.stop();
  if (status !== 0) throw new Error(`okuri on ${name} ended with ${status}`);
  return results;
}

async function runClient(
  client: Client,
  command: Command,
  store: string,
  node: OkuriProcess,
): Promise<Result> {
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
  const checks = output.split('\n').filter((line) => line.startsWith('ok ')).length;
  const passed = code === 0 && checks > 0;
  const seconds = Math.round((Date.now() - began) / 1000);
  console.log(
    `${passed ? 'ok' : 'FAILED'} ${client.name} on ${store}: ${checks} checks in ${seconds} s, status ${code}`,
  );
  if (!passed) console.log(output.split('\n').slice(-40).join('\n'));
  return { client, store, passed, checks, seconds };
}

function printTable(results: readonly Result[]): void {
  const rows = results.map(({ client, store, passed, checks, seconds }) => [
    client.name,
    client.version(),
    store,
    client.does,
    `${checks}`,
    `${seconds} s`,
    passed ? 'passed' : 'FAILED',
  ]);
  const table = [['client', 'version', 'store', 'did', 'checks', 'took', 'result'], ...rows];
  const widths = (table[0] as string[]).map((_, column) =>
    Math.max(...table.map((row) => (row[column] ?? '').length)),
  );
  console.log();
  for (const row of table)
    console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
}

let failed = 0;
let passed = 0;
try {
  const results = await runAll();
  printTable(results);
  passed = results.filter((result) => result.passed).length;
  failed = results.length - passed;
} catch (error) {
  console.log(error);
  failed += 1;
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
