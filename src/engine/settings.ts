/**
 * What an assembly decides about the engine, and the engine's own times and bounds with their reasons. Milliseconds
 * and bytes. Tests and the simulation draw their own.
 */
import type { QueueLimits } from '../core/limits.ts';

export interface EngineSettings {
  readonly accountId: string;
  readonly region: string;
  /** How long the first command after idle waits for company before its commit. */
  readonly lingerMillis: number;
  /** AWS's two 60-second rules (name reuse, purge). */
  readonly cooldowns: boolean;
  /** The probe found conditional DELETE honest: tombstones may be collected. */
  readonly conditionalDelete: boolean;
  /** The probe found that LIST shows the tag of a write right after it: many waited queues may be watched by LISTs. */
  readonly listTags: boolean;
  /**
   * What a GET costs in conditional PUTs. A commit reads the manifest first when its view is stale more often than
   * this.
   */
  readonly readPriceShare: number;
  /** What a LIST costs in GETs. */
  readonly listPriceInReads: number;
  /** Keys a LIST is asked for, 1 to 1,000. */
  readonly listPageKeys: number;
  readonly timing: EngineTiming;
  readonly limits: QueueLimits;
}

/** $0.40 against $5 a million (S3 Standard). */
export const defaultReadPriceShare = 0.08;
/** $5 against $0.40 a million. */
export const defaultListPriceInReads = 12.5;
/** A page costs the same whatever it holds: as many as the store gives. */
export const defaultListPageKeys = 1000;

export interface EngineTiming {
  /** An attempt this old since its apply is applied anew: its times would be stale. */
  readonly attemptAgeMaxMillis: number;
  /** A command this old is answered 503 when no attempt of it is unresolved. Below the SDKs' shortest timeouts. */
  readonly commandAgeMaxMillis: number;
  /** A command this old is answered 503 even so: its outcome is unknown, which a 503 may say. */
  readonly unresolvedAgeMaxMillis: number;
  readonly pollMinMillis: number;
  readonly pollMaxMillis: number;
  /** `collectedBelow` trails the version by this: uploads faster than that are never refused. */
  readonly collectLagMillis: number;
  /** The whole listing of the bucket's immutable objects. */
  readonly sweepIntervalMillis: number;
  /** Segments that did not change for so long are settled, and may be compacted. */
  readonly compactDelayMillis: number;
  /** Another node made these intents: it gets this long before we move them too. */
  readonly foreignIntentPatienceMillis: number;
  /** Another node runs this move task: it gets once to twice as long without progress before we go on with it. */
  readonly foreignTaskPatienceMillis: number;
  /** Only messages that can't be read are left of a move task: for so long that may pass. */
  readonly unreadableTaskMillis: number;
  /** The markers of move tasks are listed so often while calls come; infinite: never. */
  readonly taskListMillis: number;
  /** And otherwise. */
  readonly taskListIdleMillis: number;
  /** Tombstones older than this go, and markers of move tasks that nobody knows: signatures of late copies of a create died after 15 minutes. */
  readonly tombstoneAgeMillis: number;
}

export const defaultTiming: EngineTiming = {
  attemptAgeMaxMillis: 5_000,
  commandAgeMaxMillis: 10_000,
  unresolvedAgeMaxMillis: 20_000,
  pollMinMillis: 50,
  pollMaxMillis: 2_000,
  collectLagMillis: 60_000,
  sweepIntervalMillis: 24 * 60 * 60 * 1000,
  compactDelayMillis: 5_000,
  foreignIntentPatienceMillis: 5_000,
  foreignTaskPatienceMillis: 5_000,
  unreadableTaskMillis: 60_000,
  taskListMillis: 60_000,
  taskListIdleMillis: 600_000,
  tombstoneAgeMillis: 60 * 60 * 1000,
};

/** AWS refuses a name for 60 s after its deletion, and a second purge within 60 s. */
export const cooldownMillis = 60_000;

/** Commands waiting for one queue; beyond it callers are told to come back. */
export const pendingCommandsMax = 20_000;
/** Bytes of messages waiting for one queue: 32 of the largest calls. */
export const pendingBytesMax = 32 * 1024 * 1024;
/** Bytes of messages in one commit: bounds what one spill uploads and how long one commit takes. */
export const batchBytesMax = 4 * 1024 * 1024;
/**
 * Deliveries that one commit makes or changes: they stay in the manifest until a later one may fold them, 43 bytes each
 * beside as many older ones. Commit after commit that is still 40,000 a second on S3.
 */
export const batchDeliveriesMax = 4_096;
/**
 * Loops kept by one process. An idle one holds its queue's state, up to about half a megabyte with a full tail; what
 * is evicted costs one GET when it is wanted again.
 */
export const loopsMax = 512;
/** Move tasks of others that one process looks after: each keeps a loop, and they must not take them all. */
export const tasksFollowedMax = 256;
/** How soon a client that polls without end asks again: so long its loop is kept, over the bound too. */
export const betweenReceivesMillis = 1_000;
/** Manifests read at one time to find the sources of dead-letter queues, each up to a megabyte. */
export const sourceReadsAtOnce = 16;
/** The same for one call: on S3 it takes some 10 s, which clients wait for. */
export const sourceReadsMax = 5_000;
/** Queues whose dead-letter queue is remembered by their tags, some 200 bytes each. */
export const sourcesKnownMax = 100_000;
/** Decoded-on-demand segments kept in memory, for the whole process. */
export const bodyCacheBytesMax = 64 * 1024 * 1024;
/** Decoded pages kept in memory, for the whole process, about. */
export const pageCacheBytesMax = 64 * 1024 * 1024;
