/**
 * Records what real clients say and hear, into one file a part of script.json below this folder:
 *
 *     node --import tsx test/golden/sessions/record.ts [--check] [CLIENT]...
 *
 * A client plays its part against a node in memory that is as determined as the client itself: clocks and random
 * draws are given on both sides, so that a second recording gives the same files. `--check` compares with the files
 * instead of writing them. Needs Python and Go, as `just conformance` does.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { goProgram, pythonEnvironment } from '../../conformance/go-and-python.ts';
import { actionOf, type Exchange, type Request, writtenSession } from './session.ts';
import { accessKeyId, region, SessionNode, secretAccessKey } from './session-node.ts';

/** Always the same: it is signed, as a part of Host, and stands in every queue URL. */
const PORT = 23200;

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const script = path('script.json');
const parts = Object.keys(JSON.parse(readFileSync(script, 'utf8')) as object);
/** The other SDKs presign no SQS request. */
const common = parts.filter((part) => part !== 'presigned');
/** Move tasks are younger than the last boto3 that speaks the query protocol in CI. */
const old = parts.filter((part) => part !== 'moves');

interface Recorded {
  readonly client: string;
  readonly parts: readonly string[];
  readonly command: () => Promise<readonly [command: string, ...args: string[]]>;
}

const python = async (requirements?: string): Promise<[string, ...string[]]> => [
  `${await pythonEnvironment(requirements)}/python`,
  path('programs/session.py'),
];

const recorded: readonly Recorded[] = [
  { client: 'boto3', parts: common, command: () => python() },
  { client: 'boto3-query', parts: old, command: () => python('requirements-query.txt') },
  {
    client: 'aws-sdk-js',
    parts: common,
    command: async () => [process.execPath, '--no-warnings', '--import', 'tsx', path('programs/session.ts')],
  },
  {
    client: 'aws-sdk-go',
    parts: common,
    command: async () => [await goProgram('../golden/sessions/programs/aws-sdk-go')],
  },
];

async function requestOf(message: IncomingMessage): Promise<Request> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const body = bytes.toString('utf8');
  if (!Buffer.from(body, 'utf8').equals(bytes)) throw new Error('a body that is no text');
  const headers: string[] = [];
  const { rawHeaders, method = '', url = '' } = message;
  for (let n = 0; n < rawHeaders.length; n += 2) headers.push(`${rawHeaders[n]}: ${rawHeaders[n + 1]}`);
  return { method, target: url, headers, body };
}

/** Listens, and keeps what passes. */
async function listening(node: SessionNode, exchanges: Exchange[]): Promise<Server> {
  const server = createServer((message, response) => {
    const answered = async () => {
      const request = await requestOf(message);
      const answer = await node.answer(request);
      exchanges.push({ request, answer });
      // A date of today's would set the client's clock.
      response.sendDate = false;
      const length = { 'content-length': `${Buffer.byteLength(answer.body)}` };
      response.writeHead(answer.status, { ...answer.headers, ...length }).end(answer.body);
    };
    answered().catch((error: unknown) => {
      console.log(error);
      message.socket.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(PORT, '127.0.0.1', resolve);
  });
  return server;
}

async function play(command: readonly string[], part: string): Promise<void> {
  const [program = '', ...args] = command;
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(program, [...args, script, part], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH,
      HOME,
      AWS_ENDPOINT_URL: `http://127.0.0.1:${PORT}`,
      AWS_REGION: region,
      AWS_DEFAULT_REGION: region,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      // Python draws the order of its sets.
      PYTHONHASHSEED: '0',
      // What the machine's user has configured is no part of a session.
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    },
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const status = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (status !== 0) throw new Error(`${command.join(' ')} ${part} ended with ${status}, after\n${said}`);
}

async function recordedSession(command: readonly string[], part: string): Promise<readonly Exchange[]> {
  const node = new SessionNode();
  const exchanges: Exchange[] = [];
  const server = await listening(node, exchanges);
  try {
    await play(command, part);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await node.stop();
  }
  if (node.failures.length > 0) throw new Error('a mistake of ours', { cause: node.failures[0] });
  return exchanges;
}

/** How many exchanges are not those of the file; says which. */
function differences(file: string, now: readonly Exchange[]): number {
  const [before, after] = [readFileSync(file, 'utf8'), writtenSession(now)].map((text) => text.split('\n'));
  const lines = Math.max(before?.length ?? 0, after?.length ?? 0);
  let count = 0;
  for (let n = 0; n < lines; n += 1) {
    if (before?.[n] === after?.[n]) continue;
    count += 1;
    const exchange = now[n];
    console.log(
      `${file}, line ${n + 1}, ${exchange === undefined ? 'nothing' : actionOf(exchange.request)}:`,
    );
    console.log(`- ${before?.[n]}\n+ ${after?.[n]}`);
  }
  return count;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean', default: false } },
});
let different = 0;
for (const { client, parts: played, command } of recorded) {
  if (positionals.length > 0 && !positionals.includes(client)) continue;
  const program = await command();
  if (!values.check) rmSync(path(client), { recursive: true, force: true });
  mkdirSync(path(client), { recursive: true });
  for (const part of played) {
    const exchanges = await recordedSession(program, part);
    const file = path(`${client}/${part}.jsonl`);
    if (values.check) different += differences(file, exchanges);
    else writeFileSync(file, writtenSession(exchanges));
    console.log(`${client} ${part}: ${exchanges.length} requests`);
  }
}
console.log(values.check ? `${different} lines differ` : 'written');
process.exit(different === 0 ? 0 : 1);
