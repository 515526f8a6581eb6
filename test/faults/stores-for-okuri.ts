/** The stores that okuri is tried on, each as the environment variables that a user would set. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startVersitygw } from '../stores/versitygw.ts';

/** A folder of its own under the system's temporary one; gone when this process ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'okuri-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface StoreForOkuri {
  readonly environment: Readonly<Record<string, string>>;
  /** Kills the store's server, if it has one. */
  stop(): Promise<void>;
}

export function fileStore(folder: string): StoreForOkuri {
  return { environment: { OKURI_DATA_DIR: join(folder, 'data') }, stop: async () => {} };
}

/** Started again on the same folder, it has the same objects. */
export async function versitygwStore(folder: string, port: number): Promise<StoreForOkuri> {
  const server = await startVersitygw({ port, dir: join(folder, 'versitygw') });
  return {
    environment: {
      OKURI_S3_BUCKET: 'okuri',
      OKURI_S3_ENDPOINT: server.endpoint,
      OKURI_S3_REGION: server.region,
      OKURI_S3_ACCESS_KEY_ID: server.accessKeyId,
      OKURI_S3_SECRET_ACCESS_KEY: server.secretAccessKey,
      OKURI_S3_FORCE_PATH_STYLE: 'true',
      OKURI_S3_CREATE_BUCKET: 'true',
    },
    stop: server.stop,
  };
}
