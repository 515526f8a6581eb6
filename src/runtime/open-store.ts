/**
 * From configuration to a store that may be trusted: opened, watched, probed. A store that does not swap atomically, or
 * that another process holds, is a StartFailure; one that is only down is asked again for a while, since a store and
 * its clients are often started together.
 */
import type { Clock, Log, Random } from '../engine/environment.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { type ObjectStore, StoreError } from '../store/object-store.ts';
import { type ProbeOptions, type ProbeResult, probeStore } from '../store/probe.ts';
import type { S3Config, StoreConfig } from './config.ts';
import { StartFailure } from './start-failure.ts';

export interface OpenedStore {
  readonly store: ObjectStore;
  /** For people: which store this is, without secrets. */
  readonly description: string;
  readonly adapter: ProbeOptions['adapter'];
  close(): Promise<void>;
}

export interface Surroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The store was taken from this process: it must end. */
  readonly onLost: (error: Error) => void;
}

/** A store that comes up within this time is waited for. */
const DOWN_AT_START_WITHIN_MILLIS = 30_000;
const ASK_AGAIN_MILLIS = 1_000;

/** @throws StartFailure */
export async function openStore(config: StoreConfig, around: Surroundings): Promise<OpenedStore> {
  switch (config.kind) {
    case 'memory':
      return {
        store: new MemoryStore({ nowMillis: () => around.clock.wallMillis() }),
        description: 'memory (everything is lost with the process)',
        adapter: undefined,
        close: async () => {},
      };
    case 'file':
      return openFileStore(config.folder, around);
    case 's3':
      return openS3Store(config.s3, around);
  }
}

async function openFileStore(folder: string, around: Surroundings): Promise<OpenedStore> {
  const { FileStore } = await import('../store/file-store.ts');
  try {
    const store = await FileStore.open({
      folder,
      onLost: around.onLost,
      onWait: (message) => around.log.warn(message),
    });
    return { store, description: `folder ${folder}`, adapter: undefined, close: () => store.close() };
  } catch (error) {
    throw startFailure(`OKURI_DATA_DIR ${folder}`, error);
  }
}

async function openS3Store(s3: S3Config, around: Surroundings): Promise<OpenedStore> {
  const { S3Store } = await import('../store/s3-store.ts');
  const store = new S3Store({
    bucket: s3.bucket,
    prefix: s3.prefix,
    region: s3.region,
    forcePathStyle: s3.forcePathStyle,
    ...(s3.endpoint === undefined ? {} : { endpoint: s3.endpoint }),
    ...(s3.credential === undefined ? {} : { credentials: s3.credential }),
  });
  const where = `bucket ${s3.bucket}${s3.prefix === '' ? '' : `/${s3.prefix}`} at ${s3.endpoint ?? `AWS ${s3.region}`}`;
  if (s3.createBucket) await whileDown(where, around, () => store.createBucket());
  return { store, description: where, adapter: store, close: async () => store.close() };
}

/** @throws StartFailure naming the failed probe. */
export async function probeOpened(
  opened: OpenedStore,
  watched: ObjectStore,
  around: Surroundings,
): Promise<Extract<ProbeResult, { readonly ok: true }>> {
  const result = await whileDown(opened.description, around, () =>
    probeStore(watched, {
      nonce: around.random.bytes(16),
      ...(opened.adapter === undefined ? {} : { adapter: opened.adapter }),
    }),
  );
  if (!result.ok) {
    throw new StartFailure(
      `The store (${opened.description}) failed the probe "${result.failedProbe}": ${result.detail}. ` +
        'Without real compare-and-swap two nodes would overwrite each other, so okuri refuses it.',
    );
  }
  for (const warning of result.warnings) around.log.warn(warning);
  return result;
}

async function whileDown<T>(where: string, around: Surroundings, ask: () => Promise<T>): Promise<T> {
  const begun = around.clock.monotonicMillis();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const retryable = error instanceof StoreError && error.retryable;
      const late = around.clock.monotonicMillis() - begun > DOWN_AT_START_WITHIN_MILLIS;
      if (!retryable || late) throw startFailure(where, error);
      around.log.warn('The store does not answer yet', { store: where, error: (error as Error).message });
      await around.clock.sleep(ASK_AGAIN_MILLIS);
    }
  }
}

function startFailure(where: string, error: unknown): Error {
  if (!(error instanceof StoreError)) return error as Error;
  return new StartFailure(`The store (${where}) cannot be used: ${error.message}`, { cause: error });
}
