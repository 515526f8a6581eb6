/**
 * The façade that every surface calls (SQS now, gRPC and HTTP/JSON later): `QueueService`. Expected outcomes are
 * returned unions with a `kind`; wire names and codes live in the surfaces' own errors files, none here.
 *
 * Any method can also reject: with `Unavailable` when the store cannot be reached in time or a bound was reached
 * (the caller may retry; a write may or may not have taken effect), and with anything else only for our own mistake.
 * Methods never reject for what a caller sent. Over 300 lines: one interface, each of its types a few lines.
 */

import type { AttributeProblem } from '../core/attribute-problem.ts';
import type { Deduplication } from '../core/command.ts';
import type { MessageContent, StoredMessage } from '../core/message.ts';
import type { MoveTask } from '../core/move-task.ts';
import type { QueueTags, TagProblem } from '../core/queue-tags.ts';

export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  /** How long the caller should wait before it tries again, seconds. */
  readonly retryAfterSeconds: number;
  constructor(message: string, retryAfterSeconds = 1) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The queue does not exist (now): never created, deleted, or deleted and created again while this call waited. */
export interface QueueMissing {
  readonly kind: 'queue-missing';
}

export type CreateQueueOutcome =
  | { readonly kind: 'created' }
  /** It exists and every given attribute equals its current value. */
  | { readonly kind: 'exists' }
  /** It exists with another value of `attribute`. */
  | { readonly kind: 'differs'; readonly attribute: string }
  /** It exists, its attributes are equal, and a given tag is not there or has another value. */
  | { readonly kind: 'tags-differ' }
  | { readonly kind: 'bad-attributes'; readonly problem: AttributeProblem }
  | BadTags
  /** Cool-downs are on and a queue of that name was deleted less than 60 s ago. */
  | { readonly kind: 'deleted-recently' };

export interface BadTags {
  readonly kind: 'bad-tags';
  readonly problem: TagProblem;
}

export type ChangeTagsOutcome = { readonly kind: 'done' } | BadTags | QueueMissing;

export interface QueueTagsSnapshot {
  readonly kind: 'tags';
  readonly tags: QueueTags;
}

export interface Permission {
  readonly label: string;
  /** At least one. */
  readonly accountIds: readonly string[];
  /** At least one, as AWS names them, without `SQS:`. */
  readonly actions: readonly string[];
}

export type AddPermissionOutcome =
  | { readonly kind: 'done' }
  /** Another permission has that label. */
  | { readonly kind: 'label-taken' }
  /** `count`: with this one. */
  | { readonly kind: 'too-many-statements'; readonly count: number; readonly max: number }
  | { readonly kind: 'policy-too-long'; readonly charactersMax: number }
  | QueueMissing;

export type RemovePermissionOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'no-such-label'; readonly hasPolicy: boolean }
  | QueueMissing;

export interface DeadLetterSourcesRequest {
  /** Only names after this one. */
  readonly startAfter: string | undefined;
  readonly limit: number;
}

export interface DeadLetterSources {
  readonly kind: 'sources';
  /** In name order. */
  readonly names: readonly string[];
  /** More may follow after this name, which need not be one of them; undefined: none do. */
  readonly resumeAfter: string | undefined;
  /** It ends before `limit` because a call looks through so many queues and no more. */
  readonly endedEarly: boolean;
}

export interface MoveTaskRequest {
  /** Undefined: each message goes back to the queue that it was dead-lettered from. */
  readonly destination: string | undefined;
  /** 1–500; undefined: as fast as it goes. */
  readonly messagesPerSecond: number | undefined;
}

export type StartMoveTaskOutcome =
  | { readonly kind: 'started'; readonly id: string }
  /** No queue's RedrivePolicy names it. */
  | { readonly kind: 'no-dead-letter-queue' }
  | { readonly kind: 'destination-missing' }
  /** Source and destination are one. */
  | { readonly kind: 'same-queue' }
  /** One is a FIFO queue, the other is not. */
  | { readonly kind: 'other-type' }
  | { readonly kind: 'already-running' }
  | QueueMissing;

export interface MoveTasksSnapshot {
  readonly kind: 'tasks';
  /** The newest first, at most ten. */
  readonly tasks: readonly MoveTask[];
}

export type CancelMoveTaskOutcome =
  | { readonly kind: 'cancelled' /** Messages that have arrived by now. */; readonly moved: number }
  /** Unknown, or over. */
  | { readonly kind: 'no-such-task' }
  | QueueMissing;

export type SetQueueAttributesOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'bad-attributes'; readonly problem: AttributeProblem }
  | QueueMissing;

export interface QueueSnapshot {
  readonly kind: 'queue';
  readonly name: string;
  /** Every attribute as SQS shows it, defaults included, e.g. `VisibilityTimeout` → `"30"`; no counts, no ARN. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly createdAtMillis: number;
  readonly modifiedAtMillis: number;
  /** Exact at the state seen, which was read after the call began. */
  readonly visibleCount: number;
  readonly inFlightCount: number;
  readonly delayedCount: number;
  /** The total is exact, how it divides is not: a page that tells when messages become visible could not be read. */
  readonly countsEstimated: boolean;
}

export interface ListQueuesRequest {
  readonly prefix: string;
  /** Only names after this one. */
  readonly startAfter: string | undefined;
  readonly limit: number;
}

export interface QueueList {
  /** In name order. */
  readonly names: readonly string[];
  /** More remain after the last name. */
  readonly truncated: boolean;
}

export interface SendEntry {
  readonly content: MessageContent;
  /** Size as SQS counts it: UTF-8 body plus names, data types and values of the attributes, bytes. */
  readonly contentBytes: number;
  /** 0–900; undefined means the queue's own delay, the only one that a FIFO queue has. */
  readonly delaySeconds: number | undefined;
  /** For FIFO queues, which also need a group id. */
  readonly deduplication?: Deduplication;
}

export type SendEntryOutcome =
  /** `sequenceNumber`: 20 digits; on FIFO queues only. */
  | { readonly kind: 'sent'; readonly messageId: string; readonly sequenceNumber?: string }
  /** This message, sent less than five minutes ago, has taken its deduplication id: nothing was stored. */
  | { readonly kind: 'duplicate'; readonly messageId: string; readonly sequenceNumber: string }
  /** It has none, and the queue does not deduplicate by content: nothing of the whole call was stored. */
  | { readonly kind: 'no-deduplication-id' }
  /** Larger than the queue's MaximumMessageSize, which is `maximumBytes`. Nothing of this entry was stored. */
  | { readonly kind: 'too-large'; readonly maximumBytes: number };

export type SendOutcome =
  | {
      readonly kind: 'done' /** One for each entry, in order. */;
      readonly entries: readonly SendEntryOutcome[];
    }
  | QueueMissing;

export interface ReceiveRequest {
  /** 1–10. */
  readonly maxMessages: number;
  /** 0–20; undefined means the queue's ReceiveMessageWaitTimeSeconds. */
  readonly waitSeconds: number | undefined;
  /** 0–43200; undefined means the queue's own. */
  readonly visibilityTimeoutSeconds: number | undefined;
  /** Of FIFO queues: repeats the receive that had it, with the same messages and handles (core/receive-attempts.ts). */
  readonly attemptId?: string | undefined;
  /** Fires when the client has gone or the server stops: a waiting receive then ends empty and leases nothing. */
  readonly signal: AbortSignal;
}

export interface ReceivedMessage {
  readonly message: StoredMessage;
  /** Standard base64 (core/receipt-handle.ts). */
  readonly receiptHandle: string;
  /** This delivery included. */
  readonly receiveCount: number;
  readonly firstReceivedAtMillis: number;
  /** 20 digits; on FIFO queues only. */
  readonly sequenceNumber?: string;
}

export type ReceiveOutcome =
  | {
      readonly kind: 'done';
      /** Empty when nothing came in time. */
      readonly messages: readonly ReceivedMessage[];
      /**
       * The client went away before a byte of the answer was written: gives the messages back at once, by exact
       * token, receive counts not raised. Safe to call late or twice. Resolves when it is done or given up.
       */
      readonly undelivered: () => Promise<void>;
    }
  /** 120,000 messages of a standard queue are in flight and the receive was a short poll (waitSeconds 0). */
  | { readonly kind: 'over-limit' }
  | QueueMissing;

export type DeleteEntryOutcome =
  /** Deleted, or there was nothing to delete: already deleted, superseded by a later delivery, purged, another incarnation. */
  | { readonly kind: 'done' }
  | { readonly kind: 'malformed-handle' }
  /** The message is alive and the FIFO queue no longer holds it for this handle. */
  | { readonly kind: 'expired' };

export type DeleteOutcome =
  | { readonly kind: 'done'; readonly entries: readonly DeleteEntryOutcome[] }
  | QueueMissing;

export interface VisibilityEntry {
  readonly receiptHandle: string;
  /** 0–43200, counted from now. */
  readonly visibilityTimeoutSeconds: number;
}

export type VisibilityEntryOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'malformed-handle' }
  /** Deleted, purged, superseded by a later delivery, or of another incarnation. */
  | { readonly kind: 'not-available' }
  /** More than 12 hours since this delivery's receive in all. */
  | { readonly kind: 'beyond-limit' }
  /** The message is alive and the FIFO queue no longer holds it for this handle. */
  | { readonly kind: 'expired' };

export type ChangeVisibilityOutcome =
  | { readonly kind: 'done'; readonly entries: readonly VisibilityEntryOutcome[] }
  | QueueMissing;

export type PurgeOutcome =
  | { readonly kind: 'done' }
  /** Cool-downs are on and the queue was purged less than 60 s ago. */
  | { readonly kind: 'in-progress' }
  | QueueMissing;

export interface QueueService {
  /** `attributes`: as sent. A queue is FIFO exactly if its name ends in `.fifo`. */
  createQueue(
    name: string,
    attributes: ReadonlyMap<string, string>,
    /** Of a new queue; those of one that exists stay, and are not compared. */
    tags?: QueueTags,
  ): Promise<CreateQueueOutcome>;
  /** Reads the store: true on any node right after a create. */
  queueExists(name: string): Promise<boolean>;
  getQueue(name: string): Promise<QueueSnapshot | QueueMissing>;
  setQueueAttributes(
    name: string,
    attributes: ReadonlyMap<string, string>,
  ): Promise<SetQueueAttributesOutcome>;
  /** Adds tags, or gives them other values; all or none. */
  tagQueue(name: string, tags: QueueTags): Promise<ChangeTagsOutcome>;
  /** A key that is not there is passed over. */
  untagQueue(name: string, keys: readonly string[]): Promise<ChangeTagsOutcome>;
  queueTags(name: string): Promise<QueueTagsSnapshot | QueueMissing>;
  /** A statement in the queue's Policy, which has no effect. */
  addPermission(name: string, permission: Permission): Promise<AddPermissionOutcome>;
  removePermission(name: string, label: string): Promise<RemovePermissionOutcome>;
  /** The queues whose RedrivePolicy names this one. */
  deadLetterSources(
    name: string,
    request: DeadLetterSourcesRequest,
  ): Promise<DeadLetterSources | QueueMissing>;
  /** Moves what is visible in this dead-letter queue now, on whichever node lives. */
  startMoveTask(name: string, request: MoveTaskRequest): Promise<StartMoveTaskOutcome>;
  moveTasks(name: string): Promise<MoveTasksSnapshot | QueueMissing>;
  cancelMoveTask(name: string, id: string): Promise<CancelMoveTaskOutcome>;
  listQueues(request: ListQueuesRequest): Promise<QueueList>;
  deleteQueue(name: string): Promise<{ readonly kind: 'done' } | QueueMissing>;
  purgeQueue(name: string): Promise<PurgeOutcome>;
  send(name: string, senderId: string, entries: readonly SendEntry[]): Promise<SendOutcome>;
  receive(name: string, request: ReceiveRequest): Promise<ReceiveOutcome>;
  deleteMessages(name: string, receiptHandles: readonly string[]): Promise<DeleteOutcome>;
  changeVisibility(name: string, entries: readonly VisibilityEntry[]): Promise<ChangeVisibilityOutcome>;
}
