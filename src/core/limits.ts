/**
 * Bounds of one queue, each with its reason. Sizes in bytes, times in milliseconds.
 */

/** Writers a manifest remembers. A loop lives for hours, so 64 covers far more processes than share a queue. */
export const WRITERS_MAX = 64;

/** The inline tail: above it all of it goes to a segment. 256 KiB keep a PUT within one round trip at 80 MB/s. */
export const TAIL_BYTES_MAX = 256 * 1024;

/** A larger message goes to a segment at once, or every later swap would carry it again. */
export const INLINE_MESSAGE_BYTES_MAX = 64 * 1024;

/** A spill is cut into objects of at most about this size, so that one receive never loads much more. */
export const SEGMENT_BYTES_MAX = 1024 * 1024;

/**
 * Small segments of a backlog are put together to objects of about this size: a manifest then names 100 million
 * messages of 256 B by 8,000 references instead of 130,000, and one load serves 13,000 of them.
 */
export const COMPACTED_BYTES_MAX = 4 * 1024 * 1024;

/** Received and not deleted at once (the limit of SQS). */
export const IN_FLIGHT_MAX = 120_000;

/** How many visible messages of a FIFO queue the receives of one commit look through (SQS). */
export const FIFO_LOOK_MAX = 120_000;

/** Moves to other queues under way at once; more wait for their turn (DESIGN.md section 6). */
export const INTENTS_MAX = 100;

/** Move tasks that a queue remembers, the one under way included: as many as ListMessageMoveTasks can show (SQS). */
export const MOVE_TASKS_MAX = 10;

/** A lease and its extensions end 12 hours after the receive (SQS). */
export const LEASE_MILLIS_MAX = 12 * 60 * 60 * 1000;

/** Stored beside body and attributes: id, stamps, sequence, tags of the encoding. Measured on 256 B bodies, rounded up. */
export const MESSAGE_OVERHEAD_BYTES = 64;

/** Delayed messages in the manifest, 10 bytes each; above it the latest due leave for pages. */
export const DELAYED_INLINE_MAX = 8_192;

/** Delayed messages of one page: 40 KiB, one request. */
export const DELAYED_PAGE_ENTRIES = 4_096;

/** Ranges of ready messages in the manifest, 4 bytes each; above it the highest leave for pages. */
export const READY_RANGES_MAX = 8_192;

/** Ranges of one page: 16 KiB, one request. */
export const READY_PAGE_RANGES = 4_096;

/** Segments in the manifest, 45 bytes for each run of sequence numbers; above it the coldest leave for pages. */
export const SEGMENTS_INLINE_MAX = 1_024;

/** Runs of one page of segments, about: 24 KiB, one request. */
export const SEGMENT_PAGE_ENTRIES = 512;

/** Pages of ready messages, and of segments, that a commit writes: more are for the next. Each is a PUT beside the swap. */
export const PAGES_PER_COMMIT_MAX = 8;

/**
 * Deliveries in the manifest, 43 bytes each, before those leased longest ago leave for a page. Under a steady load the
 * manifest holds half of that on average, and what one commit changes.
 */
export const LEASE_INLINE_MAX = 2_048;

/** Deliveries of one page: 86 KiB, one request; its bits take 256 bytes of the manifest. */
export const LEASE_PAGE_ENTRIES = 2_048;

/** How long a FIFO queue remembers a deduplication id (SQS). */
export const DEDUPLICATION_MILLIS = 5 * 60 * 1000;

/** Deduplication ids in the manifest, 50 bytes each, before the oldest leave for a page. */
export const DEDUPLICATION_INLINE_MAX = 2_048;

/** Deduplication ids of one page: 100 KiB, one request. */
export const DEDUPLICATION_PAGE_ENTRIES = 2_048;

/**
 * How far a receive looks for more messages of one group before it takes of the next: less than a millisecond, and little
 * that has to be loaded before its turn.
 */
export const FIFO_LOOK_AHEAD_MAX = 1_000;

/** Groups of a standard queue of which it is counted how much they send, 18 bytes each: who sends 4 of 128 messages is seen. */
export const GROUP_RATES_MAX = 128;

/** Those counts halve so often. */
export const GROUP_RATE_HALF_MILLIS = 60 * 1000;

/** A clock that is further back sets the pace anew; a little back is another node's. */
export const GROUP_RATE_BACK_MINUTES = 5;

/** Below it no group is busy: a few messages are no load. */
export const BUSY_COUNT_MIN = 16;

/** A group is quiet that sent less than this part of what the busy one did: below it, chance makes the difference. */
export const QUIET_PART = 1 / 4;

/** Ranges of quiet messages in the manifest, 4 bytes each; above it the newest are like any other. */
export const QUIET_RANGES_MAX = 1_024;

/** So many quiet messages are handed out before the oldest of all is: nobody waits more than four times as long. */
export const QUIET_IN_A_ROW_MAX = 3;

/** Those that a state keeps by moving or refusing things. Tests and the simulation draw smaller ones. */
export interface QueueLimits {
  readonly writersMax: number;
  readonly tailBytesMax: number;
  readonly inlineMessageBytesMax: number;
  readonly segmentBytesMax: number;
  readonly compactedBytesMax: number;
  readonly inFlightMax: number;
  readonly fifoLookMax: number;
  readonly intentsMax: number;
  readonly delayedInlineMax: number;
  readonly delayedPageEntries: number;
  readonly readyRangesMax: number;
  readonly readyPageRanges: number;
  readonly segmentsInlineMax: number;
  readonly segmentPageEntries: number;
  readonly leaseInlineMax: number;
  readonly leasePageEntries: number;
  readonly deduplicationInlineMax: number;
  readonly deduplicationPageEntries: number;
  readonly groupRatesMax: number;
  readonly quietRangesMax: number;
}

export const queueLimits: QueueLimits = {
  writersMax: WRITERS_MAX,
  tailBytesMax: TAIL_BYTES_MAX,
  inlineMessageBytesMax: INLINE_MESSAGE_BYTES_MAX,
  segmentBytesMax: SEGMENT_BYTES_MAX,
  compactedBytesMax: COMPACTED_BYTES_MAX,
  inFlightMax: IN_FLIGHT_MAX,
  fifoLookMax: FIFO_LOOK_MAX,
  intentsMax: INTENTS_MAX,
  delayedInlineMax: DELAYED_INLINE_MAX,
  delayedPageEntries: DELAYED_PAGE_ENTRIES,
  readyRangesMax: READY_RANGES_MAX,
  readyPageRanges: READY_PAGE_RANGES,
  segmentsInlineMax: SEGMENTS_INLINE_MAX,
  segmentPageEntries: SEGMENT_PAGE_ENTRIES,
  leaseInlineMax: LEASE_INLINE_MAX,
  leasePageEntries: LEASE_PAGE_ENTRIES,
  deduplicationInlineMax: DEDUPLICATION_INLINE_MAX,
  deduplicationPageEntries: DEDUPLICATION_PAGE_ENTRIES,
  groupRatesMax: GROUP_RATES_MAX,
  quietRangesMax: QUIET_RANGES_MAX,
};
