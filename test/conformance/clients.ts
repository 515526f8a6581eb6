/** The client programs: what each is, what it shows, and how it is run. A new client is a folder and a row here. */
import { join } from 'node:path';
import {
  type Client,
  EVERY_ACTION,
  EVERY_OLD_ACTION,
  FIFO,
  file,
  go,
  JOBS,
  java,
  javaOverQuery,
  javascript,
  javaV2,
  php,
  python,
  RESOURCE,
  rust,
  SHORT_POLLING_WORKER,
  WORKER,
  workerTrial,
} from './client.ts';
import { goProgram, goVersion, pythonEnvironment, pythonVersion } from './go-and-python.ts';
import { nodeProgram, packagedVersion } from './javascript.ts';
import { debianVersion, phpProgram } from './php.ts';

const OLD = { requirements: 'requirements-query.txt', protocol: 'query' } as const;

export const clients: readonly Client[] = [
  python({
    name: 'celery',
    of: 'celery',
    does: ['50 tasks', 'ETA and countdown', '1 retry', '1 task of a worker killed by kill -9'],
    program: ['celery', 'run.py'],
  }),
  python({
    name: 'celery-fifo',
    of: 'celery',
    does: ['5 groups in order', '1 task of a worker killed by kill -9'],
    program: ['celery', 'fifo.py'],
  }),
  python({ name: 'boto3', of: 'boto3', does: EVERY_ACTION, program: ['boto3', 'client.py'] }),
  javascript('aws-sdk-js', 'main.ts', EVERY_ACTION),
  go('aws-sdk-go', EVERY_ACTION),
  python({ name: 'boto3-fifo', of: 'boto3', does: [...FIFO, 'dead letters'], program: ['boto3', 'fifo.py'] }),
  javascript('aws-sdk-js-fifo', 'fifo.ts', FIFO),
  go('aws-sdk-go-fifo', FIFO, 'fifo'),
  {
    name: 'aws-cli',
    version: () => pythonVersion('awscli'),
    protocol: 'json',
    inCi: true,
    does: ["a first user's session", 'errors', 'batches', 'attributes', 'a FIFO queue'],
    prepare: async () => ({
      command: 'bash',
      args: [file('aws-cli', 'session.sh')],
      path: await pythonEnvironment(),
    }),
  },
  python({ name: 'boto3-resource', of: 'boto3', does: RESOURCE, program: ['boto3', 'resource.py'] }),
  python({
    name: 'boto3-query',
    of: 'boto3',
    does: [...EVERY_OLD_ACTION, 'presigned URLs'],
    program: ['boto3', 'client.py'],
    ...OLD,
  }),
  python({
    name: 'boto3-query-resource',
    of: 'boto3',
    does: RESOURCE,
    program: ['boto3', 'resource.py'],
    ...OLD,
  }),
  python({
    name: 'boto3-query-fifo',
    of: 'boto3',
    does: [...FIFO, 'dead letters'],
    program: ['boto3', 'fifo.py'],
    ...OLD,
  }),
  {
    name: 'aws-sdk-go-v1',
    version: () => goVersion('aws-sdk-go-v1', 'github.com/aws/aws-sdk-go'),
    protocol: 'query',
    inCi: true,
    does: [...EVERY_ACTION, 'a FIFO queue'],
    prepare: async () => ({ command: await goProgram('aws-sdk-go-v1'), args: [] }),
  },
  python({ name: 'boto3-jobs', of: 'boto3', does: JOBS, program: ['boto3', 'jobs.py'], trial: 'long-poll' }),
  python({
    name: 'boto3-query-jobs',
    of: 'boto3',
    does: JOBS,
    program: ['boto3', 'jobs.py'],
    trial: 'long-poll',
    ...OLD,
  }),
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
      'a FIFO queue',
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
    does: [...WORKER, 'attributes'],
    prepare: async () =>
      workerTrial('long-poll', process.execPath, [await nodeProgram('sqs-consumer', 'jobs.mjs')]),
  },
  python({
    name: 'aioboto3',
    of: 'aioboto3',
    does: JOBS,
    program: ['aioboto3', 'jobs.py'],
    requirements: join('aioboto3', 'requirements.txt'),
    trial: 'long-poll',
  }),
  python({
    name: 'dramatiq',
    of: 'dramatiq-sqs',
    does: SHORT_POLLING_WORKER,
    program: ['dramatiq', 'jobs.py'],
    trial: 'short-poll',
  }),
  rust('aws-sdk-rust', EVERY_ACTION, 'actions'),
  rust('aws-sdk-rust-fifo', FIFO, 'fifo'),
  rust('aws-sdk-rust-jobs', JOBS, 'jobs'),
  java('aws-sdk-java-v2', 'sqs'),
  javaV2('aws-sdk-java-v2-async', JOBS, 'Jobs'),
  javaV2('aws-sdk-java-v2-fifo', FIFO, 'Fifo'),
  java('spring-cloud-aws', 'spring-cloud-aws-sqs'),
  java('aws-sdk-java-v1', 'aws-java-sdk-sqs'),
  javaOverQuery('aws-sdk-java-v2', 'sqs'),
  javaOverQuery('aws-sdk-java-v1', 'aws-java-sdk-sqs'),
  php('symfony-messenger', 'php-symfony-amazon-sqs-messenger', 'long-poll'),
  php('laravel', 'php-illuminate-queue', 'short-poll'),
];
