/** Ports for the servers of one test program, so that several programs can run at the same time. */
import { createServer } from 'node:net';

/** Below the range from which the system takes ports for outgoing connections. */
const LOWEST = 20_000;
const HIGHEST = 30_000;
const ATTEMPTS = 100;

/** @returns the first of `count` neighbouring ports of the loopback address on which nobody listens now. */
export async function freePorts(count: number): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const first = LOWEST + Math.floor((Math.random() * (HIGHEST - LOWEST)) / count) * count;
    const ports = Array.from({ length: count }, (_, n) => first + n);
    const free = await Promise.all(ports.map(isFree));
    if (free.every(Boolean)) return first;
  }
  throw new Error(`no ${count} neighbouring ports are free`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
