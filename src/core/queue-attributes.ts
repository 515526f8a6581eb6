/**
 * Queue attributes: the names SQS knows, their ranges and defaults, and the typed values the state machine reads.
 *
 * Accepted attributes are kept as canonical strings (booleans lower case, numbers without leading zeros) and shown
 * as such; `resolveAttributes` gives the numbers. Ranges: SQS API reference and SQS.md section 2.
 */

export type AttributeProblem =
  /** A name SQS does not know, or one that only FIFO queues have. */
  | { readonly kind: 'unknown-name'; readonly name: string; readonly message: string }
  /** The value is out of range, of the wrong type, or names something that does not exist. */
  | { readonly kind: 'bad-value'; readonly name: string; readonly message: string };

export interface RedrivePolicy {
  readonly deadLetterTargetArn: string;
  readonly maxReceiveCount: number;
}

/** What the state machine reads; derived, never stored. */
export interface ResolvedAttributes {
  readonly visibilityTimeoutSeconds: number;
  readonly delaySeconds: number;
  readonly receiveWaitSeconds: number;
  readonly maximumMessageBytes: number;
  readonly retentionSeconds: number;
  readonly redrivePolicy: RedrivePolicy | undefined;
}

/** Canonical value by name; holds only what was set. */
export type QueueAttributes = ReadonlyMap<string, string>;
