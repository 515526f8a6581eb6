/**
 * okuri to embed: a queue service on any store, and the SQS surface as a `fetch` handler to mount anywhere.
 *
 *     const store = new MemoryStore({ nowMillis: Date.now });
 *     const engine = createQueueService({ clock: systemClock, random: createSystemRandom(), store, log }, options);
 *     const handler = createSqsHandler({ service: engine.service, digests: webCryptoDigests, … });
 *     const fetch = createFetchHandler(handler, () => crypto.randomUUID());
 *
 * The stores that need more than web standards are loaded when they are opened, so that importing this file works
 * wherever `fetch` does.
 */
import type { FileStoreOptions } from './src/store/file-store.ts';
import type { S3StoreOptions } from './src/store/s3-store.ts';

export type { Clock, Environment, Log, Random } from './src/engine/environment.ts';
export * from './src/engine/queue-api.ts';
export { createQueueService, type Engine, type EngineOptions } from './src/engine/queue-service.ts';
export type { SqsDigests } from './src/protocol/sqs/digests.ts';
export { createFetchHandler } from './src/protocol/sqs/fetch-handler.ts';
export {
  createSqsHandler,
  type SqsCredential,
  type SqsHandler,
  type SqsHandlerOptions,
  type SqsRequest,
  type SqsResponse,
} from './src/protocol/sqs/handler.ts';
export { webCryptoDigests } from './src/protocol/sqs/web-crypto-digest.ts';
export { systemClock } from './src/runtime/clock.ts';
export { createSystemRandom } from './src/runtime/random.ts';
export { MemoryStore } from './src/store/memory-store.ts';
export { MeteredStore, type MeterSnapshot } from './src/store/metered-store.ts';
export {
  type DeleteIfMatchOutcome,
  type DeleteOutcome as StoreDeleteOutcome,
  type ETag,
  type GetOutcome,
  type ListedObject,
  type ListPage,
  type ListRequest,
  type ObjectStore,
  type PutIfAbsentOutcome,
  type PutIfMatchOutcome,
  type PutOutcome,
  StoreError,
  type StoreTime,
  type UnknownOutcome,
} from './src/store/object-store.ts';
export { type ProbeResult, probeStore } from './src/store/probe.ts';
export { RetryingStore } from './src/store/retrying-store.ts';

/** @throws StoreError when another process has the folder. */
export async function openFileStore(options: FileStoreOptions) {
  const { FileStore } = await import('./src/store/file-store.ts');
  return FileStore.open(options);
}

/** Probe it before trusting it: `probeStore`. */
export async function openS3Store(options: S3StoreOptions) {
  const { S3Store } = await import('./src/store/s3-store.ts');
  return new S3Store(options);
}
