/** The size of a message as SQS counts it (SQS.md section 3): UTF-8 body plus name, data type and value of each attribute. */
import { MESSAGE_OVERHEAD_BYTES } from './limits.ts';
import type { MessageContent } from './message.ts';

export function contentBytesOf(content: MessageContent): number {
  let bytes = utf8Bytes(content.body);
  for (const [name, value] of content.attributes) {
    bytes += utf8Bytes(name) + utf8Bytes(value.dataType);
    bytes += value.kind === 'binary' ? value.bytes.length : utf8Bytes(value.text);
  }
  return bytes;
}

/**
 * What a message adds to the manifest that holds it inline, about. The manifest's decoder counts the same
 * (format/message-codec.ts), so that every node spills at the same point.
 */
export function inlineBytesOf(message: { readonly senderId: string }, contentBytes: number): number {
  return contentBytes + message.senderId.length + MESSAGE_OVERHEAD_BYTES;
}

/** Bytes of a well-formed string in UTF-8, without encoding it. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // A surrogate pair is two units and four bytes.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}
