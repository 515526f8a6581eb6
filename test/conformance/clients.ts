/** The client programs: what each is, what it shows, and how it is run. A new client is a folder and a row here. */
import { join } from 'node:path';
import { repository } from '../faults/okuri-process.ts';
import { goProgram, goVersion, pythonEnvironment, pythonVersion } from './go-and-python.ts';
import { javaProgram, javaVersion } from './java.ts';
import { nodeProgram, nodeVersion, packagedVersion } from './javascript.ts';
import { debianVersion, phpProgram } from './php.ts';

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

const file = (...parts: readonly string[]) => join(repository, 'test', 'conformance', ...parts);

/** What worker-trial.ts shows with any client. */
const WORKER_TRIAL = ['61 jobs', '1 retry', '1 job of a worker killed by kill -9'];
const MESSAGES = ['errors', 'batches', 'attributes with MD5', 'redeliveries', 'long poll', 'dead letters'];
const EVERY_ACTION = ['every action', ...MESSAGES, 'tags and permissions'];
const QUEUES_AND_MESSAGES = ['actions on queues and messages', ...MESSAGES];

const FIFO = ['10 groups in order', 'deduplication', 'expired handles', 'attributes with MD5'];

const RESOURCE = ['the resource interface', 'batches', 'attributes', 'redeliveries'];

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

function python(client: PythonProgram): Client {
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

function workerTrial(poll: Poll, command: string, args: readonly string[]): Command {
  const trial = typescript('worker-trial.ts');
  return { ...trial, args: [...trial.args, poll, command, ...args] };
}

/** The same program with the last libraries that speak the query protocol. */
function javaOverQuery(name: string, artifact: string): Client {
  const program = `${name}-query`;
  return {
    ...java(program, artifact),
    protocol: 'query',
    prepare: async () => workerTrial('long-poll', 'java', await javaProgram(program, name)),
  };
}

function java(name: string, artifact: string): Client {
  return {
    name,
    version: () => javaVersion(name, artifact),
    protocol: 'json',
    inCi: false,
    does: [...WORKER_TRIAL, 'long poll', 'batches', 'attributes with MD5'],
    prepare: async () => workerTrial('long-poll', 'java', await javaProgram(name)),
  };
}

function php(name: string, of: string, poll: Poll): Client {
  return {
    name,
    version: () => debianVersion(of),
    protocol: 'query',
    inCi: false,
    does: poll === 'long-poll' ? [...WORKER_TRIAL, 'long poll'] : WORKER_TRIAL,
    prepare: async () => workerTrial(poll, 'php', [await phpProgram(`${name}.php`)]),
  };
}

function typescript(...parts: readonly string[]): Command {
  return { command: process.execPath, args: ['--no-warnings', '--import', 'tsx', file(...parts)] };
}

export const clients: readonly Client[] = [
  python({
    name: 'celery',
    of: 'celery',
    does: ['50 tasks', 'ETA and countdown', '1 retry', '1 task of a worker killed by kill -9'],
    program: ['celery', 'run.py'],
  }),
  python({
    name: 'boto3',
    of: 'boto3',
    does: [...EVERY_ACTION, 'message move tasks'],
    program: ['boto3', 'client.py'],
  }),
  {
    name: 'aws-sdk-js',
    version: () => nodeVersion('@aws-sdk/client-sqs'),
    protocol: 'json',
    inCi: true,
    does: EVERY_ACTION,
    prepare: async () => typescript('aws-sdk-js', 'main.ts'),
  },
  python({
    name: 'boto3-fifo',
    of: 'boto3',
    does: [...FIFO, 'dead letters'],
    program: ['boto3', 'fifo.py'],
  }),
  {
    name: 'aws-sdk-js-fifo',
    version: () => nodeVersion('@aws-sdk/client-sqs'),
    protocol: 'json',
    inCi: true,
    does: FIFO,
    prepare: async () => typescript('aws-sdk-js', 'fifo.ts'),
  },
  {
    name: 'aws-sdk-go',
    version: () => goVersion('aws-sdk-go', 'github.com/aws/aws-sdk-go-v2/service/sqs'),
    protocol: 'json',
    inCi: true,
    does: QUEUES_AND_MESSAGES,
    prepare: async () => ({ command: await goProgram('aws-sdk-go'), args: [] }),
  },
  {
    name: 'aws-cli',
    version: () => pythonVersion('awscli'),
    protocol: 'json',
    inCi: true,
    does: ["a first user's session", 'errors', 'batches', 'attributes'],
    prepare: async () => ({
      command: 'bash',
      args: [file('aws-cli', 'session.sh')],
      path: await pythonEnvironment(),
    }),
  },
  python({
    name: 'boto3-resource',
    of: 'boto3',
    does: RESOURCE,
    program: ['boto3', 'resource.py'],
  }),
  python({
    name: 'boto3-query',
    of: 'boto3',
    does: [...EVERY_ACTION, 'presigned URLs'],
    program: ['boto3', 'client.py'],
    requirements: 'requirements-query.txt',
    protocol: 'query',
  }),
  python({
    name: 'boto3-query-resource',
    of: 'boto3',
    does: RESOURCE,
    program: ['boto3', 'resource.py'],
    requirements: 'requirements-query.txt',
    protocol: 'query',
  }),
  python({
    name: 'boto3-query-fifo',
    of: 'boto3',
    does: [...FIFO, 'dead letters'],
    program: ['boto3', 'fifo.py'],
    requirements: 'requirements-query.txt',
    protocol: 'query',
  }),
  {
    name: 'aws-sdk-go-v1',
    version: () => goVersion('aws-sdk-go-v1', 'github.com/aws/aws-sdk-go'),
    protocol: 'query',
    inCi: true,
    does: QUEUES_AND_MESSAGES,
    prepare: async () => ({ command: await goProgram('aws-sdk-go-v1'), args: [] }),
  },
  {
    name: 'async-aws',
    version: () => debianVersion('php-async-aws-sqs'),
    protocol: 'query',
    inCi: false,
    does: [
      'actions on queues and messages but SetQueueAttributes',
      'errors',
      'batches',
      'attributes',
      'redeliveries',
      'long poll',
    ],
    prepare: async () => {
      await phpProgram('job.php');
      return { command: 'php', args: [file('async-aws', 'main.php')] };
    },
  },
  {
    name: 'sqs-consumer',
    version: () => packagedVersion('sqs-consumer', 'sqs-consumer'),
    protocol: 'json',
    inCi: true,
    does: [...WORKER_TRIAL, 'long poll', 'batches', 'attributes'],
    prepare: async () =>
      workerTrial('long-poll', process.execPath, [await nodeProgram('sqs-consumer', 'jobs.mjs')]),
  },
  python({
    name: 'aioboto3',
    of: 'aioboto3',
    does: [...WORKER_TRIAL, 'long poll', 'batches', 'attributes with MD5'],
    program: ['aioboto3', 'jobs.py'],
    requirements: join('aioboto3', 'requirements.txt'),
    trial: 'long-poll',
  }),
  python({
    name: 'dramatiq',
    of: 'dramatiq-sqs',
    does: WORKER_TRIAL,
    program: ['dramatiq', 'jobs.py'],
    trial: 'short-poll',
  }),
  java('aws-sdk-java-v2', 'sqs'),
  java('spring-cloud-aws', 'spring-cloud-aws-sqs'),
  java('aws-sdk-java-v1', 'aws-java-sdk-sqs'),
  javaOverQuery('aws-sdk-java-v2', 'sqs'),
  javaOverQuery('aws-sdk-java-v1', 'aws-java-sdk-sqs'),
  php('symfony-messenger', 'php-symfony-amazon-sqs-messenger', 'long-poll'),
  php('laravel', 'php-illuminate-queue', 'short-poll'),
];
