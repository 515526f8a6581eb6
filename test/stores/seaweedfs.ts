/**
 * SeaweedFS: built from source, minutes and gigabytes of modules, so only `just stores` asks for it. Needs Go.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installOnce } from './install.ts';
import { type RunningStore, run, startServer } from './server-process.ts';

const VERSION = 'v0.0.0-20261109003541-7506e5f91cd6';
const WEED = 'github.com/seaweedfs/seaweedfs/weed';

export async function installSeaweedfs(): Promise<string> {
  const folder = await installOnce(`seaweedfs-${VERSION}`, async (building) => {
    const module = join(building, 'module');
    await mkdir(module);
    await run('go', ['mod', 'init', 'okuri.test/seaweedfs'], { cwd: module });
    await run('go', ['get', '-tool', `${WEED}@${VERSION}`], { cwd: module });
    await run('go', ['build', '-o', join(building, 'weed'), WEED], { cwd: module });
    await rm(module, { recursive: true });
  });
  return join(folder, 'weed');
}

/** Takes ports `port` to `port + 4` and, for its internal calls, the same ones + 10000. */
export async function startSeaweedfs(options: {
  readonly port: number;
  readonly dir: string;
}): Promise<RunningStore> {
  const binary = await installSeaweedfs();
  await mkdir(options.dir, { recursive: true });
  const credentials = {
    accessKeyId: 'seaweedtest',
    secretAccessKey: 'seaweed-test-secret',
    region: 'us-east-1',
  };
  const configuration = join(options.dir, 's3.json');
  const { accessKeyId: accessKey, secretAccessKey: secretKey } = credentials;
  const identity = {
    name: 'test',
    credentials: [{ accessKey, secretKey }],
    actions: ['Admin', 'Read', 'Write', 'List'],
  };
  await writeFile(configuration, JSON.stringify({ identities: [identity] }));
  const endpoint = `http://127.0.0.1:${options.port}`;
  const ports = ['s3', 'master', 'volume', 'filer'].map(
    (role, index) => `-${role}.port=${options.port + index}`,
  );
  const server = await startServer(
    binary,
    [
      'server',
      `-dir=${options.dir}`,
      '-ip=127.0.0.1',
      '-ip.bind=127.0.0.1',
      '-s3',
      '-filer',
      ...ports,
    ].concat([`-s3.config=${configuration}`, '-master.volumeSizeLimitMB=64', '-volume.max=20']),
    endpoint,
  );
  return { endpoint, ...credentials, stop: server.stop };
}
