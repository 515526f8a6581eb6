/** The client programs: what each is, and how it is run. A new client is a folder and a row here. */
import { join } from 'node:path';
import { repository } from '../faults/okuri-process.ts';
import {
  goProgram,
  goVersion,
  nodeVersion,
  packageVersion,
  phpPackage,
  pythonEnvironment,
  pythonVersion,
  type Requirements,
} from './toolchain.ts';

export interface Client {
  readonly name: string;
  readonly version: () => string;
  readonly does: string;
  /** Of whatever version the Linux distribution has; CI, which installs JavaScript, Python and Go, leaves it out. */
  readonly ofDistribution?: true;
  /** Installs what is missing. */
  readonly prepare: () => Promise<Command>;
}

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  /** Put in front of PATH. */
  readonly path?: string;
}

const file = (...parts: readonly string[]) => join(repository, 'test', 'conformance', ...parts);

function python(
  name: string,
  version: string,
  does: string,
  program: string,
  requirements: Requirements = 'requirements.txt',
): Client {
  return {
    name,
    version: () => pythonVersion(version, requirements),
    does,
    prepare: async () => ({
      command: join(await pythonEnvironment(requirements), 'python'),
      args: [program],
    }),
  };
}

export const clients: readonly Client[] = [
  python('celery', 'celery', '2 workers, 50 tasks, a retry, a kill -9', file('celery', 'run.py')),
  python('boto3', 'boto3', 'every action, errors, dead letters', file('boto3', 'client.py')),
  {
    name: 'aws-sdk-js',
    version: () => nodeVersion('@aws-sdk/client-sqs'),
    does: 'every action, errors, dead letters',
    prepare: async () => ({
      command: process.execPath,
      args: ['--no-warnings', '--import', 'tsx', file('aws-sdk-js', 'main.ts')],
    }),
  },
  {
    name: 'aws-sdk-go',
    version: () => goVersion('aws-sdk-go', 'github.com/aws/aws-sdk-go-v2/service/sqs'),
    does: 'every action, errors, dead letters',
    prepare: async () => ({ command: await goProgram('aws-sdk-go'), args: [] }),
  },
  {
    name: 'aws-cli',
    version: () => pythonVersion('awscli'),
    does: "a first user's session",
    prepare: async () => ({
      command: 'bash',
      args: [file('aws-cli', 'session.sh')],
      path: await pythonEnvironment(),
    }),
  },
  python('boto3-resource', 'boto3', 'the resource interface', file('boto3', 'resource.py')),
  python(
    'boto3-query',
    'boto3',
    'every action, errors, dead letters, over the query protocol',
    file('boto3', 'client.py'),
    'requirements-query.txt',
  ),
  python(
    'boto3-query-resource',
    'boto3',
    'the resource interface, over the query protocol',
    file('boto3', 'resource.py'),
    'requirements-query.txt',
  ),
  {
    name: 'aws-sdk-go-v1',
    version: () => goVersion('aws-sdk-go-v1', 'github.com/aws/aws-sdk-go'),
    does: 'every action, errors, dead letters, over the query protocol',
    prepare: async () => ({ command: await goProgram('aws-sdk-go-v1'), args: [] }),
  },
  {
    name: 'async-aws',
    version: () => packageVersion('php-async-aws-sqs'),
    does: 'every action but SetQueueAttributes, errors, over the query protocol',
    ofDistribution: true,
    prepare: async () => {
      await phpPackage('php-async-aws-sqs');
      return { command: 'php', args: [file('async-aws', 'main.php')] };
    },
  },
];
