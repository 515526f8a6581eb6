/**
 * Starting real S3 servers as children that never outlive us: a small shell holds our pipe and kills the server when the
 * pipe closes, which happens by stop(), by our exit, and by `kill -9` of us alike.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface RunningStore {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** Kills the server and resolves when it has gone. Data in its folder stays, so it can be started again on it. */
  stop(): Promise<void>;
}

/** Everything installed for tests lives here, outside version control. */
export const CACHE_FOLDER = fileURLToPath(new URL('../../.cache/stores/', import.meta.url));

const GUARD = `exec 3<&0
"$@" 3<&- </dev/null &
server=$!
(cat <&3; kill -9 $server) >/dev/null 2>&1 &
exec 3<&-
wait $server`;

const READY_MILLIS = 30_000;
const OUTPUT_CHARACTERS_KEPT = 4_000;

export interface ServerProcess {
  readonly pid: number;
  stop(): Promise<void>;
}

/** @throws when the server ends, or doesn't answer HTTP at `readyUrl` in time; its output is in the message. */
export async function startServer(
  command: string,
  args: readonly string[],
  readyUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  if (await answers(readyUrl)) throw new Error(`something already listens at ${readyUrl}`);
  const child = spawn('sh', ['-c', GUARD, 'sh', command, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = (output + String(chunk)).slice(-OUTPUT_CHARACTERS_KEPT);
    });
  }
  child.stdin.on('error', () => {});
  let ended = false;
  const exit = new Promise<void>((settle) => {
    const end = (why: unknown) => {
      ended = true;
      output += `\n${String(why)}`;
      child.stdin.end();
      settle();
    };
    child.once('exit', (code, signal) => end(`ended with ${code ?? signal}`));
    child.once('error', end);
  });
  const stop = async () => {
    child.stdin.end();
    await exit;
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const untilMillis = performance.now() + READY_MILLIS;
  while (!(await answers(readyUrl))) {
    if (ended || performance.now() > untilMillis) {
      await stop();
      throw new Error(`${command} did not answer at ${readyUrl}: ${output}`);
    }
    await new Promise((wake) => setTimeout(wake, 50));
  }
  return { pid: child.pid!, stop };
}

/** Runs a command to its end. @throws with its output when it fails. */
export async function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.environment },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = (output + String(chunk)).slice(-OUTPUT_CHARACTERS_KEPT);
    });
  }
  const code = await new Promise<number | null>((settle, fail) => {
    child.once('close', settle);
    child.once('error', (error) =>
      fail(new Error(`${command} is needed to install a test server: ${error.message}`)),
    );
  });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed with ${code}: ${output}`);
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return true;
  } catch {
    return false;
  }
}
