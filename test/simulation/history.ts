/**
 * What happened, in order, as the checkers see it: calls reaching a node, answers leaving one (also those that no
 * client hears: the engine's word counts), and writes landing in the bucket with their bytes decoded.
 */
import type { ManifestContent, QueueState } from '../../src/core/queue-state.ts';
import type {
  CancelMoveTaskOutcome,
  ChangeVisibilityOutcome,
  CreateQueueOutcome,
  DeleteOutcome,
  MoveTaskRequest,
  PurgeOutcome,
  QueueMissing,
  QueueSnapshot,
  ReceiveOutcome,
  ReceiveRequest,
  SendEntry,
  SendOutcome,
  SetQueueAttributesOutcome,
  StartMoveTaskOutcome,
  VisibilityEntry,
} from '../../src/engine/queue-api.ts';

export type CallRequest =
  | { readonly kind: 'create'; readonly queue: string; readonly attributes: Readonly<Record<string, string>> }
  | {
      readonly kind: 'attributes';
      readonly queue: string;
      readonly attributes: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'delete-queue'; readonly queue: string }
  | { readonly kind: 'purge'; readonly queue: string }
  | { readonly kind: 'send'; readonly queue: string; readonly entries: readonly SendEntry[] }
  | { readonly kind: 'receive'; readonly queue: string; readonly request: Omit<ReceiveRequest, 'signal'> }
  | { readonly kind: 'delete'; readonly queue: string; readonly handles: readonly string[] }
  | { readonly kind: 'visibility'; readonly queue: string; readonly entries: readonly VisibilityEntry[] }
  | { readonly kind: 'look'; readonly queue: string }
  | { readonly kind: 'start-task'; readonly queue: string; readonly request: MoveTaskRequest }
  /** The one under way. */
  | { readonly kind: 'cancel-task'; readonly queue: string };

export type CallAnswer =
  | { readonly kind: 'unavailable'; readonly reason: string }
  /** Anything else a method rejected with: always a mistake of ours. */
  | { readonly kind: 'crashed'; readonly error: unknown }
  | CreateQueueOutcome
  | SetQueueAttributesOutcome
  | DeleteOutcome
  | PurgeOutcome
  | SendOutcome
  | ReceiveOutcome
  | ChangeVisibilityOutcome
  | QueueSnapshot
  | StartMoveTaskOutcome
  | CancelMoveTaskOutcome
  | QueueMissing;

export interface Call {
  readonly id: number;
  readonly client: number;
  readonly node: number;
  readonly request: CallRequest;
  /** When it reached the node. */
  readonly arrivedAt: number;
}

/** A manifest or tombstone that took effect. */
export interface Landing {
  readonly at: number;
  /** Milliseconds since the epoch by the store's true clock. */
  readonly storeMillis: number;
  /** When its process sent it: what it was made of was looked at before. */
  readonly sentAt: number;
  readonly node: number;
  readonly queue: string;
  /** With everything that pages hold. */
  readonly before: ManifestContent | undefined;
  readonly after: ManifestContent | undefined;
  /** As they are stored. */
  readonly storedBefore: QueueState | undefined;
  readonly storedAfter: QueueState | undefined;
  readonly bytes: number;
}

/** A segment that was written or deleted. */
export interface ObjectChange {
  readonly at: number;
  readonly node: number;
  readonly key: string;
  readonly present: boolean;
}

/** A property over the history. Each returns what is wrong, once, or undefined. */
export interface Checker {
  readonly name: string;
  arrived?(call: Call): string | undefined;
  answered?(call: Call, answer: CallAnswer, at: number): string | undefined;
  /** The node learned that this answer came to nobody, and gives back what it leased. */
  undelivered?(answer: CallAnswer): string | undefined;
  landed?(landing: Landing): string | undefined;
  object?(change: ObjectChange): string | undefined;
  /** A process died, and whatever was asked of it gets no answer. */
  killed?(node: number): void;
  /** The bucket at the very end, after the last sweep. */
  finished?(end: FinalBucket): string | undefined;
}

export interface FinalBucket {
  readonly keys: readonly string[];
}

export type Reply =
  | { readonly kind: 'answer'; readonly answer: CallAnswer }
  /** No answer: it may have taken effect, or may still. */
  | { readonly kind: 'lost' };

export function isLongPoll(request: CallRequest): boolean {
  return request.kind === 'receive' && (request.request.waitSeconds ?? 0) > 0;
}
