/**
 * What the commit loop asks of a queue's state, and what comes back. `effect: false` says that the outcome rests on
 * the state alone (a repeated delete, an empty receive): the loop may answer it only from a state that is fresh
 * enough (DESIGN.md section 3, rule 5).
 */
import type { AttemptHash, Incarnation, WriterId } from './ids.ts';
import type { MessageContent, StoredMessage } from './message.ts';
import type { MoveTask } from './move-task.ts';
import type { PolicyStatement } from './permissions.ts';
import type { QueueAttributes } from './queue-attributes.ts';
import type { Run, SegmentId } from './queue-state.ts';
import type { QueueTags } from './queue-tags.ts';
import type { ReceiptHandle } from './receipt-handle.ts';

/** A message to send. The object's identity names it: an uploaded body is found again by it after a conflict. */
export interface NewMessage {
  readonly messageId: string;
  readonly senderId: string;
  readonly content: MessageContent;
  /** As SQS counts it. */
  readonly contentBytes: number;
  /** Present for every send to a FIFO queue. */
  readonly deduplication?: Deduplication;
}

/** What a message is to be deduplicated by; whether by its content is for the queue to say. */
export interface Deduplication {
  readonly explicitId: string | undefined;
  /** Lower-case hex SHA-256 of the body; `''` where an explicit id makes it unnecessary. */
  readonly bodyHash: string;
}

/** A message that another queue's intent gave up. The object's identity names it, as in NewMessage. */
export interface MovedMessage {
  readonly number: number;
  readonly message: StoredMessage;
  readonly contentBytes: number;
  readonly receiveCount: number;
  readonly firstReceivedAtMillis: number;
  /** By a move task: `message` has another id here, and is stamped when it is appended. */
  readonly redriven?: true;
}

/** An uploaded object with the bodies of several segments, or what is left of them. */
export interface CompactedSegment {
  readonly baseVersion: number;
  readonly nonce: string;
  readonly bytes: number;
  readonly sentAtMaxMillis: number;
  readonly bodyCount: number;
  readonly runs: readonly Run[];
}

export type Command =
  | { readonly kind: 'delete-queue' }
  /** Canonical values; `''` removes. */
  | { readonly kind: 'set-attributes'; readonly changes: QueueAttributes }
  /** Removes, then adds. */
  | { readonly kind: 'change-tags'; readonly add: QueueTags; readonly remove: readonly string[] }
  | { readonly kind: 'add-permission'; readonly statement: PolicyStatement }
  | { readonly kind: 'remove-permission'; readonly label: string }
  | { readonly kind: 'purge'; readonly cooldownMillis: number }
  | { readonly kind: 'delete'; readonly handles: readonly ReceiptHandle[] }
  | {
      readonly kind: 'change-visibility';
      readonly entries: readonly { readonly handle: ReceiptHandle; readonly timeoutSeconds: number }[];
    }
  /** Gives back what was leased to a client that never got it. */
  | { readonly kind: 'release'; readonly handles: readonly ReceiptHandle[] }
  | {
      readonly kind: 'send';
      readonly entries: readonly {
        readonly message: NewMessage;
        readonly delaySeconds: number | undefined;
      }[];
    }
  | { readonly kind: 'append-moved'; readonly source: MoveSource; readonly messages: readonly MovedMessage[] }
  /** The target has appended every number up to `through`: remove them here. */
  | { readonly kind: 'resolve-moves'; readonly targetIncarnation: Incarnation; readonly through: number }
  /** The target's incarnation is gone: take its messages back. */
  | { readonly kind: 'return-moves'; readonly targetIncarnation: Incarnation }
  /** The other ends of these links were read, and are gone: drop the links. */
  | {
      readonly kind: 'forget-links';
      readonly incoming: readonly Incarnation[];
      readonly outgoing: readonly Incarnation[];
    }
  | {
      readonly kind: 'start-move-task';
      readonly task: Pick<MoveTask, 'id' | 'destinationArn' | 'messagesPerSecond' | 'toMove'>;
    }
  | { readonly kind: 'cancel-move-task'; readonly id: string }
  /** Gives up to so many messages of the task to its destination (core/move-step.ts). */
  | {
      readonly kind: 'step-move-task';
      readonly id: string;
      /** Whom the task named when this was decided: no step when it names another by now, who goes on with it. */
      readonly runner: WriterId;
      readonly messagesMax: number;
      /** What can't be read now won't be waited for: with nothing else left the task fails. */
      readonly lastTry: boolean;
    }
  | {
      readonly kind: 'receive';
      readonly maxMessages: number;
      readonly visibilityTimeoutSeconds: number | undefined;
      readonly waits: boolean;
      /** Repeats the receive that had it before, if that can be (receive-attempts.ts); without effect on standard queues. */
      readonly attempt?: AttemptHash | undefined;
    }
  /** Drops what retention has ended and raises collectedBelow, on a queue without traffic. */
  | { readonly kind: 'tidy'; readonly collectBelow: number }
  /** `into` holds every message of `from` that was live when it was read (core/replace-segments.ts). */
  | {
      readonly kind: 'replace-segments';
      readonly from: readonly SegmentId[];
      readonly into: CompactedSegment;
    };

export interface MoveSource {
  readonly name: string;
  readonly incarnation: Incarnation;
  readonly arn: string;
}

export interface Leased {
  readonly message: StoredMessage;
  readonly handle: ReceiptHandle;
  readonly receiveCount: number;
  readonly firstReceivedAtMillis: number;
}

export type SendResult =
  | { readonly kind: 'sent'; readonly sequence: number }
  /** Its deduplication id was taken already: by this message. */
  | { readonly kind: 'duplicate'; readonly messageId: string; readonly sequence: number }
  | { readonly kind: 'too-large'; readonly maximumBytes: number }
  /** Neither an explicit one nor, by the queue's attributes, the content's. */
  | { readonly kind: 'no-deduplication-id' };

/** `expired`: only FIFO queues refuse a handle for that. */
export type VisibilityResult = 'done' | 'not-available' | 'beyond-limit' | 'expired';

export type CommandOutcome =
  /** `expired`: indexes of handles that a FIFO queue refused because their visibility timeout is over. */
  | { readonly kind: 'done'; readonly expired?: readonly number[] }
  | { readonly kind: 'queue-missing' }
  | { readonly kind: 'purged-recently' }
  | { readonly kind: 'too-many-tags' }
  /** Another statement of the policy has that label. */
  | { readonly kind: 'label-taken' }
  | { readonly kind: 'no-such-label'; readonly hasPolicy: boolean }
  | { readonly kind: 'too-many-statements' /** With the new one. */; readonly count: number }
  | { readonly kind: 'policy-too-long'; readonly charactersMax: number }
  | { readonly kind: 'visibility'; readonly entries: readonly VisibilityResult[] }
  | { readonly kind: 'sent'; readonly entries: readonly SendResult[] }
  | {
      readonly kind: 'received';
      readonly messages: readonly Leased[];
      /** Visible messages were passed over because their bodies could not be read. */
      readonly unreadable: boolean;
    }
  /**
   * A page that can't be read would decide it. Of handles the others took effect; of a send, or a change of the delay,
   * to a FIFO queue nothing did.
   */
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'over-limit' }
  /** Another one is under way. */
  | { readonly kind: 'task-running' }
  | { readonly kind: 'task-cancelled'; readonly moved: number }
  | { readonly kind: 'no-such-task' }
  | {
      readonly kind: 'task-stepped';
      readonly given: number;
      /** Only what can't be read is left, and nothing is under way. */
      readonly unreadable: boolean;
    }
  /** The state has moved on from what the command was made for. */
  | { readonly kind: 'superseded' }
  /** `through`: every number up to it is in the target now. */
  | { readonly kind: 'appended'; readonly through: number };

export interface CommandResult {
  readonly outcome: CommandOutcome;
  readonly effect: boolean;
}
