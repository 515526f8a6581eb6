/** Starts `okuri serve` by any command, as a process group of its own, and waits for it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { repository } from './runtimes.ts';

export interface Served {
  readonly apiPort: number;
  readonly healthPort: number;
  /** Standard output and error so far. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** Exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
}

const groups = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of groups) signalGroup(child, 'SIGKILL');
});

/** OKURI_* of the caller's environment don't count. */
export async function launch(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Served> {
  const [apiPort, healthPort] = [await freePort(), await freePort()];
  const inherited = Object.entries(process.env).filter(([name]) => !/^(OKURI|AWS)_/.test(name));
  const child = spawn(command[0]!, command.slice(1), {
    cwd: repository,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...Object.fromEntries(inherited),
      OKURI_LISTEN: `127.0.0.1:${apiPort}`,
      OKURI_HEALTH_LISTEN: `127.0.0.1:${healthPort}`,
      ...environment,
    },
  });
  groups.add(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Uint8Array) => {
      text += new TextDecoder().decode(chunk);
    });
  }
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    // `close`, not `exit`: then its last lines have been read.
    child.once('close', (code, signal) => {
      groups.delete(child);
      resolve(code ?? signal ?? 'unknown');
    });
  });
  return { apiPort, healthPort, output: () => text, signal: (name) => signalGroup(child, name), ended };
}

/** Waits for /readyz. @throws Error with its output when it ends or takes longer than 40 s. */
export async function untilReady(served: Served): Promise<void> {
  let end: number | string | undefined;
  void served.ended.then((how) => {
    end = how;
  });
  const deadline = Date.now() + 40_000;
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${served.healthPort}/readyz`).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.ok;
      },
      () => false,
    );
    if (ready) return;
    if (end !== undefined || Date.now() > deadline) {
      throw new Error(`okuri is not ready (${end ?? 'still running'}):\n${served.output()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, name);
  } catch {
    // It has ended already.
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
