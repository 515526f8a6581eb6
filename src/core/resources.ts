/**
 * What a transition may look at besides state, commands and time: bodies and facts that the commit loop has loaded.
 * A transition that misses something says so in `Needs` and is applied again with it.
 */
import type { MovedMessage, NewMessage } from './command.ts';
import type { GroupHash, Incarnation } from './ids.ts';
import type { StoredMessage } from './message.ts';
import type { PageContents, PageKind } from './pages.ts';
import type { PageId, SegmentId } from './queue-state.ts';

/** An uploaded segment that no manifest names yet. */
export interface PreparedSegment {
  readonly id: SegmentId;
  readonly baseVersion: number;
  readonly nonce: string;
  readonly bytes: number;
  /** By ordinal. */
  readonly messages: readonly SpillMessage[];
}

/** One message of a spill: one that was in the tail (`origin` undefined), or one of this batch. */
export interface SpillMessage {
  readonly sequence: number;
  readonly origin: NewMessage | MovedMessage | undefined;
  readonly message: StoredMessage;
  readonly bytes: number;
}

/** A page to be written. */
export type NewPage = {
  readonly [K in PageKind]: { readonly kind: K; readonly content: PageContents[K] };
}[PageKind];

/** An uploaded page that no manifest names yet. */
export type PreparedPage = NewPage & {
  readonly id: PageId;
  readonly baseVersion: number;
  readonly nonce: string;
};

/** A queue that dead letters go to, as last read. */
export type MoveTarget =
  | { readonly kind: 'present'; readonly incarnation: Incarnation }
  | { readonly kind: 'missing' }
  /** Its manifest is damaged, or of a newer format. */
  | { readonly kind: 'unreadable' };

/** The source of a move, read after the state that the append is applied to (DESIGN.md section 6 †). */
export type MoveSourceView =
  | { readonly kind: 'gone' }
  /** Numbers of the intents for this very queue that are still there. */
  | { readonly kind: 'present'; readonly pending: ReadonlySet<number> };

export interface Resources {
  /** A body in a segment: `needed` when not loaded yet, `unreadable` when loading failed. */
  readonly body: (segment: SegmentId, ordinal: number) => StoredMessage | 'needed' | 'unreadable';
  /** The groups of a segment's messages, by ordinal; of FIFO queues, whose walk passes over bodies unread. */
  readonly groups: (segment: SegmentId) => readonly GroupHash[] | 'needed' | 'unreadable';
  /** A page that the state names: `needed` when not loaded yet, `unreadable` when loading failed. */
  readonly page: <K extends PageKind>(kind: K, id: PageId) => PageContents[K] | 'needed' | 'unreadable';
  readonly target: (queueName: string) => MoveTarget | undefined;
  readonly source: (incarnation: Incarnation) => MoveSourceView | undefined;
  readonly prepared: readonly PreparedSegment[];
  readonly preparedPages: readonly PreparedPage[];
}

export interface Needs {
  readonly segments: ReadonlySet<SegmentId>;
  /** Segments of which the groups are asked for. */
  readonly groups: ReadonlySet<SegmentId>;
  readonly pages: ReadonlyMap<PageId, PageKind>;
  readonly targets: ReadonlySet<string>;
  /** Incarnation → queue name. */
  readonly sources: ReadonlyMap<Incarnation, string>;
  /** Each inner list becomes one segment. */
  readonly spills: readonly (readonly SpillMessage[])[];
  readonly newPages: readonly NewPage[];
}
