/** versitygw: an S3 gateway in Go over a folder. Needs the Go tool chain; its modules come from the Go proxy. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { installOnce } from './install.ts';
import { type RunningStore, run, startServer } from './server-process.ts';

const VERSION = 'v1.8.0';

export async function installVersitygw(): Promise<string> {
  const folder = await installOnce(`versitygw-${VERSION}`, (building) =>
    run('go', ['install', `github.com/versity/versitygw/cmd/versitygw@${VERSION}`], {
      environment: { GOBIN: building, CGO_ENABLED: '0' },
    }),
  );
  return join(folder, 'versitygw');
}

/** @param options.dir where it keeps buckets and objects; made when absent. */
export async function startVersitygw(options: {
  readonly port: number;
  readonly dir: string;
}): Promise<RunningStore> {
  const binary = await installVersitygw();
  await mkdir(options.dir, { recursive: true });
  const endpoint = `http://127.0.0.1:${options.port}`;
  const credentials = {
    accessKeyId: 'versitygwtest',
    secretAccessKey: 'versitygw-test-secret',
    region: 'us-east-1',
  };
  const server = await startServer(
    binary,
    ['--port', `127.0.0.1:${options.port}`, '--region', credentials.region, '--quiet', 'posix', options.dir],
    endpoint,
    { ROOT_ACCESS_KEY: credentials.accessKeyId, ROOT_SECRET_KEY: credentials.secretAccessKey },
  );
  return { endpoint, ...credentials, stop: server.stop };
}
