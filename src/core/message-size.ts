/** The size of a message as SQS counts it (SQS.md section 3): UTF-8 body plus name, data type and value of each attribute. */
import { MESSAGE_OVERHEAD_BYTES } from './limits.ts';
import type { MessageContent, StoredMessage } from './message.ts';
import { utf8Length } from './utf8-length.ts';

export function contentBytesOf(content: MessageContent): number {
  let bytes = utf8Length(content.body);
  for (const [name, value] of content.attributes) {
    bytes += utf8Length(name) + utf8Length(value.dataType);
    bytes += value.kind === 'binary' ? value.bytes.length : utf8Length(value.text);
  }
  return bytes;
}

/**
 * What a message adds to the manifest that holds it inline, about. The manifest's decoder counts the same
 * (format/message-codec.ts), so that every node spills at the same point.
 */
export function inlineBytesOf(message: Weighed, contentBytes: number): number {
  return contentBytes + message.senderId.length + MESSAGE_OVERHEAD_BYTES + orderingBytesOf(message);
}

type Weighed = Pick<StoredMessage, 'senderId' | 'deduplicationId' | 'groupId'>;

/** Of a FIFO queue: there both ids may be longer than the body. They have no characters but of one byte. */
export function orderingBytesOf({
  deduplicationId,
  groupId,
}: Pick<Weighed, 'deduplicationId' | 'groupId'>): number {
  return deduplicationId === undefined ? 0 : deduplicationId.length + (groupId?.length ?? 0);
}
