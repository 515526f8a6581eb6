/**
 * The state of one queue: what its manifest holds, decoded. Immutable: every change makes a new state (transition.ts).
 *
 * Each live message has one sequence number and is in exactly one of these places:
 *   ready       visible, never received; the highest ranges may be in `readyPages`
 *   delayed     never received, visible when due; the latest due may be in `delayedPages`
 *   deliveries  received at least once: in flight until `visibleAtMillis`, visible again afterwards; those leased long
 *               ago may be in `leasePages`
 *   intents     on its way to another queue; invisible here
 * and its body is in exactly one place: the tail, or a run of a segment reference, which may be in `segmentsPages`.
 * `deduplication` is of FIFO queues only, and tells of messages that may be gone; its oldest may be in `deduplicationPages`.
 * Sequence numbers are never used twice within an incarnation. `delayed`, `tail` and `deduplication` iterate in ascending order of sequence; `deliveries` and `intents`
 * in order of their latest lease or intent until they are decoded again.
 */
import type {
  AttemptHash,
  DeduplicationKey,
  DeliveryToken,
  GroupHash,
  Incarnation,
  WriterId,
} from './ids.ts';
import type { StoredMessage } from './message.ts';
import type { MoveTask } from './move-task.ts';
import type { QueueAttributes } from './queue-attributes.ts';
import type { QueueTags } from './queue-tags.ts';
import { emptyRanges, type RangeSet } from './range-set.ts';

export interface WriterEntry {
  readonly id: WriterId;
  readonly attempt: number;
  readonly version: number;
  /** A read and a swap as this writer measures them, together; 0: unknown. For the pace of others, nothing else. */
  readonly roundMillis: number;
}

export interface Delivery {
  readonly visibleAtMillis: number;
  readonly receiveCount: number;
  readonly firstReceivedAtMillis: number;
  readonly leasedAtMillis: number;
  readonly token: DeliveryToken;
  readonly leaseVersion: number;
  /** On FIFO queues: while it is in flight nothing later of its group may be received. */
  readonly group?: GroupHash;
  /** Of `receiveCount`, what it came from another queue with. Absent: it did not. */
  readonly receivedElsewhere?: number;
  /**
   * On FIFO queues: the number that the next message sent had when this one was received. Once it is visible again, its
   * group has its turn as if it had been sent then (fifo-order.ts). Absent: it came from another queue.
   */
  readonly turn?: number;
  /** On FIFO queues, of a receive that may be repeated (receive-attempts.ts). */
  readonly attempt?: ReceiveAttempt;
}

export interface ReceiveAttempt {
  readonly id: AttemptHash;
  /** How many it has handed out; 0: this one was changed since. */
  readonly messages: number;
  /** It was repeated: the same handles are in a second answer. */
  readonly repeated: boolean;
}

/** What goes on with a message that came from another queue, as far as it is there. */
export function carried({
  receivedElsewhere = 0,
}: Pick<Delivery, 'receivedElsewhere'>): Pick<Delivery, 'receivedElsewhere'> {
  return receivedElsewhere > 0 ? { receivedElsewhere } : {};
}

export interface TailMessage {
  readonly message: StoredMessage;
  /** What it adds to the manifest, bytes, about. */
  readonly bytes: number;
}

/** `<base version>-<nonce>`: unique within an incarnation. */
export type SegmentId = string & { readonly __brand: 'SegmentId' };
/** The same for a page (core/pages.ts). */
export type PageId = string & { readonly __brand: 'PageId' };

export interface Run {
  readonly firstSequence: number;
  readonly firstOrdinal: number;
  readonly count: number;
  /** Added to the stamps in the segment, which may have been uploaded long before the swap that names it. */
  readonly sentAtShiftMillis: number;
}

export interface SegmentReference {
  readonly baseVersion: number;
  /** 16 hex characters. */
  readonly nonce: string;
  readonly liveCount: number;
  readonly sentAtMaxMillis: number;
  readonly bytes: number;
  /** Bodies it was written with, when its runs pass over more numbers than those; absent: one for each. */
  readonly bodyCount?: number;
  readonly runs: readonly Run[];
}

/** A page of delayed messages, with what must be known of it without reading it. */
export interface DelayedPageReference {
  readonly baseVersion: number;
  /** 16 hex characters. */
  readonly nonce: string;
  readonly count: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly firstDueAtMillis: number;
  readonly lastDueAtMillis: number;
}

/** A page of ready messages: ranges that are members of `ready` beside those in the manifest. */
export interface ReadyPageReference {
  readonly baseVersion: number;
  /** 16 hex characters. */
  readonly nonce: string;
  /** Messages. */
  readonly count: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
}

/**
 * A page of segment references. Its hull [firstSequence, lastSequence] tells exactly who is inside: every live message
 * there is ready and has its body in one of these segments.
 */
export interface SegmentsPageReference {
  readonly baseVersion: number;
  /** 16 hex characters. */
  readonly nonce: string;
  /** Segments. */
  readonly count: number;
  /** Messages. */
  readonly liveCount: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** When the first of the segments has expired, counted from here … */
  readonly sentAtMinMillis: number;
  /** … and the last. */
  readonly sentAtMaxMillis: number;
  /** Of all the segments together. */
  readonly bytes: number;
}

/** A page of deliveries, with what must be known of it without reading it. */
export interface LeasePageReference {
  readonly baseVersion: number;
  /** 16 hex characters. */
  readonly nonce: string;
  /** Entries of the page. */
  readonly count: number;
  /** Those that have not left. */
  readonly remaining: number;
  /** Of all entries. */
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** Of those that have not left, exactly. */
  readonly firstVisibleAtMillis: number;
  readonly lastVisibleAtMillis: number;
  /** One bit per entry, set when it has left; empty while none has. */
  readonly left: Uint8Array;
}

export interface Intent {
  readonly targetIncarnation: Incarnation;
  readonly number: number;
  readonly receiveCount: number;
  readonly firstReceivedAtMillis: number;
  /** On FIFO queues: it locks its group until it is resolved. */
  readonly group?: GroupHash;
  /** As in Delivery. */
  readonly receivedElsewhere?: number;
  /** A move task moves it: it arrives as a new message, not as a dead letter. */
  readonly redriven?: true;
}

/** The message that took a deduplication id. It may be gone. */
export interface DeduplicationEntry {
  readonly sequence: number;
  readonly messageId: string;
  /** Upper bound of the store's time at the send. */
  readonly acceptedAtMillis: number;
}

/** A page of deduplication ids. It is over as a whole, when its last entry is. */
export interface DeduplicationPageReference {
  readonly baseVersion: number;
  /** 16 hex characters. */
  readonly nonce: string;
  readonly count: number;
  readonly lastAcceptedAtMillis: number;
}

export interface Link {
  readonly queueName: string;
  readonly lastNumber: number;
}

export interface GroupRate {
  /** How much it has sent of late (group-rates.ts). */
  readonly count: number;
  /** The highest count with which it sent what may still wait; 0: nothing of it waits that kept others waiting. */
  readonly peak: number;
}

/**
 * Who comes first in a standard queue with message groups (fairness.ts). A hint: whatever it says, no message is lost or
 * kept back for it, so it may be stale and may go.
 */
export interface Fairness {
  readonly rates: ReadonlyMap<GroupHash, GroupRate>;
  /** In which the counts were halved last: minutes since the epoch by the deciding clock. */
  readonly minute: number;
  /** Sequence numbers of waiting messages whose groups were quiet when they were sent. */
  readonly quiet: RangeSet;
  /** What was sent by busy groups, and what was sent before, is below; 0: nothing of theirs waits. */
  readonly busyBelow: number;
  /** Handed out one after the other. */
  readonly quietInARow: number;
}

export const noFairness: Fairness = {
  rates: new Map(),
  minute: 0,
  quiet: emptyRanges,
  busyBelow: 0,
  quietInARow: 0,
};

export interface QueueState {
  readonly incarnation: Incarnation;
  /** Rises by one with each commit; 1 in a new queue. */
  readonly version: number;
  /** Manifest time (core/time.ts): never backwards; retention compares with it. */
  readonly timeMillis: number;
  readonly createdAtMillis: number;
  readonly modifiedAtMillis: number;
  readonly attributes: QueueAttributes;
  readonly tags: QueueTags;
  /** At most WRITERS_MAX. */
  readonly writers: readonly WriterEntry[];
  readonly writersFloor: number;
  readonly nextSequence: number;
  readonly purgeWatermark: number;
  readonly purgedAtMillis: number;
  readonly collectedBelow: number;
  readonly ready: RangeSet;
  readonly readyPages: ReadonlyMap<PageId, ReadyPageReference>;
  /** Sequence → when it becomes visible, milliseconds. */
  readonly delayed: ReadonlyMap<number, number>;
  readonly delayedPages: ReadonlyMap<PageId, DelayedPageReference>;
  readonly deliveries: ReadonlyMap<number, Delivery>;
  readonly leasePages: ReadonlyMap<PageId, LeasePageReference>;
  readonly tail: ReadonlyMap<number, TailMessage>;
  readonly segments: ReadonlyMap<SegmentId, SegmentReference>;
  readonly segmentsPages: ReadonlyMap<PageId, SegmentsPageReference>;
  readonly intents: ReadonlyMap<number, Intent>;
  readonly deduplication: ReadonlyMap<DeduplicationKey, DeduplicationEntry>;
  readonly deduplicationPages: ReadonlyMap<PageId, DeduplicationPageReference>;
  /** By the target's incarnation: the last intent number given. */
  readonly outgoingLinks: ReadonlyMap<Incarnation, Link>;
  /** By the source's incarnation: the last intent number appended here. */
  readonly incomingLinks: ReadonlyMap<Incarnation, Link>;
  readonly fairness: Fairness;
  /** The newest last, at most MOVE_TASKS_MAX; those before the last have ended. */
  readonly moveTasks: readonly MoveTask[];
  /** Manifest fields this program does not know, kept byte for byte (format/manifest-codec.ts). */
  readonly unknownFields: readonly unknown[];
}

/** What `m/<name>` holds after DeleteQueue. */
export interface Tombstone {
  readonly buriedIncarnation: Incarnation;
  /** The queue's last version. */
  readonly buriedVersion: number;
  readonly closingWriter: WriterId;
  readonly closingAttempt: number;
  readonly deletedAtMillis: number;
}

export type ManifestContent =
  | { readonly kind: 'queue'; readonly state: QueueState }
  | { readonly kind: 'tombstone'; readonly tombstone: Tombstone };

/** Version 1 of a queue: what CreateQueue writes. `timeMillis` is the lower bound, `stampMillis` the upper bound of the store's time. */
export function newQueueState(input: {
  readonly incarnation: Incarnation;
  readonly attributes: QueueAttributes;
  readonly tags?: QueueTags;
  readonly timeMillis: number;
  readonly stampMillis: number;
}): QueueState {
  return {
    incarnation: input.incarnation,
    version: 1,
    timeMillis: input.timeMillis,
    createdAtMillis: input.stampMillis,
    modifiedAtMillis: input.stampMillis,
    attributes: input.attributes,
    tags: input.tags ?? new Map(),
    writers: [],
    writersFloor: 0,
    nextSequence: 1,
    purgeWatermark: 0,
    purgedAtMillis: 0,
    collectedBelow: 0,
    ready: emptyRanges,
    readyPages: new Map(),
    delayed: new Map(),
    delayedPages: new Map(),
    deliveries: new Map(),
    leasePages: new Map(),
    tail: new Map(),
    segments: new Map(),
    segmentsPages: new Map(),
    intents: new Map(),
    deduplication: new Map(),
    deduplicationPages: new Map(),
    outgoingLinks: new Map(),
    incomingLinks: new Map(),
    fairness: noFairness,
    moveTasks: [],
    unknownFields: [],
  };
}

export function segmentIdOf(reference: { readonly baseVersion: number; readonly nonce: string }): SegmentId {
  return `${reference.baseVersion}-${reference.nonce}` as SegmentId;
}

export function pageIdOf(reference: { readonly baseVersion: number; readonly nonce: string }): PageId {
  return `${reference.baseVersion}-${reference.nonce}` as PageId;
}
