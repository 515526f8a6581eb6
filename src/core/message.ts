/**
 * What a producer hands over and a consumer gets back, in the words of SQS, free of any wire format. Content rules
 * (sizes, characters, attribute names) are checked by the surface before a message gets here, except the queue's own
 * MaximumMessageSize, which only the current manifest knows (core/send.ts).
 */

export type MessageAttributeValue =
  | { readonly kind: 'text'; readonly dataType: string; readonly text: string }
  | { readonly kind: 'binary'; readonly dataType: string; readonly bytes: Uint8Array };

/** Name → value. `dataType` is the full label as sent (`Number.int`). */
export type MessageAttributes = ReadonlyMap<string, MessageAttributeValue>;

/** A message as its producer sent it. */
export interface MessageContent {
  readonly body: string;
  readonly attributes: MessageAttributes;
  /** AWSTraceHeader, the only system attribute a producer may set. */
  readonly traceHeader: string | undefined;
  /** MessageGroupId: what a FIFO queue keeps in order; stored and returned on standard queues (fair queues come later). */
  readonly groupId: string | undefined;
}

/** A message as it is stored. Immutable once its send was acknowledged, also when it moves to another queue. */
export interface StoredMessage extends MessageContent {
  /** UUID in canonical text form. */
  readonly messageId: string;
  /** The sending principal, as `SenderId` reports it. */
  readonly senderId: string;
  /** Upper bound of the store's time at the send, milliseconds since the epoch; retention counts from here. */
  readonly sentAtMillis: number;
  /** ARN of the queue it was dead-lettered from. */
  readonly deadLetterSourceArn: string | undefined;
  /** What it was deduplicated by: as sent, or the SHA-256 of the body in hex. Absent on standard queues. */
  readonly deduplicationId?: string;
  /** When it came from another FIFO queue: retention counts from here. */
  readonly movedAtMillis?: number;
}
