/**
 * Starts okuri as its users do, as a process of its own with its configuration in environment variables, so that a
 * test can kill it at any instant. Whatever was started is stopped when this process ends, also by Ctrl-C.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

export const accessKeyId = 'AKIDOKURICOMPOSEDEV';
export const secretAccessKey = 'b2t1cmktY29tcG9zZS1kZXYtc3FzLXNlY3JldA==';
export const region = 'us-east-1';

const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

/** Registers a child so that it does not outlive this process. */
export function endWithUs(child: ChildProcess): ChildProcess {
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

export const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis));

export interface OkuriOptions {
  readonly port: number;
  readonly healthPort: number;
  /** The store and whatever else differs from the defaults, as OKURI_* variables. */
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
}

export interface OkuriProcess {
  readonly url: string;
  readonly healthUrl: string;
  readonly pid: number;
  /** Fulfilled with the exit code, null after a signal. */
  readonly ended: Promise<number | null>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Starts a node and waits until it is ready; throws with the end of its log when it ends or is not ready in 30 s. */
export async function startOkuri(options: OkuriOptions): Promise<OkuriProcess> {
  mkdirSync(dirname(options.logFile), { recursive: true });
  const log = openSync(options.logFile, 'a');
  const inherited = Object.entries(process.env).filter(([name]) => !/^(OKURI|AWS)_/.test(name));
  const child = endWithUs(
    spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', 'serve'], {
      cwd: repository,
      stdio: ['ignore', log, log],
      env: {
        ...Object.fromEntries(inherited),
        OKURI_LISTEN: `127.0.0.1:${options.port}`,
        OKURI_HEALTH_LISTEN: `127.0.0.1:${options.healthPort}`,
        ...options.environment,
      },
    }),
  );
  closeSync(log);
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const node: OkuriProcess = {
    url: `http://127.0.0.1:${options.port}`,
    healthUrl: `http://127.0.0.1:${options.healthPort}`,
    pid: child.pid ?? 0,
    ended,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
  const deadline = Date.now() + 30_000;
  while ((await readiness(node)) !== 200 || child.exitCode !== null) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      const tail = readFileSync(options.logFile, 'utf8').slice(-3000);
      throw new Error(`okuri is not ready on port ${options.port}; its log ends:\n${tail}`);
    }
    await pause(50);
  }
  return node;
}

/** The status of /readyz, or undefined when nobody answers. */
export async function readiness(node: OkuriProcess): Promise<number | undefined> {
  try {
    const answer = await fetch(`${node.healthUrl}/readyz`, { signal: AbortSignal.timeout(2_000) });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return undefined;
  }
}

/** Peak resident memory of a process so far, bytes. */
export function peakMemoryBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** Sum over the samples of one counter on /metrics whose labels satisfy `keep`. */
export async function counter(
  node: OkuriProcess,
  name: string,
  keep: (labels: string) => boolean,
): Promise<number> {
  const text = await (await fetch(`${node.healthUrl}/metrics`)).text();
  let sum = 0;
  for (const line of text.split('\n')) {
    const sample = /^([a-z0-9_]+)(\{[^}]*\})? (\S+)/.exec(line);
    if (sample?.[1] === name && keep(sample[2] ?? '')) sum += Number(sample[3]);
  }
  return sum;
}
