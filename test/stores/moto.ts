/** moto's server: S3 in memory, in Python. Needs Python 3 with venv; its packages come from PyPI. */
import { installOnce } from './install.ts';
import { type RunningStore, run, startServer } from './server-process.ts';

const VERSION = '5.2.5';

export function installMoto(): Promise<string> {
  return installOnce(`moto-${VERSION}`, (building) =>
    // A folder of packages and no venv: the scripts of a venv name the place where it was made.
    run('python3', ['-m', 'pip', 'install', '--quiet', '--target', building, `moto[server]==${VERSION}`]),
  );
}

/** Everything it keeps is gone when it stops. */
export async function startMoto(options: { readonly port: number }): Promise<RunningStore> {
  const packages = await installMoto();
  const endpoint = `http://127.0.0.1:${options.port}`;
  const server = await startServer(
    'python3',
    ['-m', 'moto.server', '--host', '127.0.0.1', '--port', String(options.port)],
    `${endpoint}/moto-api/data.json`,
    { PYTHONPATH: packages, PYTHONUNBUFFERED: '1' },
  );
  return {
    endpoint,
    accessKeyId: 'mototest',
    secretAccessKey: 'moto-test-secret',
    region: 'us-east-1',
    stop: server.stop,
  };
}
