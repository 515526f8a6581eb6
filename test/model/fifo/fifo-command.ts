/** Commands and outcomes in the words of the reference model of FIFO queues. */
import type { Lease } from './fifo-model.ts';

export interface ModelEntry {
  readonly id: string;
  readonly group: string;
  readonly body: string;
  readonly explicitId: string | undefined;
}

export type ModelCommand =
  | {
      readonly kind: 'set';
      readonly changes: Readonly<{
        delaySeconds?: number;
        byContent?: boolean;
        scope?: 'queue' | 'messageGroup';
        maxReceiveCount?: number | undefined;
      }>;
    }
  | { readonly kind: 'purge' }
  | { readonly kind: 'delete'; readonly leases: readonly Lease[] }
  | { readonly kind: 'change-visibility'; readonly lease: Lease; readonly seconds: number }
  | { readonly kind: 'release'; readonly lease: Lease }
  | { readonly kind: 'send'; readonly entries: readonly ModelEntry[] }
  | {
      readonly kind: 'append';
      readonly messages: readonly {
        readonly number: number;
        readonly id: string;
        readonly group: string;
        readonly count: number;
      }[];
    }
  | { readonly kind: 'resolve'; readonly through: number }
  | { readonly kind: 'return' }
  /** Whether it comes too late is of no interest: nothing may be seen of it. */
  | { readonly kind: 'compact' }
  | {
      readonly kind: 'receive';
      readonly max: number;
      readonly seconds: number | undefined;
      readonly attempt: string | undefined;
    };

export interface ModelWorld {
  readonly now: number;
  readonly stamp: number;
  readonly manifestTime: number;
  readonly targetIsThere: boolean;
  readonly inFlightMax: number;
  readonly intentsMax: number;
}

export type SentResult =
  | { readonly kind: 'sent'; readonly sequence: number }
  | { readonly kind: 'duplicate'; readonly messageId: string; readonly sequence: number }
  | { readonly kind: 'no-deduplication-id' };

export type ModelOutcome =
  | { readonly kind: 'compacted' }
  | { readonly kind: 'done'; readonly expired?: readonly number[]; readonly effect: boolean }
  | { readonly kind: 'visibility'; readonly entries: readonly string[]; readonly effect: boolean }
  | { readonly kind: 'sent'; readonly entries: readonly SentResult[]; readonly effect: boolean }
  | { readonly kind: 'appended'; readonly through: number; readonly effect: boolean }
  | {
      readonly kind: 'received';
      readonly messages: {
        readonly sequence: number;
        readonly id: string;
        readonly group: string;
        readonly count: number;
        readonly lease: number;
      }[];
      readonly effect: boolean;
    };
