/**
 * A TCP proxy before a store, to make it worse than it is on loopback: answers come late, or never, although the
 * request took effect (the unknown outcomes of DESIGN.md section 3).
 */
import { connect, createServer } from 'node:net';

export interface StoreProxyOptions {
  readonly listenPort: number;
  readonly targetPort: number;
  readonly answerDelayMillis?: number;
  /** Asked for every piece of an answer: true breaks the connection instead of passing it on. */
  readonly loseAnswer?: () => boolean;
}

/** Listens on the loopback address for as long as this process lives. @returns its endpoint. */
export async function storeProxy(options: StoreProxyOptions): Promise<string> {
  const { listenPort, targetPort, answerDelayMillis = 0, loseAnswer = () => false } = options;
  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1');
    client.on('data', (chunk) => target.write(chunk));
    target.on('data', (chunk) => {
      if (loseAnswer()) client.resetAndDestroy();
      else if (answerDelayMillis === 0) client.write(chunk);
      else setTimeout(() => client.write(chunk), answerDelayMillis);
    });
    for (const [one, other] of [
      [client, target],
      [target, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => setTimeout(() => other.destroy(), answerDelayMillis));
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listenPort, '127.0.0.1', resolve);
  });
  server.unref();
  return `http://127.0.0.1:${listenPort}`;
}
