/** How far processes are from their store by their own account, which is what the engine's windows follow. */

import { decodeManifestObject } from '../../src/format/manifest-codec.ts';
import { manifestKey } from '../../src/format/object-keys.ts';
import { S3Store } from '../../src/store/s3-store.ts';
import { pause } from './okuri-process.ts';
import type { StoreForOkuri } from './stores-for-okuri.ts';

function opened({ environment }: StoreForOkuri): S3Store {
  const of = (name: string) => environment[`OKURI_S3_${name}`] ?? '';
  return new S3Store({
    bucket: of('BUCKET'),
    endpoint: of('ENDPOINT'),
    region: of('REGION'),
    forcePathStyle: true,
    credentials: { accessKeyId: of('ACCESS_KEY_ID'), secretAccessKey: of('SECRET_ACCESS_KEY') },
  });
}

/** Of the writers of a queue, once a second: a read and a swap, as each publishes for the others to wait by. */
export class PublishedRounds {
  readonly #millis: number[] = [];
  #over = false;

  constructor(store: StoreForOkuri, queue: string) {
    void this.#watch(opened(store), queue);
  }

  end(): void {
    this.#over = true;
  }

  /** On average, since the last look. They are rounded up when they are published. */
  meanMillis(): number {
    const seen = this.#millis.splice(0);
    return seen.reduce((sum, millis) => sum + millis, 0) / seen.length - 0.5;
  }

  async #watch(store: S3Store, queue: string): Promise<void> {
    while (!this.#over) {
      const outcome = await store.get(manifestKey(queue));
      if (outcome.kind === 'done') {
        const manifest = decodeManifestObject(outcome.body);
        if (manifest.kind === 'ok' && manifest.content.kind === 'queue')
          this.#millis.push(...manifest.content.state.writers.map(({ roundMillis }) => roundMillis));
      }
      await pause(1_000);
    }
    store.close();
  }
}
