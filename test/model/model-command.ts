/** Commands and outcomes in the words of the model: leases by number, queues by name, one handle a command. */

export interface ModelMoved {
  readonly number: number;
  readonly id: string;
  readonly body: string;
  readonly bytes: number;
  readonly sentAt: number;
  readonly count: number;
  readonly firstAt: number;
}

export type ModelCommand =
  | { readonly kind: 'set-attributes'; readonly changes: object }
  | { readonly kind: 'purge' }
  | { readonly kind: 'tidy'; readonly collectBelow: number }
  | { readonly kind: 'delete'; readonly leases: readonly number[] }
  | { readonly kind: 'change-visibility'; readonly lease: number; readonly seconds: number }
  | { readonly kind: 'release'; readonly lease: number }
  | {
      readonly kind: 'send';
      readonly entries: readonly {
        readonly id: string;
        readonly body: string;
        readonly group: string | undefined;
        readonly overheadBytes: number;
        readonly delaySeconds: number | undefined;
      }[];
    }
  | {
      readonly kind: 'append-moved';
      readonly source: string;
      readonly sourceArn: string;
      readonly messages: readonly ModelMoved[];
    }
  | { readonly kind: 'resolve-moves'; readonly target: string; readonly through: number }
  | { readonly kind: 'return-moves'; readonly target: string }
  | {
      readonly kind: 'forget-links';
      readonly sources: readonly string[];
      readonly targets: readonly string[];
    }
  | { readonly kind: 'receive'; readonly max: number; readonly seconds: number | undefined }
  | {
      readonly kind: 'replace-segments';
      readonly from: readonly string[];
      readonly into: string;
      readonly baseVersion: number;
    };

export type ModelOutcome = { readonly effect: boolean } & (
  | { readonly kind: 'done' }
  | { readonly kind: 'superseded' }
  | { readonly kind: 'visibility'; readonly result: 'done' | 'not-available' | 'beyond-limit' }
  | { readonly kind: 'sent'; readonly results: readonly string[] }
  | { readonly kind: 'appended'; readonly through: number }
  | {
      readonly kind: 'received';
      readonly unreadable: boolean;
      readonly messages: {
        readonly sequence: number;
        readonly id: string;
        readonly body: string;
        readonly sentAt: number;
        readonly deadLetterSource: string | undefined;
        readonly count: number;
        readonly firstAt: number;
        readonly lease: number;
      }[];
    }
);

/** What surrounds one transition. */
export interface ModelWorld {
  readonly now: number;
  readonly stamp: number;
  readonly manifestTime: number;
  readonly version: number;
  readonly collectBelow: number;
  readonly target: (queueName: string) => string | 'missing';
  readonly sourceIntents: (source: string) => ReadonlySet<number> | 'gone';
  readonly unreadable: (segment: string) => boolean;
}
