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

/**
 * moto answers each request in a thread of its own and compares a tag before it puts, with nothing in between to keep
 * two threads apart: under load two of eight swaps of one tag won here. One request at a time makes the swap whole, and
 * leaves everything else that is moto's (codes, headers, listing) as it is.
 */
const ONE_AT_A_TIME = `
import threading
import moto.server as server

serve, lock = server.run_simple, threading.Lock()

def run_simple(host, port, app, **options):
    def one_at_a_time(environment, start_response):
        with lock:
            return list(app(environment, start_response))
    return serve(host, port, one_at_a_time, **options)

server.run_simple = run_simple
server.main()
`;

/** Everything it keeps is gone when it stops. */
export async function startMoto(options: { readonly port: number }): Promise<RunningStore> {
  const packages = await installMoto();
  const endpoint = `http://127.0.0.1:${options.port}`;
  const server = await startServer(
    'python3',
    ['-c', ONE_AT_A_TIME, '--host', '127.0.0.1', '--port', String(options.port)],
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
