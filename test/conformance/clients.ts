/** The client programs: what each is, and how it is run. A new client is a folder and a row here. */
import { join } from 'node:path';
import { repository } from '../faults/okuri-process.ts';
import { goProgram, goVersion, nodeVersion, pythonEnvironment, pythonVersion } from './toolchain.ts';

export interface Client {
  readonly name: string;
  readonly version: () => string;
  readonly does: string;
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

function python(name: string, version: string, does: string, program: string): Client {
  return {
    name,
    version: () => pythonVersion(version),
    does,
    prepare: async () => ({ command: join(await pythonEnvironment(), 'python'), args: [program] }),
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
    version: () => goVersion('github.com/aws/aws-sdk-go-v2/service/sqs'),
    does: 'every action, errors, dead letters',
    prepare: async () => ({ command: await goProgram(), args: [] }),
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
];
