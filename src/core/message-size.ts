/** The size of a message as SQS counts it (SQS.md section 3): UTF-8 body plus name, data type and value of each attribute. */
import type { MessageContent } from './message.ts';

export function contentBytesOf(content: MessageContent): number {
  let bytes = utf8Bytes(content.body);
  for (const [name, value] of content.attributes) {
    bytes += utf8Bytes(name) + utf8Bytes(value.dataType);
    bytes += value.kind === 'binary' ? value.bytes.length : utf8Bytes(value.text);
  }
  return bytes;
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
