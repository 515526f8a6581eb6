/** What a client program is to `just conformance`, and how those of each language are made of a folder. */
import { join } from 'node:path';
import { repository } from '../faults/okuri-process.ts';
import { goProgram, goVersion, pythonEnvironment, pythonVersion } from './go-and-python.ts';
import { javaProgram, javaVersion } from './java.ts';
import { nodeVersion } from './javascript.ts';
import { debianVersion, phpProgram } from './php.ts';
import { rustProgram, rustVersion } from './rust.ts';

export interface Client {
  readonly name: string;
  readonly version: () => string;
  readonly protocol: 'json' | 'query';
  /** JavaScript, Python and Go: CI installs these. The others run by `just conformance` alone. */
  readonly inCi: boolean;
  /** What its lines `did …` say, in any order, all of them and nothing else. */
  readonly does: readonly string[];
  /** Installs what is missing. */
  readonly prepare: () => Promise<Command>;
  readonly knownFailure?: KnownFailure;
}

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  /** Put in front of PATH. */
  readonly path?: string;
}

/** It runs like the others, must fail, and must fail so; a client that passes all the same is a failure too. */
export interface KnownFailure {
  readonly why: string;
  readonly shows: RegExp;
}

export const file = (...parts: readonly string[]) => join(repository, 'test', 'conformance', ...parts);

/** What worker-trial.ts shows with any client. */
const WORKER_TRIAL = ['61 jobs', '1 retry', '1 job of a worker killed by kill -9'];
export const SHORT_POLLING_WORKER = WORKER_TRIAL;
export const WORKER = [...WORKER_TRIAL, 'long poll', 'batches'];
export const JOBS = [...WORKER, 'attributes with MD5'];
const MESSAGES = ['errors', 'batches', 'attributes with MD5', 'redeliveries', 'long poll', 'dead letters'];
/** Of an SDK that is older than message move tasks. */
export const EVERY_OLD_ACTION = ['every action', ...MESSAGES, 'tags and permissions'];
export const EVERY_ACTION = [...EVERY_OLD_ACTION, 'message move tasks'];
export const FIFO = ['10 groups in order', 'deduplication', 'expired handles', 'attributes with MD5'];
export const RESOURCE = ['the resource interface', 'batches', 'attributes', 'redeliveries'];

interface PythonProgram {
  readonly name: string;
  /** Whose pinned version is shown. */
  readonly of: string;
  readonly does: readonly string[];
  readonly program: readonly string[];
  /** With the versions in it. */
  readonly requirements?: string;
  readonly protocol?: 'query';
  /** It answers to `send FROM COUNT` and `work`, and is run by worker-trial.ts. */
  readonly trial?: Poll;
}

export function python(client: PythonProgram): Client {
  const { name, of, does, program, requirements = 'requirements.txt', protocol = 'json', trial } = client;
  return {
    name,
    version: () => pythonVersion(of, requirements),
    protocol,
    inCi: true,
    does,
    prepare: async () => {
      const command = join(await pythonEnvironment(requirements), 'python');
      const args = [file(...program)];
      return trial === undefined ? { command, args } : workerTrial(trial, command, args);
    },
  };
}

/** Whether a worker's polls wait 20 s. */
type Poll = 'long-poll' | 'short-poll';

export function workerTrial(poll: Poll, command: string, args: readonly string[]): Command {
  const trial = typescript('worker-trial.ts');
  return { ...trial, args: [...trial.args, poll, command, ...args] };
}

/** One of the programs of aws-sdk-js/; `trial` as in PythonProgram. */
export function javascript(name: string, program: string, does: readonly string[], trial?: Poll): Client {
  return {
    name,
    version: () => nodeVersion('@aws-sdk/client-sqs'),
    protocol: 'json',
    inCi: true,
    does,
    prepare: async () => {
      const { command, args } = typescript('aws-sdk-js', program);
      return trial === undefined ? { command, args } : workerTrial(trial, command, args);
    },
  };
}

/** The program of aws-sdk-go/: `jobs` is for worker-trial.ts, which gives it the rest of its arguments. */
export function go(name: string, does: readonly string[], part?: 'fifo' | 'jobs'): Client {
  return {
    name,
    version: () => goVersion('aws-sdk-go', 'github.com/aws/aws-sdk-go-v2/service/sqs'),
    protocol: 'json',
    inCi: true,
    does,
    prepare: async () => goPart(await goProgram('aws-sdk-go'), part),
  };
}

/** The same of aws-sdk-go-v1/, with the versions of a module file. */
export function goV1(
  name: string,
  does: readonly string[],
  { part, versions = 'go.mod' }: { readonly part?: 'jobs'; readonly versions?: 'go.mod' | 'json.mod' } = {},
): Client {
  return {
    name,
    version: () => goVersion('aws-sdk-go-v1', 'github.com/aws/aws-sdk-go', versions),
    protocol: versions === 'go.mod' ? 'query' : 'json',
    inCi: true,
    does,
    prepare: async () => goPart(await goProgram('aws-sdk-go-v1', versions), part),
  };
}

function goPart(command: string, part?: 'fifo' | 'jobs'): Command {
  if (part === 'jobs') return workerTrial('long-poll', command, [part]);
  return { command, args: part === undefined ? [] : [part] };
}

/** The program of aws-sdk-rust/: `jobs` is for worker-trial.ts, which gives it the rest of its arguments. */
export function rust(name: string, does: readonly string[], part: 'actions' | 'fifo' | 'jobs'): Client {
  return {
    name,
    version: () => rustVersion('aws-sdk-rust', 'aws-sdk-sqs'),
    protocol: 'json',
    inCi: false,
    does,
    prepare: async () => {
      const command = await rustProgram('aws-sdk-rust');
      return part === 'jobs' ? workerTrial('long-poll', command, []) : { command, args: [part] };
    },
  };
}

/** Another program on the libraries of aws-sdk-java-v2. */
export function javaV2(name: string, does: readonly string[], main: 'Jobs' | 'Fifo'): Client {
  return {
    ...java('aws-sdk-java-v2', 'sqs'),
    name,
    does,
    prepare: async () => {
      const args = await javaProgram('aws-sdk-java-v2', name, main);
      return main === 'Jobs' ? workerTrial('long-poll', 'java', args) : { command: 'java', args };
    },
  };
}

/** The same program with the last libraries that speak the query protocol. */
export function javaOverQuery(name: string, artifact: string): Client {
  const program = `${name}-query`;
  return {
    ...java(program, artifact),
    protocol: 'query',
    prepare: async () => workerTrial('long-poll', 'java', await javaProgram(program, name)),
  };
}

export function java(name: string, artifact: string): Client {
  return {
    name,
    version: () => javaVersion(name, artifact),
    protocol: 'json',
    inCi: false,
    does: JOBS,
    prepare: async () => workerTrial('long-poll', 'java', await javaProgram(name)),
  };
}

export function php(name: string, of: string, poll: Poll): Client {
  return {
    name,
    version: () => debianVersion(of),
    protocol: 'query',
    inCi: false,
    does: poll === 'long-poll' ? [...WORKER_TRIAL, 'long poll'] : SHORT_POLLING_WORKER,
    prepare: async () => workerTrial(poll, 'php', [await phpProgram(`${name}.php`)]),
  };
}

/** What runs a program of TypeScript, or one that imports it. */
export const TSX = ['--no-warnings', '--import', 'tsx'];

export function typescript(...parts: readonly string[]): Command {
  return { command: process.execPath, args: [...TSX, file(...parts)] };
}
